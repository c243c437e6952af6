// SPDX-License-Identifier: Apache-2.0
// The subcommands of `hotset policy`: one row each in policy.cpp, one file each.
#pragma once

#include "cli/command.h"

namespace hotset {

Action declare_policy_check(CLI::App& app, const Tail& tail);
Action declare_policy_test(CLI::App& app, const Tail& tail);
Action declare_policy_run(CLI::App& app, const Tail& tail);
// The three that ask a running one, in policy_status.cpp.
Action declare_policy_status(CLI::App& app, const Tail& tail);
Action declare_policy_stats(CLI::App& app, const Tail& tail);
Action declare_policy_events(CLI::App& app, const Tail& tail);

} // namespace hotset
