// SPDX-License-Identifier: Apache-2.0
// The answer of `hotset policy test`, for people and for programs (schema hotset.policy_test/1, docs/schemas.md).
#pragma once

#include <string>

#include "policy/explain.h"
#include "present/style.h"

namespace hotset {

// The verdict, then for each access the rule that decides and what kept those before it from deciding.
std::string policy_test_text(const Policy& policy, const PolicyQuery& query, const PolicyExplanation& explanation,
                             const Style& style);
// One JSON object without a line feed.
std::string policy_test_json(const Policy& policy, const PolicyQuery& query, const PolicyExplanation& explanation);

} // namespace hotset
