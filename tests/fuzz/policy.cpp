// SPDX-License-Identifier: Apache-2.0
// Policies, and the automaton against the matcher. The input is a policy, a NUL, and a path to ask about.
//
// explain() asks the compiled tables and tries the rules one by one, and fails when the two disagree.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "policy/check.h"
#include "policy/compiled.h"
#include "policy/explain.h"
#include "require.h"

namespace {

using namespace hotset;

// A few of them in one pattern take the automaton to its limit, which is slow and tested elsewhere.
constexpr std::ptrdiff_t kMostWildcards = 8;

Result<std::optional<std::uint32_t>> two_users(const std::string& name) {
  return name.size() > 4 ? std::nullopt : std::optional<std::uint32_t>(7);
}

void check_flaws(const PolicyText& text) {
  std::pair<std::uint32_t, std::uint32_t> last{};
  for (const PolicyFlaw& flaw : text.flaws) {
    REQUIRE(!flaw.cause.empty() && !flaw.remedy.empty());
    REQUIRE(std::pair(flaw.place.line, flaw.place.column) >= last);
    last = {flaw.place.line, flaw.place.column};
  }
}

void ask(const CompiledPolicy& policy, const std::string& path) {
  PolicyQuery query;
  query.path = path;
  query.access = POLICY_READ | POLICY_WRITE;
  query.executable = path;
  query.uid = 7;
  const policy_image& image = *policy.image;
  REQUIRE(image.start < image.states && image.settled <= image.states);
  REQUIRE(match_of_path(image, path) < image.matches);
  REQUIRE(explain(policy, query).has_value());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  PolicyText text = parse_policy(input.substr(0, end), "input");
  check_flaws(text);
  if (std::ranges::count_if(input, [](char c) { return c == '*' || c == '?' || c == '['; }) > kMostWildcards) return 0;
  (void)check_policy(text, two_users);
  if (!text.flaws.empty()) return 0;
  const Result<CompiledPolicy> compiled = compile_policy(std::move(text.policy), two_users);
  if (!compiled) {
    REQUIRE(compiled.error().code == ErrorCode::bad_data);
    return 0;
  }
  const std::string path = end < input.size() ? input.substr(end + 1) : "";
  ask(*compiled, is_normal_path(path) ? path : "/etc/shadow");
  return 0;
}
