// SPDX-License-Identifier: Apache-2.0
#include "estimate/meter.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::array kMethods{
    Method{"reference", "resets the referenced bits, waits, counts those set again (clear_refs, smaps)",
           "the process's own user or root", true, true, false, open_reference_meter},
    Method{"faults", "counts page faults in the kernel, which is no working set", "eBPF, as root", false, false, true,
           open_fault_meter},
};

} // namespace

std::span<const Method> methods() {
  return kMethods;
}

Result<OpenedMeter> open_meter(std::string_view name, const Files& files, const Process& target, Clock& clock) {
  std::optional<Error> refusal;
  for (const Method& method : kMethods) {
    if (name != method.name && !(name == "auto" && method.automatic)) continue;
    Result<std::unique_ptr<Meter>> meter = method.open(files, target, clock);
    if (meter) return OpenedMeter{&method, *std::move(meter)};
    refusal = std::move(meter).error();
  }
  if (refusal) return fail(*std::move(refusal));
  return fail(ErrorCode::usage, "measure by", fmt::format("'{}'", printable(name)), "there is no such method",
              "see hotset measure --help");
}

} // namespace hotset
