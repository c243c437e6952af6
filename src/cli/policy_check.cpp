// SPDX-License-Identifier: Apache-2.0
// hotset policy check: what its author should know before a policy is loaded.
#include <memory>

#include "base/interrupt.h"
#include "cli/policy.h"
#include "policy/check.h"
#include "present/output.h"
#include "present/policy_check.h"

namespace hotset {
namespace {

struct Options {
  std::string file;
  bool strict = false, json = false;
};

Result<int> check(const Options& options) {
  HOTSET_TRY(const std::string text, read_policy_text(options.file));
  const PolicyCheck report = check_policy(parse_policy(text, options.file), system_users(), interrupt_requested);
  if (interrupt_requested()) return interrupt_exit_code();
  Output output;
  HOTSET_CHECK(options.json ? output.line(policy_check_json(report))
                            : output.print(policy_check_text(report, Style::of(output.fd()))));
  HOTSET_CHECK(output.finish());
  const std::size_t wrong = report.count(Severity::error) + (options.strict ? report.count(Severity::warning) : 0);
  return wrong == 0 ? 0 : static_cast<int>(ErrorCode::bad_data);
}

} // namespace

Action declare_policy_check(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "The policy; - is the standard input")->required();
  app.add_flag("--strict", options->strict, "Take a warning for an error");
  app.add_flag("--json", options->json, "One JSON object (schema hotset.policy_check/1)");
  app.footer("Exit code 0: it can be loaded. 6: it cannot, or has warnings and --strict is given.");
  return [options] { return check(*options); };
}

} // namespace hotset
