// SPDX-License-Identifier: Apache-2.0
#include "estimate/access_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::uint64_t kPage = 4096;

std::string bytes_text(std::uint64_t pages) {
  return human_bytes(pages * kPage);
}

} // namespace

bool damon_is_on(const Files& files) {
  const std::string root = "/sys/kernel/mm/damon/admin/kdamonds";
  Result<std::vector<std::string>> names = files.list(root);
  if (!names) return false;
  return std::ranges::any_of(*names, [&](const std::string& name) {
    Result<std::string> state = files.read(fmt::format("{}/{}/state", root, name));
    return state && state->starts_with("on");
  });
}

std::optional<std::uint64_t> swap_of(const Files& files, pid_t pid) {
  Result<std::string> status = files.read(fmt::format("/proc/{}/status", pid));
  if (!status) return std::nullopt;
  constexpr std::string_view kField = "VmSwap:";
  std::size_t at = status->find(kField);
  if (at == std::string::npos) return std::nullopt;
  at = status->find_first_not_of(" \t", at + kField.size());
  std::optional<std::uint64_t> kb = parse_u64(std::string_view(*status).substr(at, status->find(' ', at) - at));
  return kb ? std::optional(*kb * 1024) : std::nullopt;
}

// Times the budget that clearing may take unremarked: each window's price is foretold from earlier ones.
constexpr double kFarOver = 1.5;

Aim aim_of(const MeterOptions& options, Aim::Method method, double resident, double touched) {
  // Before the first window nothing is known; an aim of one part in a hundred of nothing would be no aim.
  double of = options.relative && touched > 0 ? touched : resident;
  return {.method = method,
          .budget_us = options.budget * to_seconds(options.window) * 1e6,
          .error_pages = options.error * of,
          .confidence = options.confidence};
}

void set_working_set(const Answer& answer, Estimate& estimate) {
  estimate.method = answer.exact() ? "exact" : answer.units > 0 ? "sample" : "bounds";
  auto bytes = [](double pages) { return static_cast<std::uint64_t>(pages) * kPage; };
  estimate.wss = WorkingSet{.bytes = bytes(std::round(answer.touched)),
                            .low_bytes = bytes(std::floor(answer.low)),
                            .high_bytes = bytes(std::ceil(answer.high)),
                            .confidence = answer.confidence};
  estimate.rss_bytes = answer.resident * kPage;
  estimate.granularity_bytes = answer.huge > 0 ? kTableBytes : kPage;
  estimate.coverage = answer.coverage();
}

void add_access_flags(const Answer& answer, const MeterReading& reading, const MeterOptions& options, bool damon,
                      Estimate& estimate) {
  estimate.effective_s = to_seconds(reading.window);
  estimate.cost = {.cpu_s = to_seconds(reading.cpu), .target_stall_s = to_seconds(reading.clear_time)};
  auto flag = [&](std::string code, std::string text) { estimate.flags.push_back({std::move(code), std::move(text)}); };
  flag("pss_not_measured", "the proportional share needs a walk of smaps, which costs more than all the rest");
  if (!reading.reason.empty()) flag("method_choice", reading.reason);
  const double budget_s = options.budget * to_seconds(options.window);
  if (to_seconds(reading.clear_time) > kFarOver * budget_s)
    flag("budget_exceeded",
         fmt::format("clearing took {:.1f} ms, the budget is {:.1f} ms: a scoped clear is paid from what was saved in "
                     "earlier windows, and prices are known from those only",
                     to_seconds(reading.clear_time) * 1e3, budget_s * 1e3));
  for (const Held& held : answer.held)
    flag(fmt::format("held_{}", held.code), fmt::format("{} of {}", bytes_text(held.pages), held.text));
  if (answer.aged > 0)
    flag("aged_by_kernel", fmt::format("the kernel itself aged {} in the window (reclaim, DAMON): it may have been "
                                       "touched before that",
                                       bytes_text(answer.aged)));
  if (reading.contested)
    flag("measured_twice", "another hotset cleared the same Accessed bits: touches can be lost to it");
  if (reading.unwatched)
    flag("others_unseen", "/run/hotset/clears can't be used: another hotset on the same target would not be noticed");
  if (reading.execed)
    flag("execed",
         "the process went to another program in the window: what it had mapped before is not in these numbers");
  if (damon) flag("damon_active", "DAMON clears Accessed bits of pages that it samples: touches can be lost to it");
  if (answer.huge > 0)
    flag("huge_pages",
         fmt::format("{} is in huge pages, each of which counts whole for one touched byte", bytes_text(answer.huge)));
  if (answer.hugetlb > 0)
    flag("hugetlb_left_out", fmt::format("{} in hugetlb pages is not in these numbers", bytes_text(answer.hugetlb)));
  if (reading.unreadable > 0)
    flag("tables_unreadable",
         fmt::format("{} page tables could not be read: all counts are lower bounds", reading.unreadable));
}

} // namespace hotset
