// SPDX-License-Identifier: Apache-2.0
#include "policy/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/units.h"

namespace hotset {
namespace {

using Kind = PatternPiece::Kind;

ByteSet every_byte() {
  return ByteSet().set();
}

ByteSet name_bytes() {
  return every_byte().reset('/');
}

PatternPiece one(char byte) {
  return {Kind::one, ByteSet().set(static_cast<std::uint8_t>(byte)), 0};
}

struct Flaw {
  std::string cause;
  std::string remedy;
};

// Reads the text from left to right. Each step takes something off its front, or leaves a flaw.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<Flaw> read() {
    while (!rest_.empty() && !flaw_)
      step();
    return flaw_;
  }
  std::vector<PatternPiece> take_pieces() { return std::move(pieces_); }

 private:
  void step() {
    const char first = rest_.front();
    const bool begins_name = std::exchange(after_slash_, first == '/');
    rest_.remove_prefix(1);
    if (first == '*') return star(begins_name);
    if (first == '?') return pieces_.push_back({Kind::one, name_bytes(), 0});
    if (first == '[') return bracket();
    if (first == '\\') return escape();
    if (first == '/' && rest_.empty()) return below();
    pieces_.push_back(one(first));
  }

  void star(bool begins_name) {
    if (!rest_.starts_with('*')) return pieces_.push_back({Kind::loop, name_bytes(), 0});
    rest_.remove_prefix(1);
    if (rest_.starts_with('*')) return blame("more than two '*' in a row mean nothing", "write '*' or '**'");
    // The last slash of a pattern is no part of it: it means "and below".
    const bool whole_names = begins_name && rest_.starts_with('/') && rest_.size() > 1;
    if (whole_names) pieces_.push_back({Kind::skip, {}, 2});
    pieces_.push_back({Kind::loop, every_byte(), 0});
    if (!whole_names) return;
    rest_.remove_prefix(1);
    pieces_.push_back(one('/'));
    after_slash_ = true;
  }

  void escape() {
    if (rest_.empty()) return blame("a '\\' at its end escapes nothing", "write '\\\\' for a '\\'");
    if (rest_.front() == '/') return blame("a '/' can't be escaped", "no name contains one");
    pieces_.push_back(one(rest_.front()));
    rest_.remove_prefix(1);
  }

  // "[a-z]", "[!a-z]", "[^a-z]"; a ']' that comes first is one of the set.
  void bracket() {
    const bool negated = rest_.starts_with('!') || rest_.starts_with('^');
    if (negated) rest_.remove_prefix(1);
    ByteSet set;
    for (bool first = true; first || !rest_.starts_with(']'); first = false) {
      const std::optional<std::uint8_t> low = member();
      if (!low) return;
      std::uint8_t high = *low;
      if (rest_.starts_with('-') && rest_.size() > 1 && rest_[1] != ']') {
        rest_.remove_prefix(1);
        const std::optional<std::uint8_t> end = member();
        if (!end) return;
        high = *end;
      }
      if (high < *low) return blame("a range in '[…]' goes backwards", "write its smaller end first");
      for (unsigned byte = *low; byte <= high; ++byte)
        set.set(byte);
    }
    rest_.remove_prefix(1);
    if (negated) set.flip();
    pieces_.push_back({Kind::one, set & name_bytes(), 0});
  }

  std::optional<std::uint8_t> member() {
    if (rest_.starts_with('\\')) rest_.remove_prefix(1);
    if (rest_.empty()) {
      blame("a '[' has no ']'", "write '\\[' for a '['");
      return std::nullopt;
    }
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (byte == '/') blame("a '/' is in '[…]'", "no name contains one");
    if (byte >= 0x80) blame("a character in '[…]' has more than one byte", "write '?' once for each of its bytes");
    return flaw_ ? std::nullopt : std::optional(byte);
  }

