// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "app/doctor_probes.h"
#include "base/units.h"
#include "model/lightgbm.h"

namespace hotset {
namespace {

// The cgroup v1 mount of a controller, null when it is not on v1.
const Mount* v1_controller(const Machine& machine, std::string_view controller) {
  auto mount = std::ranges::find_if(machine.mounts, [controller](const Mount& candidate) {
    return candidate.type == "cgroup" && candidate.has_option(controller);
  });
  return mount == machine.mounts.end() ? nullptr : &*mount;
}

bool knows_file_system(const Machine& machine, std::string_view type) {
  Result<std::string> known = machine.files.read("/proc/filesystems");
  return known && known->find(fmt::format("\t{}\n", type)) != std::string::npos;
}

bool has_word(std::string_view text, std::string_view word) {
  std::string padded = fmt::format(" {} ", text.substr(0, text.find('\n')));
  return padded.find(fmt::format(" {} ", word)) != std::string::npos;
}

} // namespace

Finding check_release(const Machine& machine) {
  std::string text = printable(fmt::format("{} {}", machine.release, machine.arch));
  if (machine.arch == "x86_64") return found(text);
  return obstacle(Barrier::build, fmt::format("{} is not an architecture that hotset was tried on", text),
                  "use an x86_64 machine");
}

Finding check_cgroup_version(const Machine& machine) {
  const Mount* v1 = find_mount(machine.mounts, "cgroup");
  const Mount* v2 = find_mount(machine.mounts, "cgroup2");
  if (v1 != nullptr && v2 != nullptr) return found(fmt::format("hybrid: v1, and v2 at {}", printable(v2->point)));
  if (v2 != nullptr) return found(fmt::format("v2 at {}", printable(v2->point)));
  if (v1 != nullptr) return found("v1");
  bool known = knows_file_system(machine, "cgroup") || knows_file_system(machine, "cgroup2");
  if (!known) return obstacle(Barrier::kernel, "this kernel has no control groups", "boot one with CONFIG_CGROUPS=y");
  return obstacle(Barrier::not_mounted, "no cgroup file system is mounted", "mount -t cgroup2 cgroup2 /sys/fs/cgroup");
}

Finding check_cgroup_memory(const Machine& machine) {
  if (const Mount* v1 = v1_controller(machine, "memory"))
    return found(fmt::format("on cgroup v1 at {}", printable(v1->point)));
  if (const Mount* v2 = find_mount(machine.mounts, "cgroup2")) {
    Result<std::string> controllers = machine.files.read(v2->point + "/cgroup.controllers");
    if (controllers && has_word(*controllers, "memory"))
      return found(fmt::format("on cgroup v2 at {}", printable(v2->point)));
  }
  return obstacle(Barrier::disabled, "no mounted cgroup hierarchy has the memory controller",
                  "boot a kernel built with CONFIG_MEMCG=y, with cgroup_enable=memory, and mount it");
}

Finding check_psi(const Machine& machine) {
  constexpr std::string_view kPath = "/proc/pressure/memory";
  constexpr std::string_view kRemedy = "boot a kernel built with CONFIG_PSI=y, with the parameter psi=1";
  if (!machine.files.exists(kPath))
    return obstacle(Barrier::disabled, "pressure stall information is off, or not in this kernel",
                    std::string(kRemedy));
  Result<std::string> text = machine.files.read(kPath);
  if (!text && text.error().code == ErrorCode::unsupported)
    return obstacle(Barrier::disabled, "pressure stall information is off", std::string(kRemedy));
  if (!text) return judge(fail(std::move(text).error()), machine, kRemedy);
  if (!text->starts_with("some "))
    return obstacle(Barrier::kernel, "/proc/pressure/memory is in a form that is not known", std::string(kRemedy));
  return found(text->substr(0, text->find('\n')));
}

Finding check_proc(const Machine& machine) {
  const Mount* proc = find_mount(machine.mounts, "proc");
  if (proc == nullptr) return obstacle(Barrier::not_mounted, "/proc is not mounted", "mount -t proc proc /proc");
  bool hides = std::ranges::any_of(proc->options, [](const std::string& option) {
    return option.starts_with("hidepid=") && option != "hidepid=0" && option != "hidepid=off";
  });
  if (hides && !machine.privileges.has(Capability::sys_ptrace))
    return obstacle(Barrier::privilege, "/proc hides the processes of other users (hidepid)",
                    "run as root, or with CAP_SYS_PTRACE");
  return found(printable(proc->point));
}

Finding check_mount(const Machine& machine, std::string_view type, std::string_view point) {
  const Mount* mount = find_mount(machine.mounts, type);
  if (mount == nullptr && !knows_file_system(machine, type))
    return obstacle(Barrier::kernel, fmt::format("this kernel has no file system of type {}", type),
                    "none is needed for the main job");
  if (mount == nullptr)
    return obstacle(Barrier::not_mounted, fmt::format("no file system of type {} is mounted", type),
                    fmt::format("mount -t {0} {0} {1}", type, point));
  Result<std::vector<std::string>> names = machine.files.list(mount->point);
  if (!names) return judge_file(fail(std::move(names).error()), machine, Capability::dac_override, "run as root");
  return found(printable(mount->point));
}

Finding check_lightgbm(const Machine&) {
  if (lightgbm_available()) return found(fmt::format("LightGBM {}", lightgbm_version()));
  return obstacle(Barrier::build, "this program was built without LightGBM",
                  "install LightGBM (./run setup) and build again, to train and to estimate by a model");
}

} // namespace hotset
