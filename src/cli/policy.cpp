// SPDX-License-Identifier: Apache-2.0
// hotset policy: which files may be opened, by whom. The table of its subcommands.
#include "cli/policy.h"

#include <array>

namespace hotset {
namespace {

constexpr std::array kSubcommands{
    Command{"check", "Say what is wrong with a policy, and where its rules conflict", declare_policy_check},
    Command{"test", "Say which rule of a policy decides, and why", declare_policy_test},
    Command{"run", "Hold a policy against each file that is opened", declare_policy_run},
    Command{"status", "Say what policy is held, and how", declare_policy_status},
    Command{"stats", "Show how opens were judged, and what the cache saved", declare_policy_stats},
    Command{"events", "Show the opens that are denied, as they come", declare_policy_events},
};

} // namespace

Action declare_policy(CLI::App& app, const Tail& tail) {
  return declare_all(app, kSubcommands, tail);
}

} // namespace hotset
