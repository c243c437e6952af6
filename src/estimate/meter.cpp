// SPDX-License-Identifier: Apache-2.0
#include "estimate/meter.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::array kMethods{
    Method{"access", "reads Accessed bits: exact where the budget allows to clear what was touched, else by sample",
           "eBPF iterators of one task (Linux 6.1), as root", true, false, false, open_access_meter},
    Method{"exact", "the same, always clearing all that was touched", "the same", false, false, false,
           open_exact_meter},
    Method{"sample", "the same, always by sample", "the same", false, false, false, open_sample_meter},
    Method{"reference", "resets the referenced bits, waits, counts those set again (clear_refs, smaps)",
           "the process's own user or root", true, true, false, open_reference_meter},
    Method{"faults", "counts page faults in the kernel, which is no working set", "eBPF, as root", false, false, true,
           open_fault_meter},
};

} // namespace

std::span<const Method> methods() {
  return kMethods;
}

Result<OpenedMeter> open_meter(std::string_view name, const Files& files, const Process& target, Clock& clock,
                               const MeterOptions& options) {
  std::vector<MethodRefusal> refusals;
  for (const Method& method : kMethods) {
    const bool candidate = name == "auto" && method.automatic && (method.snapshots || !options.snapshot);
    if (name != method.name && !candidate) continue;
    Result<std::unique_ptr<Meter>> meter = method.open(files, target, clock, options);
    if (meter) return OpenedMeter{&method, *std::move(meter), std::move(refusals)};
    refusals.push_back({&method, std::move(meter).error()});
  }
  if (!refusals.empty()) return fail(std::move(refusals.back().error));
  return fail(ErrorCode::usage, "measure by", fmt::format("'{}'", printable(name)), "there is no such method",
              "see hotset measure --help");
}

} // namespace hotset
