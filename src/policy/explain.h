// SPDX-License-Identifier: Apache-2.0
// Why a policy decides as it does: every rule up to the one that decides, and what kept it from deciding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/compiled.h"

namespace hotset {

// The first thing of a rule that does not fit the question.
enum class RuleObstacle : std::uint8_t { none, path, access, command, executable, cgroup, uid };

std::string_view obstacle_name(RuleObstacle obstacle); // "path"

struct RuleStep {
  std::size_t rule = 0; // index
  RuleObstacle obstacle = RuleObstacle::none;
  std::string why; // "it is for command 'nginx', and the command is 'cat'"; of one that decides, ""
};

// One access; its last step is the rule that decides, unless the default does.
struct AccessExplanation {
  std::uint8_t access = 0;
  policy_verdict verdict{};
  std::vector<RuleStep> steps;
};

struct PolicyExplanation {
  policy_verdict verdict{};
  std::vector<AccessExplanation> accesses; // in the order of the bits
};

// The verdicts come from the compiled tables, the steps from trying the rules one by one. An error (internal) when the
// two disagree, which would be a bug.
Result<PolicyExplanation> explain(const CompiledPolicy& compiled, const PolicyQuery& query);

} // namespace hotset
