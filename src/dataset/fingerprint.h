// SPDX-License-Identifier: Apache-2.0
// Fingerprints that tell things apart by accident-proof means: FNV-1a, 64 bits. They find corruption and confusion;
// they do not withstand an adversary, and nothing here has to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hotset {

class Fingerprint {
 public:
  // Adds a part; where one part ends and the next begins counts.
  Fingerprint& add(std::string_view part);
  // "fnv1a64:0123456789abcdef"
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

} // namespace hotset
