// SPDX-License-Identifier: Apache-2.0
#include "fault/kinds.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/units.h"
#include "fault/program.h"
#include "faultkinds.skel.h"
#include "identity/process.h"
#include "kernel/bpf_map.h"
#include "kernel/loader.h"
#include "kernel/pins.h"
#include "kernel/symbols.h"
#include "kernel/time_namespace.h"
#include "window/start.h"
#include "window/type.h"

namespace hotset {
namespace {

constexpr std::string_view kName = "the program of fault kinds";
constexpr std::size_t kCounters = 8;
using FaultKindsWindow = std::array<std::uint64_t, WINDOW_WORDS(kCounters)>;

// The program looks mappings up in the maple tree.
Result<> check_kernel() {
  HOTSET_TRY(KernelTypes types, KernelTypes::open());
  if (!types.has_structure("maple_tree"))
    return fail(ErrorCode::unsupported, "tell the kinds of page faults", "",
                "this kernel keeps the mappings of a process in another way than the program reads",
                "use Linux 6.1 or newer");
  return {};
}

Result<> check_room(const FaultKindsOptions& options) {
  if (options.processes.size() <= options.max_processes && options.max_processes > 0) return {};
  return fail(ErrorCode::usage, "observe", fmt::format("{} processes", options.processes.size()),
              fmt::format("there is room for {}", options.max_processes), "make more with --processes");
}

void configure(faultkinds_bpf& object, const FaultKindsOptions& options, bool processes) {
  object.rodata->observe_processes = processes;
  object.rodata->pid_namespace = nested_pid_namespace();
  object.rodata->boot_offset_ns = time_offset(Files(), "boottime").count();
  if (!options.comm.empty()) {
    CommFilter filter = comm_filter(options.comm);
    std::memcpy(object.rodata->filter_comm, filter.wanted.data(), filter.wanted.size());
    std::memcpy(object.rodata->filter_comm_mask, filter.mask.data(), filter.mask.size());
  }
  bpf_map__set_max_entries(object.maps.processes, options.max_processes);
  bpf_map__set_autocreate(object.maps.processes, processes);
}

Result<> load(faultkinds_bpf& object) {
  std::vector<std::string_view> programs;
  for (const Hook& hook : fault_kind_hooks())
    programs.push_back(hook.program);
  choose_programs(*object.obj, programs);
  return load_skeleton(*object.skeleton, kName);
}

// The windows begin now: the host's, those of the named processes, and the one that others begin with.
Result<> start_windows(faultkinds_bpf& object, const FaultKindsOptions& options, bool processes) {
  HOTSET_CHECK(start_window({.window = bpf_map__fd(object.maps.faults)}));
  if (!processes) return {};
  HOTSET_TRY(KernelTime time, kernel_time());
  window_header header = window_started(time, WINDOW_STARTS, kCounters, WINDOW_JIFFIES);
  static_assert(sizeof(object.bss->fresh) == sizeof(FaultKindsWindow), "as many counters as the program has");
  std::memcpy(object.bss->fresh, &header, sizeof(header));
  for (const ProcessId& process : options.processes) {
    fault_key key{.start_ticks = process.start_ticks, .tgid = static_cast<std::uint32_t>(process.pid), .zero = 0};
    if (bpf_map_update_elem(bpf_map__fd(object.maps.processes), &key, object.bss->fresh, BPF_ANY) != 0)
      return fail(errno_error(errno, "observe", fmt::format("process {}", process.pid)));
  }
  return {};
}

} // namespace

void DestroyFaultKinds::operator()(faultkinds_bpf* object) const {
  faultkinds_bpf::destroy(object);
}

Result<FaultKinds> FaultKinds::attach(const FaultKindsOptions& options) {
  HOTSET_CHECK(check_kernel());
  HOTSET_CHECK(check_room(options));
  HOTSET_TRY(Skeleton<faultkinds_bpf> object, open_skeleton<faultkinds_bpf>(kName));
  FaultKinds kinds;
  kinds.object_.reset(object.release());
  kinds.processes_ = !options.processes.empty() || !options.comm.empty();
  configure(*kinds.object_, options, kinds.processes_);
  HOTSET_CHECK(load(*kinds.object_));
  HOTSET_CHECK(start_windows(*kinds.object_, options, kinds.processes_));
  for (const Hook& hook : fault_kind_hooks()) {
    HOTSET_TRY(Attachment attachment, hotset::attach(*kinds.object_->obj, hook));
    kinds.attachments_.push_back(std::move(attachment));
  }
  return kinds;
}

Result<std::vector<std::string>> FaultKinds::counters() {
  HOTSET_TRY(Skeleton<faultkinds_bpf> object, open_skeleton<faultkinds_bpf>(kName));
  std::optional<WindowType> type =
      window_type(*bpf_object__btf(object->obj), bpf_map__btf_value_type_id(object->maps.faults));
  if (!type) return fail(ErrorCode::internal, "name the counters of", std::string(kName), "its map is no window");
  return type->counters;
}

int FaultKinds::host_fd() const {
  return bpf_map__fd(object_->maps.faults);
}

int FaultKinds::processes_fd() const {
  return processes_ ? bpf_map__fd(object_->maps.processes) : -1;
}

Result<> FaultKinds::make_room(const Files& files) {
  if (!processes_) return {};
  const HashMap<fault_key, FaultKindsWindow> processes(object_->maps.processes);
  HOTSET_TRY(std::vector<fault_key> keys, processes.keys());
  if (keys.size() < processes.capacity()) return {};
  for (const fault_key& key : keys)
    if (!is_alive(files, {static_cast<pid_t>(key.tgid), key.start_ticks})) HOTSET_CHECK(processes.erase(key));
  return {};
}

Result<std::uint64_t> FaultKinds::missed() const {
  std::uint64_t sum = 0;
  for (const Hook& hook : fault_kind_hooks()) {
    HOTSET_TRY(std::uint64_t missed, recursion_misses(*object_->obj, hook.program));
    sum += missed;
  }
  return sum;
}

Result<> FaultKinds::pin(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  HOTSET_TRY(bool made, make_pin_folder(folder));
  if (!made)
    return fail(ErrorCode::usage, "pin in", printable(folder), "it exists already",
                "name a new folder, or remove that one (rm -r), which ends what is pinned there");
  Result<> pinned = pin_parts(folder);
  if (!pinned) {
    unpin(folder);
    return pinned;
  }
  // Destroying a link would switch its event off, pinned or not.
  for (Attachment& attachment : attachments_)
    for (auto& link : attachment)
      bpf_link__disconnect(link.get());
  return {};
}

Result<> FaultKinds::pin_parts(const std::string& folder) {
  HOTSET_CHECK(hotset::pin(host_fd(), folder + "/faults"));
  if (processes_) HOTSET_CHECK(hotset::pin(processes_fd(), folder + "/processes"));
  for (std::size_t i = 0; i < attachments_.size(); ++i)
    for (std::size_t cpu = 0; cpu < attachments_[i].size(); ++cpu) {
      std::string path = fmt::format("{}/{}_{}", folder, fault_kind_hooks()[i].program, cpu);
      HOTSET_CHECK(hotset::pin(bpf_link__fd(attachments_[i][cpu].get()), path));
    }
  return {};
}

} // namespace hotset
