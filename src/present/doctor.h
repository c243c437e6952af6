// SPDX-License-Identifier: Apache-2.0
// Doctor's report, for people and for programs (schema hotset.doctor/1, docs/schemas.md).
#pragma once

#include <cstddef>
#include <string>

#include "kernel/finding.h"
#include "present/style.h"

namespace hotset {

// Grouped and aligned, at most `columns` wide where words allow it, with a verdict as its last line.
std::string doctor_text(const DoctorReport& report, const Style& style, std::size_t columns);
// One JSON object without a line feed.
std::string doctor_json(const DoctorReport& report);

} // namespace hotset
