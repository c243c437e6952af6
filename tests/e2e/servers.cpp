// SPDX-License-Identifier: Apache-2.0
#include "e2e/servers.h"

#include <cstdio>

namespace hotset {

Shell shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  std::string out;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    out.append(buffer, got);
  return {::pclose(pipe), out};
}

} // namespace hotset
