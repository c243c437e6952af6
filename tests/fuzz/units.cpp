// SPDX-License-Identifier: Apache-2.0
// What people type as a quantity, and bytes of unknown origin that are to be shown.
//
// Whatever the bytes: a quantity that is accepted keeps its promised range, and printable() gives valid UTF-8 without
// control characters.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  const std::string text(data, data + size);
  const std::string_view view = text;

  if (auto number = parse_finite(view); number && !std::isfinite(*number)) std::abort();
  if (auto time = parse_duration(view); time && *time <= Nanoseconds::zero()) std::abort();
  if (auto bytes = parse_bytes(view)) {
    if (*bytes > std::uint64_t{1} << 62) std::abort();
    if (human_bytes(*bytes).empty()) std::abort();
  }
  if (auto count = parse_u64(view); count && parse_count(view) != count) std::abort();

  const std::string shown = printable(view);
  for (char c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  (void)nlohmann::json(shown).dump(); // throws on bytes that are not UTF-8
  return 0;
}
