// SPDX-License-Identifier: Apache-2.0
// /proc/self/mounts: whoever may mount chooses the paths in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/mounts.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  const std::string text(data, data + size);
  std::size_t bytes = 0;
  for (const Mount& mount : parse_mounts(text)) {
    // Undoing escapes never makes a field longer.
    bytes += mount.source.size() + mount.point.size() + mount.type.size();
    REQUIRE(mount.type.find_first_of(" \n") == std::string::npos);
    REQUIRE(find_mount(std::vector{mount}, mount.type) != nullptr);
    for (const std::string& option : mount.options)
      REQUIRE(mount.has_option(option));
  }
  REQUIRE(bytes <= text.size());
  return 0;
}
