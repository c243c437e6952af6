// SPDX-License-Identifier: Apache-2.0
// /proc/PID/stat, whose second field holds whatever a program calls itself.
#include <cstddef>
#include <cstdint>
#include <string>

#include "identity/process.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  const std::string text(data, data + size);
  Result<ProcessStat> stat = parse_process_stat(text);
  if (!stat) {
    REQUIRE(stat.error().code == ErrorCode::bad_data);
    return 0;
  }
  REQUIRE(stat->pid > 0);
  // The name is what stands between the first "(" and the last ")", whatever is in it.
  REQUIRE(text.find('(' + stat->comm + ") ") != std::string::npos);
  REQUIRE(text.rfind(')') == text.find('(') + 1 + stat->comm.size());
  return 0;
}
