// SPDX-License-Identifier: Apache-2.0
#include "policy/automaton.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hotset {
namespace {

using Kind = PatternPiece::Kind;
using Places = std::vector<std::uint32_t>; // sorted

// How a tail of a path looks so far, to tell paths from other texts.
enum class Shape : std::uint8_t { nothing, dot, dots, name, slash, root, no_path };

Shape after(Shape shape, std::uint8_t byte) {
  switch (shape) {
    case Shape::no_path:
    case Shape::root:
      return Shape::no_path;
    case Shape::nothing:
    case Shape::slash:
      if (byte == '/') return shape == Shape::nothing ? Shape::root : Shape::no_path;
      return byte == '\0' ? Shape::no_path : byte == '.' ? Shape::dot : Shape::name;
    case Shape::dot:
    case Shape::dots:
      if (byte == '/' || byte == '\0') return Shape::no_path;
      return byte == '.' && shape == Shape::dot ? Shape::dots : Shape::name;
    case Shape::name:
      return byte == '\0' ? Shape::no_path : byte == '/' ? Shape::slash : Shape::name;
  }
  return Shape::no_path;
}

// Of two bytes the one of lower rank is the better sample to show.
unsigned rank(unsigned byte) {
  if (byte >= 'a' && byte <= 'z') return 0;
  if ((byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')) return 1;
  return byte > ' ' && byte < 0x7f ? 2 : 3;
}

// Splits the classes by each set in turn.
ByteClasses classes_of(std::span<const ByteSet> sets) {
  std::array<unsigned, 256> id{};
  for (const ByteSet& set : sets) {
    std::unordered_map<unsigned, unsigned> split;
    for (unsigned byte = 0; byte < 256; ++byte)
      id.at(byte) = split.emplace(id.at(byte) * 2 + (set.test(byte) ? 1U : 0U), static_cast<unsigned>(split.size()))
                        .first->second;
  }
  ByteClasses classes;
  classes.sample.resize(*std::ranges::max_element(id) + 1);
  for (unsigned byte = 256; byte-- > 0;) {
    std::uint8_t& sample = classes.sample.at(id.at(byte));
    classes.of.at(byte) = static_cast<std::uint8_t>(id.at(byte));
    if (rank(byte) <= rank(sample)) sample = static_cast<std::uint8_t>(byte);
  }
  return classes;
}

// All places of all patterns, numbered through, with the ways from each towards the begin of its pattern. Place i of a
// pattern is in front of its piece i.
class Board {
 public:
  explicit Board(std::span<const PathPattern* const> patterns, bool only_paths) {
    std::vector<ByteSet> sets;
    std::unordered_map<ByteSet, std::uint32_t> known;
    auto id_of = [&](const ByteSet& set) {
      auto [at, fresh] = known.emplace(set, static_cast<std::uint32_t>(sets.size()));
      if (fresh) sets.push_back(set);
      return at->second;
    };
    for (char byte : std::string_view("/.\0", only_paths ? 3 : 0))
      id_of(ByteSet().set(static_cast<std::uint8_t>(byte)));
    for (std::size_t p = 0; p < patterns.size(); ++p)
      add(static_cast<std::uint32_t>(p), patterns[p]->pieces(), id_of);
    classes_ = classes_of(sets);
    for (const ByteSet& set : sets) {
      std::vector<std::uint8_t>& members = members_.emplace_back();
      for (std::size_t c = 0; c < classes_.sample.size(); ++c)
        if (set.test(classes_.sample[c])) members.push_back(static_cast<std::uint8_t>(c));
    }
  }

  [[nodiscard]] const ByteClasses& classes() const { return classes_; }

  [[nodiscard]] Places start() const {
    Places places;
    for (std::uint32_t end : ends_)
      places.insert(places.end(), nearby_[end].begin(), nearby_[end].end());
    return places;
  }

  // Adds to `then`, which is by class, the places that one byte leads to.
  void step(std::uint32_t place, std::vector<Places>& then) const {
    if (stays_[place] != kNone) add_all(stays_[place], place, then);
    if (moves_[place] != kNone) add_all(moves_[place], place - 1, then);
  }

  [[nodiscard]] std::uint32_t pattern_of(std::uint32_t place) const { return pattern_[place]; }
  [[nodiscard]] bool is_begin(std::uint32_t place) const { return begins_[place]; }
  // What comes in front does not matter.
  [[nodiscard]] bool is_settled(std::uint32_t place) const {
    return begins_[place] && stays_[place] != kNone && members_[stays_[place]].size() == classes_.sample.size();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  void add(std::uint32_t pattern, const std::vector<PatternPiece>& pieces, const auto& id_of) {
    const auto first = static_cast<std::uint32_t>(pattern_.size());
    std::vector<Places> jumps(pieces.size() + 1); // by landing place, where a skip begins
    for (std::size_t i = 0; i <= pieces.size(); ++i) {
      const auto place = first + static_cast<std::uint32_t>(i);
      const PatternPiece* behind = i < pieces.size() ? &pieces[i] : nullptr;
      const PatternPiece* before = i > 0 ? &pieces[i - 1] : nullptr;
      pattern_.push_back(pattern);
      begins_.push_back(i == 0);
      stays_.push_back(behind != nullptr && behind->kind == Kind::loop ? id_of(behind->bytes) : kNone);
      moves_.push_back(before != nullptr && before->kind == Kind::one ? id_of(before->bytes) : kNone);
      if (behind != nullptr && behind->kind == Kind::skip) jumps.at(i + 1 + behind->length).push_back(place);
      // The places that no byte parts from this one; those in front have theirs by now.
      Places& nearby = nearby_.emplace_back(Places{place});
      if (before != nullptr && before->kind != Kind::one) join(nearby, nearby_[place - 1]);
      for (std::uint32_t from : jumps[i])
        join(nearby, nearby_[from]);
    }
    ends_.push_back(static_cast<std::uint32_t>(pattern_.size()) - 1);
  }

  static void join(Places& places, const Places& more) {
    places.insert(places.end(), more.begin(), more.end());
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
  }

  void add_all(std::uint32_t set, std::uint32_t target, std::vector<Places>& then) const {
    for (std::uint8_t byte_class : members_[set])
      then[byte_class].insert(then[byte_class].end(), nearby_[target].begin(), nearby_[target].end());
  }

  // By place.
  std::vector<std::uint32_t> pattern_, stays_, moves_; // the latter two: on which set of bytes
  std::vector<bool> begins_;
  std::vector<Places> nearby_;
  Places ends_; // by pattern
  ByteClasses classes_;
  std::vector<std::vector<std::uint8_t>> members_; // by set: its classes
};

struct PlacesHash {
  std::size_t operator()(const Places& places) const {
    std::size_t hash = 0;
    for (std::uint32_t place : places)
      hash = (hash ^ place) * 0x9e3779b97f4a7c15U; // 2^64 over the golden ratio spreads neighbours
    return hash ^ (hash >> 32);
  }
};

class Construction {
 public:
  Construction(std::span<const PathPattern* const> patterns, const AutomatonOptions& options)
      : options_(options), board_(patterns, options.only_paths) {
    automaton_.classes = board_.classes();
  }

  std::optional<PathAutomaton> run() {
    const std::size_t classes = board_.classes().sample.size();
    std::vector<Places> then(classes);
    state_of(board_.start(), Shape::nothing, {});
    for (std::uint32_t state = 0; state < automaton_.states(); ++state) {
      if (automaton_.states() > options_.most_states) return std::nullopt;
      if (automaton_.states() * classes > options_.most_transitions) return std::nullopt;
      if (options_.stop && options_.stop()) return std::nullopt;
      if (options_.hopeless && options_.hopeless(automaton_)) return std::nullopt;
      const Places& places = places_[state]->first; // which stays in its place as the table grows
      const auto shape = static_cast<Shape>(places.back());
      for (Places& list : then)
        list.clear();
      for (std::uint32_t place : std::span(places).first(places.size() - 1))
        board_.step(place, then);
      for (std::size_t c = 0; c < classes; ++c) {
        const Shape next_shape = options_.only_paths ? after(shape, board_.classes().sample[c]) : Shape::name;
        automaton_.next.push_back(
            state_of(std::move(then[c]), next_shape, {.state = state, .byte_class = static_cast<std::uint8_t>(c)}));
      }
    }
    return std::move(automaton_);
  }

 private:
  // The number of the state of these places, which need not be in order; a new one when there is none yet.
  std::uint32_t state_of(Places places, Shape shape, PathAutomaton::Origin origin) {
    if (shape == Shape::no_path) places.clear();
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    forget(places);
    places.push_back(static_cast<std::uint32_t>(shape));
    auto [at, fresh] = numbers_.emplace(std::move(places), static_cast<std::uint32_t>(automaton_.states()));
    if (!fresh) return at->second;
    places_.push_back(&*at);
    PatternSet& accepted = automaton_.accepted.emplace_back();
    for (std::uint32_t place : std::span(at->first).first(at->first.size() - 1))
      if (board_.is_begin(place)) accepted.set(board_.pattern_of(place));
    automaton_.is_path.push_back(!options_.only_paths || shape == Shape::slash || shape == Shape::root);
    automaton_.origin.push_back(origin);
    return at->second;
  }

  void forget(Places& places) const {
    PatternSet settled;
    for (std::uint32_t place : places)
      if (board_.is_settled(place)) settled.set(board_.pattern_of(place));
    if (settled.none()) return;
    const PatternSet forgotten = options_.forget ? options_.forget(settled) : PatternSet();
    std::erase_if(places, [&](std::uint32_t place) {
      const std::uint32_t pattern = board_.pattern_of(place);
      return forgotten.test(pattern) || (settled.test(pattern) && !board_.is_begin(place));
    });
  }

  const AutomatonOptions& options_;
  Board board_;
  PathAutomaton automaton_;
  std::unordered_map<Places, std::uint32_t, PlacesHash> numbers_; // the places of a state, and its shape behind them
  std::vector<const std::pair<const Places, std::uint32_t>*> places_; // by state
};

} // namespace

std::string PathAutomaton::text_of(std::uint32_t state) const {
  std::string text;
  for (; state != 0; state = origin[state].state)
    text += static_cast<char>(classes.sample[origin[state].byte_class]);
  return text;
}

std::optional<PathAutomaton> build_automaton(std::span<const PathPattern* const> patterns,
                                             const AutomatonOptions& options) {
  return Construction(patterns, options).run();
}

} // namespace hotset
