// SPDX-License-Identifier: Apache-2.0
#include "access/ager.h"

#include <utility>
#include <vector>

namespace hotset {
namespace {

constexpr double kTrip_us = 40;            // there and back
constexpr std::uint64_t kPagesPerRun = 64; // on average: more, and the pages take longer than the interrupts

} // namespace

bool is_worth_going(std::span<const Run> runs, const ClearCosts& there, const ClearCosts& elsewhere) {
  const auto count = static_cast<double>(runs.size());
  if (count * (elsewhere.per_run_us - there.per_run_us) <= kTrip_us) return false;
  std::uint64_t pages = 0;
  for (const Run& run : runs)
    pages += run.pages;
  return pages <= kPagesPerRun * runs.size();
}

Result<ClearReport> Ager::age(int pidfd, std::span<const Run> runs, std::optional<unsigned> processor) {
  if (!processor) return age_here(pidfd, runs);
  std::vector<Run> brief, lengthy;
  for (const Run& run : runs)
    (run.pages <= kLongestThere ? brief : lengthy).push_back(run);
  if (!is_worth_going(brief, there_, elsewhere_)) return age_here(pidfd, runs);

  const Nanoseconds begin = own_cpu_time();
  std::optional<Result<ClearReport>> done;
  may_go_ = beside_.run(*processor, [&] { done.emplace(age_runs(pidfd, brief, Pace::in_turns)); });
  if (!may_go_) return age_here(pidfd, runs);
  if (!*done) return std::move(*done);
  ClearReport& report = **done;
  report.beside = true;
  report.took = own_cpu_time() - begin;
  there_.learn(to_microseconds(report.took), report.runs, report.pages);
  HOTSET_TRY(const ClearReport rest, age_here(pidfd, lengthy));
  report.runs += rest.runs;
  report.pages += rest.pages;
  report.refused += rest.refused;
  report.took += rest.took;
  return std::move(*done);
}

Result<ClearReport> Ager::age_here(int pidfd, std::span<const Run> runs) {
  HOTSET_TRY(const ClearReport report, age_runs(pidfd, runs, Pace::steady));
  elsewhere_.learn(to_microseconds(report.took), report.runs, report.pages);
  return report;
}

} // namespace hotset
