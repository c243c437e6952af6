// SPDX-License-Identifier: Apache-2.0
#include "estimate/meter.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::array kMethods{
    Method{"access", "reads Accessed bits: exact where the budget allows to clear what was touched, else by sample",
           "eBPF iterators of one task (Linux 6.1), as root", true, false, false, true, false, open_access_meter,
           open_group_access_meter},
    Method{"exact", "the same, clearing all that was touched as far as the budget goes, and the rest by sample",
           "the same", false, false, false, false, false, open_exact_meter, open_group_exact_meter},
    Method{"sample", "the same, always by sample", "the same", false, false, false, false, false, open_sample_meter,
           open_group_sample_meter},
    Method{"reference", "resets the referenced bits, waits, counts those set again (clear_refs, smaps)",
           "the process's own user or root", true, true, false, false, true, open_reference_meter},
    Method{"faults", "counts page faults in the kernel, which is no working set", "eBPF, as root", false, false, true,
           false, false, open_fault_meter},
};

// Opens the method of that name or, for "auto", the first that opens of those that fit.
template <class Fits, class Open>
Result<OpenedMeter> open_first(std::string_view name, Fits&& fits, Open&& open) {
  std::vector<MethodRefusal> refusals;
  for (const Method& method : kMethods) {
    if (name != method.name && !(name == "auto" && method.automatic && fits(method))) continue;
    Result<std::unique_ptr<Meter>> meter = open(method);
    if (meter) return OpenedMeter{&method, *std::move(meter), std::move(refusals)};
    refusals.push_back({&method, std::move(meter).error()});
  }
  if (!refusals.empty()) return fail(std::move(refusals.back().error));
  return fail(ErrorCode::usage, "measure by", fmt::format("'{}'", printable(name)), "there is no such method",
              "see hotset measure --help");
}

} // namespace

std::span<const Method> methods() {
  return kMethods;
}

Result<OpenedMeter> open_meter(std::string_view name, const Files& files, const Process& target, Clock& clock,
                               const MeterOptions& options) {
  return open_first(
      name, [&](const Method& method) { return method.snapshots || !options.snapshot; },
      [&](const Method& method) { return method.open(files, target, clock, options); });
}

Result<OpenedMeter> open_group_meter(std::string_view name, const Files& files, Group& target, Clock& clock,
                                     const MeterOptions& options) {
  return open_first(
      name, [](const Method& method) { return method.open_group != nullptr; },
      [&](const Method& method) -> Result<std::unique_ptr<Meter>> {
        if (method.open_group) return method.open_group(files, target, clock, options);
        return fail(
            ErrorCode::usage, "measure", target.describe(),
            fmt::format("--method {} measures single processes: it can't count a shared page once", method.name),
            "use --method access");
      });
}

} // namespace hotset
