// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "app/doctor.h"
#include "cli/command.h"
#include "present/doctor.h"
#include "present/output.h"

namespace hotset {
namespace {

Result<int> doctor(bool json) {
  DoctorReport report = run_doctor(Files());
  Output output;
  HOTSET_CHECK(json ? output.line(doctor_json(report))
                    : output.print(doctor_text(report, Style::of(output.fd()), terminal_columns(output.fd()))));
  HOTSET_CHECK(output.finish());
  return missing_parts(report.checks).empty() ? 0 : static_cast<int>(ErrorCode::unsupported);
}

} // namespace

Action declare_doctor(CLI::App& app, const Tail&) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "One JSON object (schema hotset.doctor/1)");
  app.footer("Exit code 0: the main job can run here. 5: it cannot.");
  return [json] { return doctor(*json); };
}

} // namespace hotset