  // The slash at the end: nothing more, or a slash and anything.
  void below() {
    pieces_.push_back({Kind::skip, {}, 2});
    pieces_.push_back(one('/'));
    pieces_.push_back({Kind::loop, every_byte(), 0});
  }

  void blame(std::string cause, std::string remedy) { flaw_ = Flaw{std::move(cause), std::move(remedy)}; }

  std::string_view rest_;
  std::vector<PatternPiece> pieces_;
  std::optional<Flaw> flaw_;
  bool after_slash_ = false;
};

std::optional<Flaw> flaw_of_path(std::string_view text) {
  if (text.size() > kPatternBytes)
    return Flaw{fmt::format("it has {} bytes, and a path has at most {}", text.size(), kPatternBytes),
                "make it shorter"};
  if (!text.starts_with('/')) return Flaw{"it does not begin with '/'", "write '/**/' in front if it may be anywhere"};
  if (text.find('\0') != std::string_view::npos) return Flaw{"it has a NUL byte in it", "no path has one"};
  std::size_t begin = 1;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    if (name.empty()) return Flaw{"it has two '/' in a row", "write one"};
    if (name == "." || name == "..")
      return Flaw{fmt::format("it has a '{}' in it", name), "write the path that the kernel sees, without"};
    begin = end + 1;
  }
  return std::nullopt;
}

bool is_every_byte(const PatternPiece& piece) {
  return piece.kind == Kind::loop && piece.bytes.all();
}

// Paths begin with a slash, so a slash and then anything is anything. Saying so lets an automaton that reads backwards
// stop when all that is left is "anything".
void drop_needless_slash(std::vector<PatternPiece>& pieces) {
  if (pieces.size() >= 2 && is_every_byte(pieces[1]))
    pieces.erase(pieces.begin());
  else if (pieces.size() >= 4 && pieces[1].kind == Kind::skip && is_every_byte(pieces[2]))
    pieces.erase(pieces.begin(), pieces.begin() + 2);
}

} // namespace

Result<PathPattern> PathPattern::parse(std::string_view text) {
  PathPattern pattern;
  pattern.text_ = text;
  std::optional<Flaw> flaw = flaw_of_path(text);
  Reader reader(text);
  if (!flaw) flaw = reader.read();
  if (flaw)
    return fail(ErrorCode::bad_data, "use the pattern", "'" + printable(text) + "'", std::move(flaw->cause),
                std::move(flaw->remedy));
  pattern.pieces_ = text == "/" ? std::vector<PatternPiece>{{Kind::loop, every_byte(), 0}} : reader.take_pieces();
  drop_needless_slash(pattern.pieces_);
  return pattern;
}

bool PathPattern::matches(std::string_view path) const {
  // reached[i]: the pieces before i make up what was read so far.
  std::vector<bool> reached(pieces_.size() + 1);
  auto pass_empty_pieces = [&] {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!reached[i] || pieces_[i].kind == Kind::one) continue;
      reached[i + 1] = true;
      if (pieces_[i].kind == Kind::skip) reached[i + 1 + pieces_[i].length] = true;
    }
  };
  reached[0] = true;
  pass_empty_pieces();
  for (char byte : path) {
    std::vector<bool> then(reached.size());
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (reached[i] && pieces_[i].kind != Kind::skip && pieces_[i].bytes.test(static_cast<std::uint8_t>(byte)))
        then[pieces_[i].kind == Kind::one ? i + 1 : i] = true;
    reached = std::move(then);
    pass_empty_pieces();
  }
  return reached.back();
}

std::string PathPattern::literal_head() const {
  std::string head;
  for (const PatternPiece& piece : pieces_) {
    if (piece.kind != Kind::one || piece.bytes.count() != 1) break;
    head += static_cast<char>(piece.bytes._Find_first());
  }
  return head;
}

bool is_normal_path(std::string_view path) {
  return path == "/" || (!path.ends_with('/') && !flaw_of_path(path));
}

} // namespace hotset
