// SPDX-License-Identifier: Apache-2.0
// From errno and libbpf's words to an error with the real cause and a remedy.
//
// The kernel says "operation not permitted" for a missing capability, for lockdown, and for a kind of program that it
// does not allow at all; libbpf then suggests to raise `ulimit -l`, which is rarely it. The verifier says a hundred
// lines of which one counts. All of that is settled in this one place.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/privileges.h"

namespace hotset {

// The cause when kernel lockdown says no, for those who sort errors by it.
inline constexpr std::string_view kLockdownCause =
    "kernel lockdown is in mode confidentiality, which forbids to read kernel memory";

// And where the type information of a kernel that has it cannot be seen.
inline constexpr std::string_view kNoSysfsCause =
    "/sys is not mounted, and the kernel's type information (BTF) is there";
inline constexpr std::string_view kSysfsRemedy = "mount -t sysfs sysfs /sys";

// `error_number`: errno, either sign. `log`: LibbpfLog::text(). ErrorCode::permission only where more privileges would
// help, unsupported where this kernel cannot do it, else internal.
Error bpf_error(int error_number, std::string operation, std::string object, std::string_view log,
                const Privileges& privileges);

// The line of a verifier log that says why, empty when there is no verifier log in the text.
std::string verifier_reason(std::string_view log);

} // namespace hotset
