// SPDX-License-Identifier: Apache-2.0
// When a test may skip: for what the refusal itself says that this machine has not. A program that the verifier
// rejects, or a refusal for no such reason, is a failure, and not a kernel that is too old.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "base/result.h"

namespace hotset {

// `sentence`: an error, or all that a run said on standard error.
inline bool names_what_is_missing(std::string_view sentence) {
  constexpr std::array<std::string_view, 11> kMissing{
      "this kernel has no ",
      "this kernel carries no ",
      "this kernel lacks ",
      "this kernel denies ",
      "this kernel knows no ",
      "this kernel does not know ",
      "this kernel cannot ",
      "this kernel keeps the mappings of a process in another way",
      "kernel lockdown is in mode confidentiality",
      "hierarchy with the memory controller is mounted",
      "this build has no LightGBM",
  };
  if (sentence.contains("the kernel's verifier rejects")) return false;
  return std::ranges::any_of(kMissing, [&](std::string_view missing) { return sentence.contains(missing); });
}

// Rights may be missing for other reasons than these, as in a container; the error says that they are.
inline bool is_missing(const Error& error) {
  if (error.code == ErrorCode::permission) return true;
  return error.code == ErrorCode::unsupported && names_what_is_missing(to_sentence(error));
}

} // namespace hotset
