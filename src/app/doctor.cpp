// SPDX-License-Identifier: Apache-2.0
#include "app/doctor.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "app/doctor_probes.h"
#include "kernel/bpf_error.h"

namespace hotset {
namespace {

Barrier barrier_of(const Error& error, const Machine& machine) {
  if (error.cause == kLockdownCause) return Barrier::lockdown;
  switch (error.code) {
    case ErrorCode::permission: {
      bool by_user = !machine.privileges.missing.empty();
      bool by_container = machine.privileges.user_namespace || machine.privileges.seccomp_filter;
      return !by_user && by_container ? Barrier::environment : Barrier::privilege;
    }
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
      return error.cause == kNoSysfsCause ? Barrier::not_mounted : Barrier::kernel;
    default:
      return Barrier::failed;
  }
}

std::string_view part_name(Part part) {
  switch (part) {
    case Part::none:
      return "";
    case Part::fault_hook:
      return "a page-fault hook";
    case Part::transport:
      return "a buffer for samples";
    case Part::reset:
      return "a way to reset referenced bits";
    case Part::reading:
      return "a way to read referenced bits";
  }
  return "";
}

} // namespace

Finding judge(const Result<>& tried, const Machine& machine, std::string_view kernel_remedy, std::string detail) {
  if (tried) return found(std::move(detail));
  const Error& error = tried.error();
  if (error.code == ErrorCode::not_applicable) return not_applicable(error.cause);
  Barrier barrier = barrier_of(error, machine);
  std::string remedy = error.remedy.empty() ? std::string(kernel_remedy) : error.remedy;
  if (remedy.empty()) remedy = "please report it with the kernel's version";
  return obstacle(barrier, error.cause, std::move(remedy));
}

Finding judge_file(const Result<>& tried, const Machine& machine, Capability needed, std::string_view kernel_remedy,
                   std::string detail) {
  if (tried || tried.error().code != ErrorCode::permission || machine.privileges.has(needed))
    return judge(tried, machine, kernel_remedy, std::move(detail));
  return obstacle(Barrier::privilege, fmt::format("{} is missing", capability_name(needed)), "run as root");
}

Machine look_around(const Files& files) {
  Machine machine{files, read_privileges(files), {}, {}, {}};
  if (Result<std::vector<Mount>> mounts = read_mounts(files)) machine.mounts = *std::move(mounts);
  utsname name{};
  if (::uname(&name) == 0) {
    machine.release = name.release;
    machine.arch = name.machine;
  }
  return machine;
}

DoctorReport run_doctor(const Files& files) {
  Machine machine = look_around(files);
  DoctorReport report{fmt::format("{} {}", machine.release, machine.arch), {}};
  for (const Check& check : doctor_checks())
    report.checks.push_back({check.name, check.group(), check.part, check.probe(machine)});
  return report;
}

std::string doctor_table() {
  std::string table = "| check | tries | needed for the main job |\n|---|---|---|\n";
  for (const Check& check : doctor_checks())
    table += fmt::format("| `{}` | {} | {} |\n", check.name, check.purpose, part_name(check.part));
  return table;
}

} // namespace hotset
