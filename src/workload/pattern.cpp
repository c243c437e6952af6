// SPDX-License-Identifier: Apache-2.0
#include "workload/pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "base/units.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using enum Order;
using enum Schedule;
using enum Memory;

constexpr std::uint64_t kHeapAlignment = 16; // of malloc
constexpr double kMostSkew = 20;
constexpr std::uint64_t kMostChildren = 1024;

constexpr std::array kPatterns{
    Pattern{"array", "write each element of an int array, again and again (the published target)", sequential, steady,
            heap, false, false, 1.0, true, false, " --elements --fresh --reuse --mmap-threshold"},
    Pattern{"sequential", "touch the hot pages one after the other", sequential, steady, mapped, false, false, 1.0,
            true, false, ""},
    Pattern{"uniform", "touch hot pages drawn at random, each alike", uniform, steady, mapped, false, false, 1.0, true,
            false, ""},
    Pattern{"zipf", "touch hot pages drawn by Zipf's law", zipf, steady, mapped, false, false, 1.0, true, false,
            " --skew"},
    Pattern{"strided", "touch every n-th page of the hot share, in order", sequential, steady, mapped, true, false, 1.0,
            true, false, " --stride"},
    Pattern{"phase", "touch another hot set in each period", uniform, phases, mapped, false, false, 0.1, true, false,
            " --period"},
    Pattern{"ramp", "grow during a period, release all, and grow again", uniform, ramp, mapped, false, false, 1.0, true,
            false, " --period"},
    Pattern{"churn", "allocate, touch, and free: half a period with the memory, half without", sequential, churn,
            mapped, false, false, 1.0, true, false, " --period"},
    Pattern{"bursts", "touch for half a period, do nothing for the other half", uniform, bursts, mapped, false, false,
            1.0, true, false, " --period"},
    Pattern{"file", "touch pages of a mapped temporary file", uniform, steady, file, false, false, 1.0, false, true,
            " --directory"},
    Pattern{"fork", "fork children that touch what they inherited, each its own hot set", uniform, steady, mapped,
            false, true, 0.1, true, false, " --children"},
};

// Options that not every pattern takes, because of where its memory comes from.
constexpr std::string_view kMappingOptions = " --huge --no-huge --shared --private";
constexpr std::string_view kFileMappingOptions = " --shared --private";

bool lists(std::string_view options, std::string_view option) {
  return fmt::format("{} ", options).contains(fmt::format(" {} ", option));
}

std::unexpected<Error> refuse(std::string_view what, std::string cause, std::string remedy) {
  return fail(ErrorCode::usage, "start the workload", std::string(what), std::move(cause), std::move(remedy));
}

std::optional<std::uint64_t> available_bytes(const Files& files) {
  constexpr std::string_view kField = "MemAvailable:";
  Result<std::string> text = files.read("/proc/meminfo");
  if (!text) return std::nullopt;
  std::size_t at = text->find(kField);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(at + kField.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::optional<std::uint64_t> kilobytes = parse_u64(rest.substr(0, rest.find(' ')));
  if (!kilobytes) return std::nullopt;
  return *kilobytes * 1024;
}

// Region, records, and what children copy on writing.
double needed_bytes(const WorkloadSpec& spec) {
  auto region = static_cast<double>(spec.rss_bytes);
  double record = static_cast<double>(region_pages(spec)) * 2 * sizeof(std::uint32_t);
  if (!spec.pattern->forks) return region + record;
  double copies = spec.write && !spec.shared ? spec.hot : 0;
  auto children = static_cast<double>(spec.children);
  return region + record + children * (region * copies + record);
}

Result<> check_memory(const WorkloadSpec& spec, const Files& files) {
  std::uint64_t pages = region_pages(spec);
  if (pages > kTruthMaxPages)
    return refuse(fmt::format("of {}", human_bytes(spec.rss_bytes)),
                  fmt::format("the most is {}", human_bytes(kTruthMaxPages * page_bytes())), "choose a smaller one");
  std::optional<std::uint64_t> available = available_bytes(files);
  double needed = needed_bytes(spec);
  if (available && needed > static_cast<double>(*available))
    return refuse(fmt::format("of {}", human_bytes(spec.rss_bytes)),
                  fmt::format("it needs {} and {} are available", human_bytes(static_cast<std::uint64_t>(needed)),
                              human_bytes(*available)),
                  "choose a smaller one");
  return {};
}

} // namespace

std::span<const Pattern> patterns() {
  return kPatterns;
}

Result<const Pattern*> find_pattern(std::string_view name) {
  const auto* found = std::ranges::find(kPatterns, name, &Pattern::name);
  if (found != kPatterns.end()) return found;
  std::vector<std::string_view> names;
  for (const Pattern& pattern : kPatterns)
    names.push_back(pattern.name);
  return fail(ErrorCode::usage, "start the workload", fmt::format("'{}'", printable(name)), "there is no such pattern",
              fmt::format("choose one of {}", fmt::join(kPatterns | std::views::transform(&Pattern::name), ", ")));
}

bool takes(const Pattern& pattern, std::string_view option) {
  if (lists(pattern.options, option)) return true;
  if (lists(kMappingOptions, option))
    return pattern.memory == mapped || (pattern.memory == file && lists(kFileMappingOptions, option));
  // Any other option that some pattern calls its own is not for this one.
  return std::ranges::none_of(kPatterns, [&](const Pattern& other) { return lists(other.options, option); });
}

WorkloadSpec default_spec(const Pattern& pattern) {
  WorkloadSpec spec;
  spec.pattern = &pattern;
  spec.hot = pattern.hot;
  spec.write = pattern.write;
  spec.shared = pattern.shared;
  return spec;
}

std::uint64_t region_pages(const WorkloadSpec& spec) {
  std::uint64_t page = page_bytes();
  std::uint64_t before = spec.pattern->memory == heap ? page - kHeapAlignment : 0;
  return (before + spec.rss_bytes + page - 1) / page;
}

Result<> check_spec(const WorkloadSpec& spec, const Files& files) {
  if (spec.rss_bytes == 0) return refuse("of no memory", "", "give --rss (--elements for the array) a size above 0");
  if (!(spec.hot > 0 && spec.hot <= 1))
    return refuse("", fmt::format("a hot share of {} % has no meaning", spec.hot * 100),
                  "choose one above 0 % and at most 100 %");
  if (!std::isfinite(spec.rate) || spec.rate < 0 || spec.rate > 1e12)
    return refuse("", fmt::format("a rate of {} touches per second has no meaning", spec.rate),
                  "choose one from 0 (as fast as it can) to 1e12");
  if (!(spec.skew > 0 && spec.skew <= kMostSkew))
    return refuse("", fmt::format("a skew of {} has no meaning", spec.skew),
                  fmt::format("choose one above 0 and at most {}", kMostSkew));
  if (spec.stride == 0 || spec.stride > kTruthMaxPages)
    return refuse("", fmt::format("a stride of {} pages has no meaning", spec.stride),
                  fmt::format("choose one from 1 to {}", kTruthMaxPages));
  if (spec.children == 0 || spec.children > kMostChildren)
    return refuse(fmt::format("with {} children", spec.children), "",
                  fmt::format("choose a number from 1 to {}", kMostChildren));
  if (spec.period < std::chrono::milliseconds(1)) return refuse("", "the period is below 1 ms", "choose a longer one");
  return check_memory(spec, files);
}

} // namespace hotset
