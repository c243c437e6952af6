// SPDX-License-Identifier: Apache-2.0
// A look into a kernel file system that is not mounted, without mounting it for all to see: in guests and containers
// tracefs and securityfs often are not.
#pragma once

#include "base/fd.h"
#include "base/result.h"

namespace hotset {

// The root folder of a mount of `type` ("tracefs") that is attached nowhere and gone with its descriptors (fsopen,
// Linux 5.2; needs CAP_SYS_ADMIN). unsupported: this kernel has no such file system.
Result<Fd> private_mount(const char* type);

} // namespace hotset
