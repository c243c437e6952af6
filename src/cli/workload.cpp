// SPDX-License-Identifier: Apache-2.0
// hotset workload PATTERN: a known-answer memory workload (docs/workloads.md).
#include "cli/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/command.h"
#include "present/json.h"
#include "present/output.h"
#include "workload/run.h"

namespace hotset {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostThreshold = std::uint64_t{32} << 20; // glibc's own bound

struct Options {
  CLI::App* app = nullptr;
  std::string pattern, rss, hot, rate, seed, seconds, elements, mmap_threshold, stride, period, skew, children;
  std::string directory;
  bool list = false, json = false;
  bool scattered = false, contiguous = false, write = false, read = false, shared = false, is_private = false;
  bool huge = false, no_huge = false, fresh = false, reuse = false, unpublished = false;
};

std::unexpected<Error> refuse(std::string_view option, std::string_view text, std::string cause, std::string remedy) {
  return fail(ErrorCode::usage, "read", fmt::format("{} '{}'", option, printable(text)), std::move(cause),
              std::move(remedy));
}

Result<double> number(std::string_view option, std::string_view text, double least, double most) {
  std::optional<double> value = parse_finite(text);
  if (!value || *value < least || *value > most)
    return refuse(option, text, "it is not a number in range", fmt::format("give one from {} to {}", least, most));
  return *value;
}

Result<std::uint64_t> count(std::string_view option, std::string_view text, std::uint64_t most) {
  Result<std::uint64_t> value = parse_count(text);
  if (!value || *value == 0 || *value > most)
    return refuse(option, text, "it is not a whole number in range",
                  fmt::format("give one from 1 to {}, or like 2^20", most));
  return value;
}

// "1%" or "1": per cent of the pages.
Result<double> share(std::string_view text) {
  std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  std::optional<double> percent = parse_finite(digits);
  if (!percent || *percent <= 0 || *percent > 100)
    return refuse("--hot", text, "it is not a share", "give a percentage above 0 and at most 100, like 1%");
  return *percent / 100;
}

// Options that exclude each other, and those that the pattern does not take.
Result<> check_combination(const Options& options, const Pattern& pattern) {
  for (const CLI::Option* option : options.app->get_options()) {
    if (option->count() == 0 || takes(pattern, option->get_name())) continue;
    return fail(ErrorCode::usage, "start the workload", "",
                fmt::format("{} takes no {}", pattern.name, option->get_name()), "see hotset workload --list");
  }
  return {};
}

Result<> read_sizes(const Options& options, WorkloadSpec& spec) {
  if (!options.rss.empty()) {
    HOTSET_TRY(spec.rss_bytes, parse_bytes(options.rss));
  } else if (spec.pattern->memory == Memory::heap) {
    HOTSET_TRY(std::uint64_t elements,
               count("--elements", options.elements.empty() ? "2^20" : options.elements, kMostElements));
    spec.rss_bytes = elements * sizeof(int);
  }
  if (!options.mmap_threshold.empty()) {
    HOTSET_TRY(spec.mmap_threshold, parse_bytes(options.mmap_threshold));
    if (*spec.mmap_threshold > kMostThreshold)
      return refuse("--mmap-threshold", options.mmap_threshold, "the allocator takes at most 32 MiB",
                    "give a smaller one");
  }
  return {};
}

Result<> read_numbers(const Options& options, WorkloadSpec& spec) {
  if (!options.hot.empty()) {
    HOTSET_TRY(spec.hot, share(options.hot));
  }
  if (!options.rate.empty()) {
    HOTSET_TRY(spec.rate, number("--rate", options.rate, 0, 1e12));
  }
  if (!options.seed.empty()) {
    std::optional<std::uint64_t> seed = parse_u64(options.seed);
    if (!seed) return refuse("--seed", options.seed, "it is not a whole number", "give one from 0 to 2^64 - 1");
    spec.seed = *seed;
  }
  if (!options.seconds.empty()) {
    HOTSET_TRY(spec.limit, parse_duration(options.seconds));
  }
  if (!options.period.empty()) {
    HOTSET_TRY(spec.period, parse_duration(options.period));
  }
  if (!options.skew.empty()) {
    HOTSET_TRY(spec.skew, number("--skew", options.skew, 0.01, 20));
  }
  if (!options.stride.empty()) {
    HOTSET_TRY(spec.stride, count("--stride", options.stride, kMostElements));
  }
  if (!options.children.empty()) {
    HOTSET_TRY(spec.children, count("--children", options.children, 1024));
  }
  return {};
}

Result<WorkloadSpec> read_spec(const Options& options) {
  if (options.pattern.empty())
    return fail(ErrorCode::usage, "start the workload", "", "no pattern is given", "see hotset workload --list");
  HOTSET_TRY(const Pattern* pattern, find_pattern(options.pattern));
  HOTSET_CHECK(check_combination(options, *pattern));
  WorkloadSpec spec = default_spec(*pattern);
  HOTSET_CHECK(read_sizes(options, spec));
  HOTSET_CHECK(read_numbers(options, spec));
  spec.scattered = options.scattered;
  spec.write = options.write || (spec.write && !options.read);
  spec.shared = options.shared || (spec.shared && !options.is_private);
  spec.huge = options.huge;
  spec.fresh = options.fresh;
  spec.publish = !options.unpublished;
  if (!options.directory.empty()) spec.directory = options.directory;
  return spec;
}

Result<> list_patterns(Output& output, bool json) {
  if (json) {
    Json rows = Json::array();
    for (const Pattern& pattern : patterns())
      rows.push_back({{"name", pattern.name}, {"summary", pattern.summary}, {"hot", pattern.hot}});
    return output.line(json_line({{"schema", "hotset.workloads/1"}, {"patterns", std::move(rows)}}));
  }
  std::string text = fmt::format("{:<11}{:<6}{}", "PATTERN", "HOT", "WHAT IT DOES");
  for (const Pattern& pattern : patterns()) {
    text += fmt::format("\n{:<11}{:<6}{}", pattern.name, fmt::format("{:.0f}%", pattern.hot * 100), pattern.summary);
    if (!pattern.options.empty()) text += fmt::format("\n{:17}its own:{}", "", pattern.options);
  }
  return output.line(text);
}

std::string ready_line(const WorkloadSpec& spec, const WorkloadReady& ready, bool json) {
  if (!json)
    return fmt::format("ready pid={} pages={} hot_pages={} address={:#x}{}{}", ready.pid, ready.pages, ready.hot_pages,
                       ready.address, ready.children.empty() ? "" : " children=", fmt::join(ready.children, ","));
  return json_line({{"schema", "hotset.workload/1"},
                    {"event", "ready"},
                    {"pattern", spec.pattern->name},
                    {"pid", ready.pid},
                    {"pages", ready.pages},
                    {"hot_pages", ready.hot_pages},
                    {"page_bytes", page_bytes()},
                    {"address", ready.address},
                    {"children", ready.children}});
}

std::string summary_line(const WorkloadSummary& summary, bool json) {
  double rate = summary.seconds > 0 ? static_cast<double>(summary.touches) / summary.seconds : 0;
  if (!json)
    return fmt::format("done touches={} passes={} seconds={:.3f} rate={:.0f}", summary.touches, summary.passes,
                       summary.seconds, rate);
  return json_line({{"schema", "hotset.workload/1"},
                    {"event", "done"},
                    {"touches", summary.touches},
                    {"passes", summary.passes},
                    {"seconds", summary.seconds},
                    {"rate", rate}});
}

Result<int> work(const Options& options) {
  Output output;
  if (options.list) {
    HOTSET_CHECK(list_patterns(output, options.json));
    HOTSET_CHECK(output.finish());
    return 0;
  }
  HOTSET_TRY(const WorkloadSpec spec, read_spec(options));
  SystemClock clock;
  Result<> said;
  WorkloadHooks hooks{
      .ready = [&](const WorkloadReady& ready) { said = output.line(ready_line(spec, ready, options.json)); },
      .stop = [&] { return interrupt_requested() || !said; },
  };
  Result<WorkloadSummary> summary = run_workload(spec, Files(), clock, hooks);
  HOTSET_CHECK(said);
  if (!summary) return fail(std::move(summary).error());
  HOTSET_CHECK(output.line(summary_line(*summary, options.json)));
  HOTSET_CHECK(output.finish());
  return 0;
}

void declare_shape(CLI::App& app, Options& options) {
  app.add_option("--rss", options.rss, "Size of the region, like 64MiB (the default)");
  app.add_option("--hot", options.hot, "Share of its pages that is touched, like 1%");
  app.add_option("--rate", options.rate, "Page touches per second; 0, the default: as fast as it can");
  app.add_option("--seed", options.seed, "Of all that is random (default 1)");
  app.add_option("--seconds", options.seconds, "Time limit, like 10 or 500ms; without: until SIGTERM or Ctrl-C");
  auto* contiguous = app.add_flag("--contiguous", options.contiguous, "The hot pages lie side by side (default)");
  app.add_flag("--scattered", options.scattered, "The hot pages lie all over the region")->excludes(contiguous);
  auto* write = app.add_flag("--write", options.write, "Touch by writing (default, but for file)");
  app.add_flag("--read", options.read, "Touch by reading")->excludes(write);
  auto* is_private = app.add_flag("--private", options.is_private, "MAP_PRIVATE (default, but for file)");
  app.add_flag("--shared", options.shared, "MAP_SHARED")->excludes(is_private);
  auto* no_huge = app.add_flag("--no-huge", options.no_huge, "MADV_NOHUGEPAGE (default)");
  app.add_flag("--huge", options.huge, "MADV_HUGEPAGE")->excludes(no_huge);
}

void declare_own(CLI::App& app, Options& options) {
  app.add_option("--elements", options.elements, "array: number of ints, like 2^20 (the default)")
      ->excludes(app.get_option("--rss"));
  auto* reuse = app.add_flag("--reuse", options.reuse, "array: allocated once (default)");
  app.add_flag("--fresh", options.fresh, "array: allocated anew for each pass")->excludes(reuse);
  app.add_option("--mmap-threshold", options.mmap_threshold, "array: pin malloc's threshold of mapping, like 128KiB");
  app.add_option("--stride", options.stride, "strided: touch every n-th page (default 16)");
  app.add_option("--period", options.period, "phase, ramp, churn, bursts: length of a period (default 2s)");
  app.add_option("--skew", options.skew, "zipf: exponent of the law (default 0.99)");
  app.add_option("--children", options.children, "fork: number of children (default 2)");
  app.add_option("--directory", options.directory, "file: where to make the temporary file (default /tmp)");
  app.add_flag("--no-record", options.unpublished, "Don't publish what is touched, to see what publishing costs");
}

void declare(CLI::App& app, Options& options) {
  app.add_option("pattern", options.pattern, "Which; see --list");
  app.add_flag("--list", options.list, "List the patterns");
  app.add_flag("--json", options.json, "Print JSON objects, one a line");
  declare_shape(app, options);
  declare_own(app, options);
}

} // namespace

Result<WorkloadSpec> parse_workload(std::vector<std::string> arguments) {
  CLI::App app;
  Options options;
  options.app = &app;
  declare(app, options);
  std::ranges::reverse(arguments); // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::usage, "read the command line", "", error.what());
  }
  return read_spec(options);
}

Action declare_workload(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  options->app = &app;
  declare(app, *options);
  return [options] { return work(*options); };
}

} // namespace hotset
