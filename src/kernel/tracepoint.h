// SPDX-License-Identifier: Apache-2.0
// The number of a classic tracepoint, by which perf_event_open takes it. It stands in tracefs, which need not be
// mounted.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace hotset {

// `name`: "exceptions:page_fault_user". Looks where tracefs is usually mounted; else in a mount of our own that is
// attached nowhere and gone on return (fsopen, Linux 5.2). Errors: permission, unsupported (no tracefs, or no such
// tracepoint).
Result<std::uint64_t> tracepoint_id(const Files& files, std::string_view name);

} // namespace hotset
