// SPDX-License-Identifier: Apache-2.0
#include "present/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden.h"

namespace hotset {
namespace {

Finding refused() {
  return obstacle(Barrier::privilege, "the capability CAP_BPF is missing", "run as root");
}

DoctorReport report() {
  return {"6.1.0 x86_64",
          {
              {"hook.fentry", "hook", Part::fault_hook,
               obstacle(Barrier::kernel,
                        "this kernel has no trampolines, which is a long story that does not fit into one line of "
                        "eighty columns",
                        "use another hook")},
              {"hook.kprobe", "hook", Part::fault_hook, found("kprobe:handle_mm_fault: user and kernel mode")},
              {"reference.clear_refs", "reference", Part::reset, found("of every process")},
              {"reference.smaps", "reference", Part::reading, found()},
              {"map.ringbuf", "map", Part::transport, found()},
              {"privilege.sys_resource", "privilege", Part::none, not_applicable("not effective, and not needed")},
          }};
}

TEST(MainJob, runs_when_each_part_has_one_check_that_is_ok) {
  EXPECT_TRUE(missing_parts(report().checks).empty());
  EXPECT_EQ(provider(report().checks, Part::fault_hook)->name, "hook.kprobe");
}

TEST(DoctorReport, names_a_last_resort_only_where_nothing_else_works) {
  CheckResult last{"hook.fexit", "hook", Part::fault_hook, found()},
      other{"hook.kprobe", "hook", Part::fault_hook, found()};
  last.finding.last_resort = true;
  EXPECT_EQ(provider({last, other}, Part::fault_hook)->name, "hook.kprobe");
  EXPECT_EQ(provider({last}, Part::fault_hook)->name, "hook.fexit");
}

TEST(MainJob, does_not_run_without_any_one_of_its_parts) {
  for (Part part : {Part::fault_hook, Part::transport, Part::reset, Part::reading}) {
    DoctorReport broken = report();
    for (CheckResult& check : broken.checks)
      if (check.part == part) check.finding = refused();
    EXPECT_EQ(missing_parts(broken.checks), std::vector<Part>{part});
  }
}

TEST(MainJob, does_not_run_on_what_is_not_applicable) {
  DoctorReport broken = report();
  for (CheckResult& check : broken.checks)
    if (check.part == Part::reading) check.finding = not_applicable("x");
  EXPECT_EQ(missing_parts(broken.checks), std::vector<Part>{Part::reading});
}

TEST(DoctorText, is_grouped_aligned_and_ends_with_a_verdict) {
  expect_golden("doctor.txt", doctor_text(report(), Style(false), 80));
}

TEST(DoctorText, says_what_keeps_the_main_job_from_running) {
  DoctorReport broken = report();
  broken.checks[1].finding = refused();
  broken.checks[4].finding = refused();
  expect_golden("doctor_broken.txt", doctor_text(broken, Style(false), 80));
}

TEST(DoctorText, on_a_terminal_differs_in_colours_alone) {
  std::string coloured = doctor_text(report(), Style(true), 80);
  EXPECT_NE(coloured.find("\x1b[32mok  \x1b[0m"), std::string::npos);
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, doctor_text(report(), Style(false), 80));
}

TEST(DoctorJson, is_the_documented_schema) {
  expect_golden("doctor.json", nlohmann::ordered_json::parse(doctor_json(report())).dump(2) + "\n");
}

TEST(DoctorJson, survives_bytes_that_are_not_utf8) {
  DoctorReport odd = report();
  odd.checks[1].finding.detail = "\xff\xfe";
  EXPECT_TRUE(nlohmann::json::accept(doctor_json(odd)));
}

} // namespace
} // namespace hotset
