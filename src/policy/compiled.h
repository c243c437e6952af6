// SPDX-License-Identifier: Apache-2.0
// A policy compiled to what the kernel program runs (bpf/policy.h), and the same question asked of it here.
//
// decide() runs the very tables and functions of the kernel program, so it says what the kernel will; tests hold both
// against a naive matcher.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace hotset {

struct CompiledPolicy {
  // To be copied into a map as it is, when its `generation`, and for rules with a cgroup their `cgroup` and
  // `cgroup_level`, have been filled in. Before that the cgroups hold numbers made from their paths (cgroup_number),
  // which is what decide() understands.
  std::unique_ptr<policy_image> image;
  Policy policy; // its rules are those of the image, by index: names, lines, paths of cgroups
};

// The number of a user by name; nothing when there is no such user.
using Users = std::function<Result<std::optional<std::uint32_t>>(const std::string& name)>;
// What the system's user database says (getpwnam_r).
Users system_users();

// Errors: bad_data for a user that does not exist, and for a policy that is too large, which names the rule where it
// became so; interrupted once `stop`, which is asked all the time, is true.
Result<CompiledPolicy> compile_policy(Policy policy, const Users& users = system_users(),
                                      const std::function<bool()>& stop = {});

// A question to a policy. Who asks need not tell all of the subject: what is absent meets no condition.
struct PolicyQuery {
  std::string path;                   // absolute and normalised
  std::uint32_t access = POLICY_READ; // mask of policy_access, not 0
  std::string command;
  std::string executable; // absolute and normalised, or empty
  std::string cgroup;     // absolute and normalised, or empty
  std::uint32_t uid = POLICY_NO_UID;
};

// What the automaton says of an absolute, normalised path: an index into image.match, as the kernel program finds it.
std::uint32_t match_of_path(const policy_image& image, std::string_view path);

// The verdict of an image whose cgroups hold cgroup_number().
policy_verdict decide(const policy_image& image, const PolicyQuery& query);

// A number that stands for a cgroup's path until the loader knows its id; and how deep the path is ("/" is 0).
std::uint64_t cgroup_number(std::string_view path);
std::uint8_t cgroup_level(std::string_view path);

} // namespace hotset
