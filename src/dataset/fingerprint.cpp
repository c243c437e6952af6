// SPDX-License-Identifier: Apache-2.0
#include "dataset/fingerprint.h"

#include <fmt/format.h>

namespace hotset {

Fingerprint& Fingerprint::add(std::string_view part) {
  constexpr std::uint64_t kPrime = 0x100000001B3;
  constexpr std::uint64_t kEndOfPart = 0xFF; // no UTF-8 text holds this byte
  for (char c : part)
    hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
  hash_ = (hash_ ^ kEndOfPart) * kPrime;
  return *this;
}

std::string Fingerprint::text() const {
  return fmt::format("fnv1a64:{:016x}", hash_);
}

} // namespace hotset
