// SPDX-License-Identifier: Apache-2.0
#include "kernel/loader.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/fd.h"
#include "kernel/object_info.h"
#include "kernel/tracepoint.h"

namespace hotset {
namespace {

Error why(int error_number, std::string operation, std::string_view object, const LibbpfLog& log) {
  return bpf_error(error_number, std::move(operation), std::string(object), log.text(), read_privileges(Files()));
}

// Of all processes, on one CPU; invalid on failure, with errno.
Fd open_perf_event(perf_event_attr attributes, int cpu) {
  attributes.size = sizeof(attributes);
  return Fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

Error perf_event_error(int error_number, int cpu) {
  return bpf_error(error_number, "open", fmt::format("a perf event on CPU {}", cpu), "", read_privileges(Files()));
}

Result<> hold(Attachment& attachment, bpf_link* link, std::string_view place, const LibbpfLog& log) {
  if (link == nullptr) return fail(why(errno, "attach to", place, log));
  attachment.emplace_back(link);
  return {};
}

Result<> hold_perf_event(Attachment& attachment, bpf_program* program, Fd event, const Hook& hook) {
  LibbpfLog log;
  bpf_link* link = bpf_program__attach_perf_event(program, event.get());
  HOTSET_CHECK(hold(attachment, link, hook.name, log));
  [[maybe_unused]] int owned_by_link = event.release();
  return {};
}

// One event for all CPUs: a tracepoint fires wherever it is passed.
Result<> attach_tracepoint(Attachment& attachment, bpf_program* program, const Hook& hook) {
  HOTSET_TRY(std::uint64_t id, tracepoint_id(Files(), hook.target));
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = id;
  Fd event = open_perf_event(attributes, 0);
  if (!event) return fail(perf_event_error(errno, 0));
  return hold_perf_event(attachment, program, std::move(event), hook);
}

struct SoftwareEvent {
  std::string_view name; // as perf(1) has it
  std::uint64_t config;
};
constexpr std::array kSoftwareEvents{
    SoftwareEvent{"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
    SoftwareEvent{"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
};

// A software event counts per CPU. The possible CPUs are tried, and those that are offline passed over.
Result<> attach_software_event(Attachment& attachment, bpf_program* program, const Hook& hook) {
  const auto* software = std::ranges::find(kSoftwareEvents, hook.target, &SoftwareEvent::name);
  if (software == kSoftwareEvents.end())
    return fail(ErrorCode::internal, "attach to", std::string(hook.name), "there is no such software event");
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = software->config;
  attributes.sample_period = 1;
  int cpus = libbpf_num_possible_cpus();
  for (int cpu = 0; cpu < cpus; ++cpu) {
    Fd event = open_perf_event(attributes, cpu);
    if (!event && errno == ENODEV) continue;
    if (!event) return fail(perf_event_error(errno, cpu));
    HOTSET_CHECK(hold_perf_event(attachment, program, std::move(event), hook));
  }
  return {};
}

Result<bpf_program*> find_program(const bpf_object& object, const char* operation, std::string_view of,
                                  std::string_view name) {
  if (bpf_program* program = bpf_object__find_program_by_name(&object, std::string(name).c_str())) return program;
  return fail(ErrorCode::internal, operation, std::string(of), "its program is not in the object");
}

} // namespace

void choose_programs(bpf_object& object, std::span<const std::string_view> wanted) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, &object) {
    bool chosen = std::ranges::find(wanted, std::string_view(bpf_program__name(program))) != wanted.end();
    bpf_program__set_autoload(program, chosen);
  }
}

Result<> load_skeleton(bpf_object_skeleton& skeleton, std::string_view name) {
  LibbpfLog log;
  if (int error = bpf_object__load_skeleton(&skeleton); error != 0) return fail(why(error, "load", name, log));
  return {};
}

Result<Attachment> attach(bpf_object& object, const Hook& hook) {
  Attachment attachment;
  HOTSET_TRY(bpf_program * program, find_program(object, "attach to", hook.name, hook.program));
  switch (hook.attach) {
    case Attach::tracepoint:
      HOTSET_CHECK(attach_tracepoint(attachment, program, hook));
      break;
    case Attach::perf_event:
      HOTSET_CHECK(attach_software_event(attachment, program, hook));
      break;
    case Attach::fexit:
    case Attach::fentry:
    case Attach::kprobe:
    case Attach::tp_btf:
    case Attach::raw_tp:
      return attach(*program, hook.name);
  }
  return attachment;
}

Result<Attachment> attach(const bpf_program& program, std::string_view place) {
  Attachment attachment;
  LibbpfLog log;
  HOTSET_CHECK(hold(attachment, bpf_program__attach(&program), place, log));
  return attachment;
}

Result<std::uint64_t> recursion_misses(const bpf_object& object, std::string_view name) {
  HOTSET_TRY(const bpf_program* program, find_program(object, "ask the kernel about", name, name));
  return recursion_misses(bpf_program__fd(program));
}

} // namespace hotset
