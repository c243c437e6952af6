// SPDX-License-Identifier: Apache-2.0
// What `hotset policy check` found, for people and for programs (schema hotset.policy_check/1, docs/schemas.md).
#pragma once

#include <string>

#include "policy/check.h"
#include "present/style.h"

namespace hotset {

// One line a finding, "FILE:LINE:COLUMN: SEVERITY: TEXT" as compilers write it, and a verdict as the last line.
std::string policy_check_text(const PolicyCheck& check, const Style& style);
// One JSON object without a line feed.
std::string policy_check_json(const PolicyCheck& check);

} // namespace hotset
