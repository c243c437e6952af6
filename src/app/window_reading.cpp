// SPDX-License-Identifier: Apache-2.0
#include "app/window_reading.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bpf/fault.h"
#include "identity/process.h"
#include "identity/target.h"
#include "window/fed.h"
#include "window/reader.h"

namespace hotset {
namespace {

std::string clock_name(window_clock clock) {
  return clock == WINDOW_JIFFIES ? "jiffies" : clock == WINDOW_BOOTTIME ? "boottime" : "";
}

// A process that has ended keeps its number; its name is gone.
void name_process(const Files& files, const fault_key& key, WindowLabel& label) {
  Process process{.id = {static_cast<pid_t>(key.tgid), key.start_ticks}, .comm = {}, .requested = 0};
  label.pid = key.tgid;
  Result<ProcessStat> stat = read_process_stat(files, process.id.pid);
  if (stat && stat->start_ticks == key.start_ticks) {
    process.comm = stat->comm;
    label.subject = describe(process);
  } else {
    label.subject = fmt::format("{} (ended)", key.tgid);
  }
}

void name_subject(const Files& files, const WindowMap& map, std::span<const std::byte> key, WindowLabel& label) {
  if (map.key_type == "fault_key" && key.size() == sizeof(fault_key)) {
    fault_key process{};
    std::memcpy(&process, key.data(), sizeof(process));
    name_process(files, process, label);
    return;
  }
  if (map.array()) {
    std::uint32_t index = 0;
    std::memcpy(&index, key.data(), sizeof(index));
    label.subject = fmt::format("number {}", index);
    return;
  }
  label.subject = "key ";
  for (std::byte byte : key)
    label.subject += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
}

Result<std::vector<WindowRatio>> parse_ratios(const WindowMap& map, const WindowQuestion& question) {
  std::vector<WindowRatio> ratios;
  for (const std::string& text : question.ratios) {
    HOTSET_TRY(WindowRatio ratio, parse_ratio(text, map.type.counters));
    ratios.push_back(std::move(ratio));
  }
  return ratios;
}

// What is in an array is under number 0; a map with keys says which.
Result<std::vector<MapKey>> keys_of(const WindowMap& map) {
  if (map.keyed()) return map.keys();
  return std::vector<MapKey>{MapKey(sizeof(std::uint32_t))};
}

WindowMaps maps_of(const WindowMap& map) {
  return {.window = map.fd.get(), .meta = map.meta ? map.meta.get() : -1};
}

} // namespace

Result<std::vector<WindowReading>> read_windows(const Files& files, const WindowMap& map,
                                                const WindowQuestion& question) {
  HOTSET_TRY(std::vector<WindowRatio> ratios, parse_ratios(map, question));
  HOTSET_TRY(std::vector<MapKey> keys, keys_of(map));
  std::vector<WindowReading> readings;
  HOTSET_TRY(WindowReader reader, WindowReader::open(maps_of(map)));
  const std::optional<bool> fed = is_fed(map);
  for (const MapKey& key : keys) {
    Result<WindowHistory> history = reader.read_key(key.data(), question.seconds);
    if (!history && history.error().code == ErrorCode::not_found) continue; // it has just gone
    if (!history) return fail(std::move(history).error());
    WindowReading reading{.label = {.name = map.type.name,
                                    .map = map.id,
                                    .clock = clock_name(history->clock()),
                                    .subject = {},
                                    .pid = {},
                                    .fed = fed},
                          .view = view_window(*history, map.type.counters, question.seconds, ratios)};
    if (map.keyed()) name_subject(files, map, key, reading.label);
    readings.push_back(std::move(reading));
  }
  return readings;
}

WindowListing list_window(const WindowMap& map) {
  WindowListing listing{
      .label = {.name = map.type.name, .map = map.id, .clock = {}, .subject = {}, .pid = {}, .fed = {}},
      .map_name = map.name,
      .counters = map.type.counters};
  Result<std::vector<MapKey>> keys = keys_of(map);
  Result<WindowReader> reader = WindowReader::open(maps_of(map));
  listing.windows = keys ? keys->size() : 0;
  if (reader && listing.windows > 0)
    if (Result<WindowHistory> history = reader->read_key(keys->front().data(), 0))
      listing.label.clock = clock_name(history->clock());
  auto cpus = static_cast<std::uint64_t>(std::max(1, libbpf_num_possible_cpus()));
  listing.bytes = std::uint64_t{map.max_entries} * map.value_bytes * (map.per_cpu() ? cpus : 1);
  return listing;
}

} // namespace hotset
