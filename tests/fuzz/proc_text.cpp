// SPDX-License-Identifier: Apache-2.0
// Text of /proc/PID/smaps and /proc/PID/stat, whatever bytes it holds: it is read or refused, and never more.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "access/reference.h"
#include "identity/process.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  const std::string text(data, data + size);
  if (auto totals = parse_smaps(text); totals && !text.ends_with('\n')) std::abort(); // cut off
  if (auto stat = parse_process_stat(text); stat && stat->comm.size() >= text.size()) std::abort();
  return 0;
}
