// SPDX-License-Identifier: Apache-2.0
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <memory>

#include "app/doctor_probes.h"
#include "base/units.h"
#include "fault/collector.h"
#include "kernel/bpf_error.h"
#include "kernel/bpf_probes.h"
#include "kernel/libbpf_log.h"
#include "kernel/preemption.h"

namespace hotset {
namespace {

constexpr std::string_view kBtfRemedy = "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y";

std::string_view remedy_of(Attach attach) {
  switch (attach) {
    case Attach::fexit:
    case Attach::fentry:
      return "boot a kernel that allows trampolines (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS), or use another hook";
    case Attach::kprobe:
      return "boot a kernel built with CONFIG_KPROBE_EVENTS=y, or use another hook";
    case Attach::tp_btf:
    case Attach::raw_tp:
    case Attach::tracepoint:
      return "boot a kernel with the tracepoint exceptions:page_fault_user, or use another hook";
    case Attach::perf_event:
      return "boot a kernel built with CONFIG_PERF_EVENTS=y, or use another hook";
  }
  return "";
}

Finding found_hook(const Machine& machine, const Hook& hook) {
  Finding finding = found(fmt::format("{}: {}", hook.name, hook.semantics));
  if (hook.misses_when_preempted && preempts_itself(machine.files)) {
    finding.last_resort = true;
    finding.detail += "; the last choice here, for this kernel preempts itself and then misses faults";
  }
  return finding;
}

} // namespace

Finding check_hook(const Machine& machine, Attach attach) {
  Result<> first_refusal;
  for (const Hook& hook : page_fault_hooks()) {
    if (hook.attach != attach) continue;
    Result<> tried = try_page_fault_hook(hook);
    if (tried) return found_hook(machine, hook);
    if (first_refusal) first_refusal = std::move(tried);
  }
  return judge(first_refusal, machine, remedy_of(attach));
}

Finding check_iter_task(const Machine& machine) {
  return judge(try_iter_task(), machine, "boot Linux 5.8 or newer with BTF");
}

Finding check_iter_task_vma(const Machine& machine) {
  return judge(try_iter_task_vma(), machine, "boot Linux 5.13 or newer with BTF");
}

Finding check_lsm(const Machine& machine) {
  return judge(
      try_lsm(), machine,
      "boot a kernel built with CONFIG_BPF_LSM=y and with 'bpf' in its lsm= parameter, which allows such programs",
      "loaded, attached and called");
}

Finding check_syscall_program(const Machine& machine) {
  return judge(try_syscall_program(), machine, "boot Linux 5.14 or newer");
}

Finding check_bpf_loop(const Machine& machine) {
  return judge(try_bpf_loop(), machine, "boot Linux 5.17 or newer");
}

Finding check_kernel_read(const Machine& machine) {
  return judge(try_kernel_read(), machine, "boot without lockdown=confidentiality");
}

Finding check_ring_buffer(const Machine& machine) {
  return judge(try_ring_buffer(), machine, "none is needed where map.perf_buffer is ok; else boot Linux 5.8 or newer");
}

Finding check_perf_buffer(const Machine& machine) {
  return judge(try_perf_buffer(), machine, "boot a kernel built with CONFIG_PERF_EVENTS=y");
}

Finding check_mapped_array(const Machine& machine) {
  return judge(try_mapped_array(), machine, "boot Linux 5.5 or newer");
}

Finding check_memlock(const Machine& machine) {
  Result<> without = try_map_without_memlock();
  if (without) return found("BPF memory is charged to the memory cgroup: ulimit -l does not matter");
  const Privileges& privileges = machine.privileges;
  bool refused_anyway = !privileges.missing.empty() || privileges.user_namespace || privileges.seccomp_filter;
  if (refused_anyway) return judge(without, machine, "");
  if (privileges.has(Capability::sys_resource))
    return found("BPF memory counts against ulimit -l, which hotset may raise (CAP_SYS_RESOURCE)");
  return obstacle(Barrier::privilege,
                  "BPF memory counts against ulimit -l, and CAP_SYS_RESOURCE to raise it is missing",
                  "raise it (ulimit -l unlimited), or boot Linux 5.11 or newer");
}

Finding check_btf(const Machine& machine) {
  constexpr std::string_view kPath = "/sys/kernel/btf/vmlinux";
  constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  if (!machine.privileges.sysfs)
    return obstacle(Barrier::not_mounted, std::string(kNoSysfsCause), std::string(kSysfsRemedy));
  if (!machine.files.exists(kPath))
    return obstacle(Barrier::kernel, "this kernel carries no type information (BTF)", std::string(kBtfRemedy));
  Result<std::string> raw = machine.files.read(kPath, kMostBytes);
  if (!raw) return judge(fail(std::move(raw).error()), machine, kBtfRemedy);
  LibbpfLog log;
  std::unique_ptr<btf, void (*)(btf*)> types(btf__new(raw->data(), static_cast<__u32>(raw->size())), btf__free);
  if (!types)
    return obstacle(Barrier::kernel, fmt::format("{} is not valid type information", kPath), std::string(kBtfRemedy));
  if (btf__find_by_name_kind(types.get(), "task_struct", BTF_KIND_STRUCT) < 0)
    return obstacle(Barrier::kernel, fmt::format("{} does not describe task_struct", kPath), std::string(kBtfRemedy));
  return found(fmt::format("{} types, {}", btf__type_cnt(types.get()) - 1, human_bytes(raw->size())));
}

} // namespace hotset
