// SPDX-License-Identifier: Apache-2.0
// hotset policy test: one question to a policy, with the reasons for its answer. Nothing is loaded.
#include <memory>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/policy.h"
#include "policy/explain.h"
#include "present/output.h"
#include "present/policy_test.h"

namespace hotset {
namespace {

struct Options {
  std::string file, path, command, executable, cgroup, uid, expect;
  std::vector<std::string> access;
  bool json = false;
};

Result<std::string> normal_path(const std::string& path, std::string_view option) {
  if (path.empty() || is_normal_path(path)) return path;
  return fail(ErrorCode::usage, "test the policy", std::string(option) + " '" + printable(path) + "'",
              "it is no absolute path without '//', '.', '..' and a '/' at its end",
              "give the path as the kernel sees it");
}

Result<std::uint32_t> uid_of(const std::string& text) {
  if (text.empty()) return POLICY_NO_UID;
  if (const std::optional<std::uint64_t> number = parse_u64(text); number && *number < POLICY_NO_UID)
    return static_cast<std::uint32_t>(*number);
  HOTSET_TRY(const std::optional<std::uint32_t> uid, system_users()(text));
  if (!uid)
    return fail(ErrorCode::usage, "test the policy", "--uid '" + printable(text) + "'", "there is no such user here",
                "give a number");
  return *uid;
}

Result<PolicyQuery> query_of(const Options& options) {
  PolicyQuery query;
  HOTSET_TRY(query.path, normal_path(options.path, "--path"));
  HOTSET_TRY(query.executable, normal_path(options.executable, "--executable"));
  HOTSET_TRY(query.cgroup, normal_path(options.cgroup, "--cgroup"));
  HOTSET_TRY(query.uid, uid_of(options.uid));
  // The kernel keeps no more of it, and that is what rules name.
  query.command = options.command.substr(0, POLICY_COMMAND_BYTES - 1);
  query.access = 0;
  for (const std::string& name : options.access)
    query.access |= access_named(name);
  return query;
}

Result<int> test(const Options& options) {
  HOTSET_TRY(const PolicyQuery query, query_of(options));
  HOTSET_TRY(Policy policy, read_policy(options.file));
  HOTSET_TRY(const CompiledPolicy compiled, compile_policy(std::move(policy), system_users(), interrupt_requested));
  HOTSET_TRY(const PolicyExplanation explanation, explain(compiled, query));
  Output output;
  HOTSET_CHECK(options.json
                   ? output.line(policy_test_json(compiled.policy, query, explanation))
                   : output.print(policy_test_text(compiled.policy, query, explanation, Style::of(output.fd()))));
  HOTSET_CHECK(output.finish());
  const bool as_expected = options.expect.empty() || options.expect == action_name(explanation.verdict.action);
  return as_expected ? 0 : static_cast<int>(ErrorCode::bad_data);
}

} // namespace

Action declare_policy_test(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  options->access = {"read"};
  app.add_option("file", options->file, "The policy; - is the standard input")->required();
  app.add_option("--path", options->path, "Of the file that is opened")->required();
  app.add_option("--access", options->access, "What for: read, write, execute, or several with commas between")
      ->delimiter(',')
      ->check(CLI::IsMember({"read", "write", "execute"}))
      ->capture_default_str();
  app.add_option("--command", options->command, "Name of the command that opens it");
  app.add_option("--executable", options->executable, "Path of its executable");
  app.add_option("--cgroup", options->cgroup, "Path of its cgroup, below the mount of cgroup v2");
  app.add_option("--uid", options->uid, "Its effective user, by number or name");
  app.add_option("--expect", options->expect, "End with 6 when the answer is another one")
      ->check(CLI::IsMember({"allow", "deny"}));
  app.add_flag("--json", options->json, "One JSON object (schema hotset.policy_test/1)");
  app.footer("What of the subject is not given matches no rule that asks for it.");
  return [options] { return test(*options); };
}

} // namespace hotset
