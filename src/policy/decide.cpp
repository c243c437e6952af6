// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>

#include "policy/compiled.h"

namespace hotset {
namespace {

// A cgroup that is deeper than the kernel program looks has its first levels only, as there.
void fill_cgroups(policy_subject& subject, std::string_view path) {
  if (path.empty()) return;
  subject.cgroup[0] = cgroup_number("/");
  std::size_t end = 0;
  for (std::size_t level = 1; level < POLICY_CGROUP_LEVELS && end + 1 < path.size(); ++level) {
    end = std::min(path.find('/', end + 1), path.size());
    subject.cgroup[level] = cgroup_number(path.substr(0, end));
  }
}

policy_subject subject_of(const policy_image& image, const PolicyQuery& query) {
  policy_subject subject{};
  std::ranges::copy(query.command | std::views::take(POLICY_COMMAND_BYTES - 1), subject.command);
  subject.uid = query.uid;
  subject.executable = query.executable.empty() ? POLICY_NO_MATCH : match_of_path(image, query.executable);
  fill_cgroups(subject, query.cgroup);
  return subject;
}

} // namespace

std::uint32_t match_of_path(const policy_image& image, std::string_view path) {
  std::uint32_t state = image.start;
  for (char byte : path | std::views::reverse)
    state = policy_next(&image, state, static_cast<std::uint8_t>(byte));
  return policy_match_of(&image, state);
}

policy_verdict decide(const policy_image& image, const PolicyQuery& query) {
  const policy_subject subject = subject_of(image, query);
  return policy_decide(&image, match_of_path(image, query.path), query.access, &subject);
}

// FNV-1a, 64 bits (RFC draft-eastlake-fnv); 0 means "no cgroup" to the kernel program, and is avoided.
std::uint64_t cgroup_number(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (char byte : path)
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
  return hash == 0 ? 1 : hash;
}

std::uint8_t cgroup_level(std::string_view path) {
  if (path == "/") return 0;
  return static_cast<std::uint8_t>(std::ranges::count(path, '/'));
}

} // namespace hotset
