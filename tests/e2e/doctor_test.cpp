// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "e2e/run_hotset.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

const RunOptions kAsNobody{.wrapper = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}};

Json check_of(const Json& report, std::string_view name) {
  for (const Json& check : report.at("checks"))
    if (check.at("name") == name) return check;
  ADD_FAILURE() << "no check " << name;
  return {};
}

Json doctor_report(const RunOptions& options = {}) {
  RunResult run = run_hotset({"doctor", "--json"}, options);
  EXPECT_EQ(run.err, "");
  std::vector<Json> lines = run.json_lines();
  EXPECT_EQ(lines.size(), 1u);
  if (lines.empty()) return {{"checks", Json::array()}};
  EXPECT_EQ(run.exit_code, lines[0].at("main_job") == true ? 0 : 5);
  return lines[0];
}

TEST(Doctor, prints_one_object_of_its_schema) {
  Json report = doctor_report();
  EXPECT_EQ(report.at("schema"), "hotset.doctor/1");
  EXPECT_GT(report.at("checks").size(), 30u);
  for (const Json& check : report.at("checks")) {
    SCOPED_TRACE(check.dump());
    if (check.at("ok") == true) continue;
    EXPECT_NE(check.at("cause"), "");
    EXPECT_TRUE(check.at("cause").is_string());
    EXPECT_NE(check.at("remedy"), "");
    EXPECT_TRUE(check.at("remedy").is_string());
  }
}

TEST(Doctor, ends_its_text_with_the_verdict_that_its_exit_code_tells) {
  RunResult run = run_hotset({"doctor"});
  EXPECT_EQ(run.err, "");
  std::string last = run.out.substr(run.out.rfind('\n', run.out.size() - 2) + 1);
  EXPECT_THAT(last, StartsWith(run.exit_code == 0 ? "The main job can run here" : "The main job cannot run here"));
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "no escape sequences where no terminal is";
}

TEST(Doctor, without_privileges_still_reports_and_names_what_is_missing) {
  if (::geteuid() != 0 || !is_installed("setpriv")) GTEST_SKIP() << "needs root and setpriv";
  Json report = doctor_report(kAsNobody);
  EXPECT_EQ(report.at("main_job"), false);
  for (const char* name : {"hook.tp_btf", "hook.kprobe", "bpf.iter_task", "map.ringbuf", "privilege.bpf"}) {
    Json check = check_of(report, name);
    EXPECT_EQ(check.at("barrier"), "privilege") << check;
    EXPECT_THAT(check.at("cause").get<std::string>(), HasSubstr("CAP_BPF"));
  }
  EXPECT_THAT(report.dump(), ::testing::Not(HasSubstr("try raising")));
}

TEST(Doctor, in_a_user_namespace_does_not_believe_its_capabilities) {
  RunOptions options{.wrapper = {"unshare", "--user", "--map-root-user"}};
  if (!is_installed("unshare") || run_hotset({"--version"}, options).exit_code != 0)
    GTEST_SKIP() << "needs unshare and user namespaces";
  Json report = doctor_report(options);
  EXPECT_EQ(check_of(report, "privilege.user_namespace").at("barrier"), "environment");
  EXPECT_EQ(check_of(report, "privilege.bpf").at("barrier"), "environment");
}

TEST(Doctor, without_type_information_says_so_for_each_hook) {
  RunOptions options{.wrapper = {"unshare", "--mount", "sh", "-c",
                                 "mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$@\"", "sh"}};
  if (::geteuid() != 0 || ::access("/sys/kernel/btf/vmlinux", R_OK) != 0 ||
      run_hotset({"--version"}, options).exit_code != 0)
    GTEST_SKIP() << "needs root, unshare, and a kernel with BTF to hide";
  Json report = doctor_report(options);
  EXPECT_EQ(check_of(report, "kernel.btf").at("ok"), false);
  Json hook = check_of(report, "hook.tp_btf");
  EXPECT_THAT(hook.at("cause").get<std::string>(), HasSubstr("BTF"));
  EXPECT_THAT(hook.at("remedy").get<std::string>(), HasSubstr("CONFIG_DEBUG_INFO_BTF"));
}

TEST(Doctor, on_a_full_disk_fails_with_the_output_code) {
  for (const char* option : {"", "--json"}) {
    std::vector<std::string> arguments{"doctor"};
    if (*option != '\0') arguments.emplace_back(option);
    RunResult run = run_hotset(arguments, {.output_path = "/dev/full"});
    EXPECT_EQ(run.exit_code, 7);
    EXPECT_THAT(run.err, HasSubstr("No space left"));
  }
}

TEST(Doctor, whose_reader_goes_away_ends_quietly) {
  RunOptions options{.wrapper = {"sh", "-c", "{ \"$@\"; echo \"code $?\" >&2; } | head -c 1 >/dev/null", "sh"}};
  RunResult run = run_hotset({"doctor"}, options);
  EXPECT_EQ(run.signal, 0);
  EXPECT_THAT(run.err, ::testing::AnyOf("code 0\n", "code 5\n"));
}

TEST(Doctor, refuses_what_it_does_not_know) {
  EXPECT_EQ(run_hotset({"doctor", "--frobnicate"}).exit_code, 2);
  EXPECT_EQ(run_hotset({"doctor", "4711"}).exit_code, 2);
}

} // namespace
} // namespace hotset
