// SPDX-License-Identifier: Apache-2.0
// A path pattern (docs/policy.md), parsed into pieces that a path has to consist of, in order.
//
//   /etc/shadow      exact
//   /etc/ssl/        a directory: itself and everything below it
//   /home/*/.ssh/    both may be globs: * ? [a-z] stay within a name, ** goes across them, and a ** that stands for
//                    whole names also stands for none: /srv/**/key is /srv/key, too
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hotset {

inline constexpr std::size_t kPatternBytes = 4095; // the longest path that the kernel takes has as many

using ByteSet = std::bitset<256>;

struct PatternPiece {
  enum class Kind : std::uint8_t {
    one,  // one byte of the set
    loop, // any number of bytes of the set, none included
    skip, // the `length` pieces behind this one may be left out, all together
  };
  Kind kind = Kind::one;
  ByteSet bytes;
  std::uint32_t length = 0;
};

class PathPattern {
 public:
  // One that no path matches.
  PathPattern() = default;
  // The error's cause says what is wrong with the text; its code is bad_data.
  static Result<PathPattern> parse(std::string_view text);

  // Whether an absolute, normalised path matches. It reads the path forwards, a byte at a time, and so has nothing in
  // common with the automaton (automaton.h) but the pieces.
  [[nodiscard]] bool matches(std::string_view path) const;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<PatternPiece>& pieces() const { return pieces_; }
  // What each path that matches begins with.
  [[nodiscard]] std::string literal_head() const;

 private:
  std::string text_;
  std::vector<PatternPiece> pieces_;
};

// Whether a text is an absolute path without empty, "." and ".." components, without a slash at its end ("/" excepted)
// and without a NUL: what the kernel calls the path of a file.
bool is_normal_path(std::string_view path);

} // namespace hotset
