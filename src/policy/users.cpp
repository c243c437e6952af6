// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>

#include <cerrno>

#include <array>

#include "policy/compiled.h"

namespace hotset {

Users system_users() {
  return [](const std::string& name) -> Result<std::optional<std::uint32_t>> {
    std::array<char, 16384> buffer{}; // what sysconf(_SC_GETPW_R_SIZE_MAX) suggests is 1 KiB
    passwd entry{};
    passwd* found = nullptr;
    const int number = getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    // getpwnam_r(3): some systems say "not found" by one of these numbers.
    if (found == nullptr && (number == 0 || number == ENOENT || number == ESRCH)) return std::nullopt;
    if (found == nullptr) return fail(errno_error(number, "look up the user", "'" + name + "'"));
    return found->pw_uid;
  };
}

} // namespace hotset
