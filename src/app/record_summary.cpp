// SPDX-License-Identifier: Apache-2.0
#include "app/record_summary.h"

#include <fmt/format.h>

#include "base/units.h"
#include "present/json.h"

namespace hotset {
namespace {

std::string_view name_of(RecordEnd end) {
  switch (end) {
    case RecordEnd::complete:
      return "complete";
    case RecordEnd::interrupted:
      return "interrupted";
    case RecordEnd::target_ended:
      return "target_ended";
  }
  return "";
}

// What the reader of a data set should know about losses; empty when there were none.
std::string losses_text(const FaultLosses& losses) {
  std::string text;
  auto note = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("  {} {}\n", count, what);
  };
  note(losses.buffer_full, "samples found the buffer full; their faults came with the next sample");
  note(losses.untracked, "faults found the kernel's table full and are not in any count");
  note(losses.missed, "faults were skipped by the kernel while a program of ours ran");
  note(losses.below_min_value, "samples were below --min-value");
  return text;
}

} // namespace

std::string to_text(const RecordSummary& s) {
  std::string text = fmt::format("{}: {} in {:.1f} s ({:.1f} s of windows), {} ended by the kernel's sample\n", s.path,
                                 counted(s.rows, "sample"), s.elapsed_s, s.seconds, s.emitted);
  text += fmt::format("  {} by {} ({}), {}\n", counted(s.faults, "fault"), s.hook, s.hook_semantics, s.transport);
  if (s.faults_between > 0)
    text += fmt::format("  {} faults more fell between windows, while labels were taken\n", s.faults_between);
  text += fmt::format("  labels {} to {}; own CPU time {:.2f} s ({:.1f} % of one CPU)\n",
                      human_bytes(s.label_low_bytes), human_bytes(s.label_high_bytes), s.own_cpu_s,
                      s.elapsed_s > 0 ? 100 * s.own_cpu_s / s.elapsed_s : 0.0);
  text += losses_text(s.losses);
  if (s.end == RecordEnd::target_ended) text += "  the target ended; all samples until then are in the file\n";
  if (s.end == RecordEnd::interrupted)
    text += s.rows > 0 ? "  interrupted; all samples until then are in the file\n"
                       : "  interrupted before the first sample: there is no data set\n";
  return text;
}

std::string to_json(const RecordSummary& s) {
  Json json = {{"schema", "hotset.record/1"},
               {"path", s.path},
               {"end", name_of(s.end)},
               {"samples", s.rows},
               {"emitted", s.emitted},
               {"faults", s.faults},
               {"faults_between", s.faults_between},
               {"windows_s", s.seconds},
               {"elapsed_s", s.elapsed_s},
               {"hook", s.hook},
               {"hook_semantics", s.hook_semantics},
               {"transport", s.transport},
               {"label_low_bytes", s.label_low_bytes},
               {"label_high_bytes", s.label_high_bytes},
               {"losses",
                {{"buffer_full", s.losses.buffer_full},
                 {"untracked", s.losses.untracked},
                 {"missed", s.losses.missed},
                 {"below_min_value", s.losses.below_min_value}}},
               {"cost", {{"cpu_s", s.own_cpu_s}}}};
  return json_line(json);
}

} // namespace hotset
