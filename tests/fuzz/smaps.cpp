// SPDX-License-Identifier: Apache-2.0
// /proc/PID/smaps and smaps_rollup: the names of mappings in them are paths, which any program may choose.
#include <cstddef>
#include <cstdint>
#include <string>

#include "access/reference.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  const std::string text(data, data + size);
  Result<MemoryTotals> totals = parse_smaps(text);
  if (!totals) {
    REQUIRE(totals.error().code == ErrorCode::bad_data);
    return 0;
  }
  REQUIRE(text.ends_with('\n')); // else it is cut off
  // The same process seen twice over has twice the memory, up to what a number holds.
  Result<MemoryTotals> twice = parse_smaps(text + text);
  if (twice) {
    REQUIRE(twice->rss >= totals->rss && twice->referenced >= totals->referenced);
    REQUIRE(twice->rss == 2 * totals->rss && twice->swap == 2 * totals->swap);
  }
  return 0;
}
