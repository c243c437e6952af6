// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hotset {
namespace {

constexpr std::string_view kLogBegin = "-- BEGIN PROG LOAD LOG --", kLogEnd = "-- END PROG LOAD LOG --";
// The kernel's own ENOTSUPP, which C libraries do not know.
constexpr int kNotSupported = 524;

struct Explanation {
  ErrorCode code;
  std::string cause;
  std::string remedy;
};

constexpr std::string_view kNoTypes = "this kernel carries no type information (BTF)";
constexpr std::string_view kTypesRemedy = "use a kernel built with CONFIG_DEBUG_INFO_BTF=y";

// What libbpf says decides before errno does, for errno is the same for many causes. First match wins.
struct Phrase {
  std::string_view text;
  std::string_view cause;
  std::string_view remedy;
};

constexpr std::array kPhrases{
    Phrase{"failed to find valid kernel BTF", kNoTypes, kTypesRemedy},
    Phrase{"Error loading vmlinux BTF", kNoTypes, kTypesRemedy},
    Phrase{"is not found in vmlinux BTF", "this kernel has no such function or tracepoint", ""},
    Phrase{"failed to find kernel BTF type ID", "this kernel has no such function or tracepoint", ""},
    Phrase{"legacy kprobe event", "this kernel has no kprobes", "use a kernel built with CONFIG_KPROBE_EVENTS=y"},
    Phrase{"failed to create kprobe", "this kernel has no such function that a kprobe can reach", ""},
    Phrase{"invalid func unknown#", "this kernel lacks a BPF helper that the program needs", "use a newer kernel"},
    Phrase{"unknown func ", "this kernel denies that kind of program a BPF helper it needs", "use a newer kernel"},
    // What a verifier that knows no callbacks (before Linux 5.13) makes of a program that has one.
    Phrase{"number of funcs in func_info doesn't match number of subprogs",
           "this kernel knows no callbacks in BPF programs (bpf_loop)", "use a newer kernel"},
    Phrase{"cannot use helper", "this kernel denies that kind of program a BPF helper it needs", "use a newer kernel"},
};

Explanation no_type_information(const Privileges& privileges) {
  if (!privileges.sysfs) return {ErrorCode::unsupported, std::string(kNoSysfsCause), std::string(kSysfsRemedy)};
  // It is there. libbpf, which looks for it in other places next, forgets why this one would not do.
  if (privileges.type_information)
    return {ErrorCode::internal,
            "the kernel's type information (BTF) could not be loaded: there is not enough memory for it, "
            "or it is newer than this hotset",
            "raise the memory limit of this process (ulimit -d, ulimit -v, its cgroup), or use a newer hotset"};
  return {ErrorCode::unsupported, std::string(kNoTypes), std::string(kTypesRemedy)};
}

bool is_permission(int number) {
  return number == EPERM || number == EACCES;
}

Explanation lockdown_explanation() {
  return {ErrorCode::unsupported, std::string(kLockdownCause), "boot with lockdown=integrity or none"};
}

// Under lockdown the verifier gives programs no helper that reads kernel memory, as if the kernel did not have it.
bool helper_is_locked_down(std::string_view log, const Privileges& privileges) {
  bool refused = log.find("unknown func bpf_probe_read") != std::string_view::npos ||
                 log.find("cannot use helper bpf_probe_read") != std::string_view::npos;
  return refused && privileges.lockdown == "confidentiality";
}

// Who said no. Memory limits are not among the causes: Linux 5.11 charges BPF memory to the cgroup, and before that
// libbpf raises the limit itself.
Explanation explain_permission(const Privileges& privileges) {
  if (!privileges.missing.empty())
    return {ErrorCode::permission,
            privileges.missing.size() == 1
                ? fmt::format("the capability {} is missing", privileges.missing.front())
                : fmt::format("the capabilities {} are missing", fmt::join(privileges.missing, ", ")),
            "run as root"};
  if (privileges.user_namespace)
    return {ErrorCode::permission, "root of a user namespace (a rootless container) may not load such programs",
            "run as root of the host"};
  if (privileges.lockdown == "confidentiality") return lockdown_explanation();
  if (privileges.seccomp_filter)
    return {ErrorCode::permission, "a seccomp filter forbids the bpf or perf_event_open call",
            "allow them in the container's seccomp profile"};
  return {ErrorCode::unsupported,
          "this kernel refuses programs of this kind, although no capability is missing and lockdown allows it", ""};
}

Explanation explain(int number, std::string_view log, const Privileges& privileges) {
  if (is_permission(number) && !privileges.missing.empty()) return explain_permission(privileges);
  if (helper_is_locked_down(log, privileges)) return lockdown_explanation();
  for (const Phrase& phrase : kPhrases)
    if (log.find(phrase.text) != std::string_view::npos && phrase.cause == kNoTypes)
      return no_type_information(privileges);
    else if (log.find(phrase.text) != std::string_view::npos)
      return {ErrorCode::unsupported, std::string(phrase.cause), std::string(phrase.remedy)};
  if (std::string reason = verifier_reason(log); !reason.empty())
    return {ErrorCode::unsupported, "the kernel's verifier rejects the program: " + reason,
            "please report it with the kernel's version"};
  if (is_permission(number)) return explain_permission(privileges);
  if (!privileges.type_information) return no_type_information(privileges);
  switch (number) {
    case ENOSYS:
      return {ErrorCode::unsupported, "this kernel has no bpf system call",
              "use a kernel built with CONFIG_BPF_SYSCALL=y"};
    case EINVAL:
    case EOPNOTSUPP:
    case kNotSupported:
      return {ErrorCode::unsupported, "this kernel does not know that kind of program or map", ""};
    case ENOMEM:
    case E2BIG:
      return {ErrorCode::internal, "there is not enough memory for its maps", "ask for smaller ones"};
    default:
      return {ErrorCode::internal, std::strerror(number), ""};
  }
}

} // namespace

std::string verifier_reason(std::string_view log) {
  std::size_t begin = log.rfind(kLogBegin), end = log.rfind(kLogEnd);
  if (end == std::string_view::npos) return {};
  std::size_t from = begin == std::string_view::npos || begin > end ? 0 : begin + kLogBegin.size();
  std::string_view body = log.substr(from, end - from);
  std::string reason;
  while (!body.empty()) {
    std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    bool counts = !line.empty() && !line.starts_with("processed ") && !line.starts_with("libbpf:") &&
                  !line.starts_with("verification time") && !line.starts_with("stack depth");
    if (counts) reason = line;
  }
  return reason;
}

Error bpf_error(int error_number, std::string operation, std::string object, std::string_view log,
                const Privileges& privileges) {
  Explanation why = explain(std::abs(error_number), log, privileges);
  return {why.code, std::move(operation), std::move(object), std::move(why.cause), std::move(why.remedy)};
}

} // namespace hotset
