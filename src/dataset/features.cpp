// SPDX-License-Identifier: Apache-2.0
#include "dataset/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "dataset/fingerprint.h"

namespace hotset {
namespace {

const Row& newest(const History& history) {
  return history.windows.back();
}

// Division that stays finite; windows of no length and empty processes have no rate.
double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// Faults per second over the last `count` windows.
double recent_rate(const History& history, std::size_t count) {
  double faults = 0, seconds = 0;
  const std::size_t first = history.windows.size() - std::min(count, history.windows.size());
  for (std::size_t i = first; i < history.windows.size(); ++i) {
    faults += static_cast<double>(history.windows[i].faults);
    seconds += history.windows[i].dt_s;
  }
  return ratio(faults, seconds);
}

double rss_change(const History& history, std::size_t back) {
  const std::size_t size = history.windows.size();
  const Row& before = history.windows[size - std::min(back + 1, size)];
  return static_cast<double>(newest(history).rss_bytes) - static_cast<double>(before.rss_bytes);
}

double peak_rate(const History& history) {
  double peak = 0;
  for (const Row& row : history.windows)
    peak = std::max(peak, ratio(static_cast<double>(row.faults), row.dt_s));
  return peak;
}

// A sample ends its window, so that the length of a window follows the faults, too.
constexpr std::array kFeatures{
    Feature{"dt_s", "s", true, "length of the window", [](const History& h) { return newest(h).dt_s; }},
    Feature{"faults", "faults", true, "page faults in the window",
            [](const History& h) { return static_cast<double>(newest(h).faults); }},
    Feature{"fault_rate", "faults/s", true, "page faults per second of the window",
            [](const History& h) { return recent_rate(h, 1); }},
    Feature{"fault_rate_5", "faults/s", true, "page faults per second over 5 windows",
            [](const History& h) { return recent_rate(h, 5); }},
    Feature{"fault_rate_20", "faults/s", true, "page faults per second over 20 windows",
            [](const History& h) { return recent_rate(h, kHistoryWindows); }},
    Feature{"fault_rate_peak", "faults/s", true, "the highest rate of a window among 20", peak_rate},
    Feature{"faults_total", "faults", true, "page faults since the observation began",
            [](const History& h) { return static_cast<double>(h.faults_total); }},
    Feature{"quiet_windows", "windows", true, "windows since the last page fault",
            [](const History& h) { return static_cast<double>(h.quiet_windows); }},
    Feature{"emissions", "samples", true, "samples that the kernel emitted in the window",
            [](const History& h) { return static_cast<double>(newest(h).emissions); }},
    Feature{"peak_faults", "faults", true, "the most page faults that one sample carried",
            [](const History& h) { return static_cast<double>(newest(h).peak_faults); }},
    Feature{"rss_bytes", "bytes", false, "resident memory at the end of the window",
            [](const History& h) { return static_cast<double>(newest(h).rss_bytes); }},
    Feature{"rss_change_bytes", "bytes", false, "change of the resident memory since the window before",
            [](const History& h) { return rss_change(h, 1); }},
    Feature{"rss_change_20_bytes", "bytes", false, "change of the resident memory over 20 windows",
            [](const History& h) { return rss_change(h, kHistoryWindows); }},
    Feature{"fault_share", "1", true, "page faults, as pages, in relation to the resident memory",
            [](const History& h) {
              return ratio(static_cast<double>(newest(h).faults) * static_cast<double>(page_bytes()),
                           static_cast<double>(newest(h).rss_bytes));
            }},
    Feature{"cpu_share", "1", false, "CPU time per second of the window; above 1 with several threads",
            [](const History& h) { return ratio(newest(h).cpu_s, newest(h).dt_s); }},
};

constexpr std::size_t kPaperFeatures = 2; // the first two rows: the published pair

} // namespace

void History::push(const Row& row) {
  windows.push_back(row);
  if (windows.size() > kHistoryWindows) windows.pop_front();
  faults_total += row.faults;
  quiet_windows = row.faults > 0 ? 0 : quiet_windows + 1;
}

std::span<const Feature> features() {
  return kFeatures;
}

Result<std::vector<const Feature*>> preset_features(std::string_view preset) {
  std::size_t count = preset == "paper" ? kPaperFeatures : preset == "full" ? kFeatures.size() : 0;
  if (count == 0)
    return fail(ErrorCode::usage, "choose the preset", fmt::format("'{}'", printable(preset)), "there is none",
                "choose paper or full");
  std::vector<const Feature*> chosen;
  for (const Feature& feature : features().first(count))
    chosen.push_back(&feature);
  return chosen;
}

Result<std::vector<const Feature*>> named_features(std::span<const std::string> names) {
  std::vector<const Feature*> chosen;
  for (const std::string& name : names) {
    auto found = std::ranges::find(kFeatures, name, &Feature::name);
    if (found == kFeatures.end())
      return fail(ErrorCode::bad_data, "compute the feature", fmt::format("'{}'", printable(name)),
                  "this program does not have it", "train the model again with hotset train");
    chosen.push_back(&*found);
  }
  return chosen;
}

std::string feature_hash(std::span<const Feature* const> chosen) {
  Fingerprint fingerprint;
  for (const Feature* feature : chosen)
    fingerprint.add(feature->name).add(feature->unit);
  return fingerprint.text();
}

std::vector<double> feature_values(std::span<const Feature* const> chosen, const History& history) {
  std::vector<double> values;
  values.reserve(chosen.size());
  for (const Feature* feature : chosen)
    values.push_back(feature->value(history));
  return values;
}

} // namespace hotset
