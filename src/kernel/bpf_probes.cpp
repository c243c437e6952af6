// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <probe.skel.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/units.h"
#include "kernel/loader.h"

namespace hotset {
namespace {

Error refused(int error_number, std::string operation, std::string_view object) {
  return bpf_error(error_number, std::move(operation), std::string(object), "", read_privileges(Files()));
}

// CAP_BPF is all that a map needs.
Error map_refused(int error_number, std::string_view feature) {
  Privileges privileges = read_privileges(Files());
  std::erase(privileges.missing, capability_name(Capability::perfmon));
  return bpf_error(error_number, "make", std::string(feature), "", privileges);
}

std::unexpected<Error> never_ran(std::string_view program, std::string cause) {
  return fail(ErrorCode::unsupported, "run", std::string(program), std::move(cause));
}

struct Probe {
  Skeleton<probe_bpf> skeleton;
  bpf_program* program;

  [[nodiscard]] int fd() const { return bpf_program__fd(program); }
  [[nodiscard]] std::uint64_t calls() const { return skeleton->bss->calls; }
};

// The object with just that program loaded. `feature` is what errors call it.
Result<Probe> load(const char* name, std::string_view feature, std::uint64_t read_from = 0) {
  HOTSET_TRY(Skeleton<probe_bpf> skeleton, open_skeleton<probe_bpf>(feature));
  skeleton->rodata->read_from = read_from;
  HOTSET_CHECK(load_only(*skeleton, name, feature));
  bpf_program* program = bpf_object__find_program_by_name(skeleton->obj, name);
  return Probe{std::move(skeleton), program};
}

Result<> test_run(const Probe& probe, std::string_view feature) {
  bpf_test_run_opts options{};
  options.sz = sizeof(options);
  if (bpf_prog_test_run_opts(probe.fd(), &options) != 0) return fail(refused(errno, "run", feature));
  if (probe.calls() == 0) return never_ran(feature, "the kernel ran the program without its effect");
  return {};
}

Result<> load_and_test_run(const char* name, std::string_view feature) {
  HOTSET_TRY(Probe probe, load(name, feature));
  return test_run(probe, feature);
}

// Reads one object of an iterator. It is limited to our own process where the kernel can do that (Linux 6.1).
Result<Probe> read_iterator(const char* name, std::string_view feature) {
  HOTSET_TRY(Probe probe, load(name, feature));
  bpf_iter_link_info target{};
  target.task.pid = static_cast<std::uint32_t>(::getpid());
  bpf_link_create_opts options{};
  options.sz = sizeof(options);
  options.iter_info = &target;
  options.iter_info_len = sizeof(target);
  Fd link(bpf_link_create(probe.fd(), 0, BPF_TRACE_ITER, &options));
  if (!link) link = Fd(bpf_link_create(probe.fd(), 0, BPF_TRACE_ITER, nullptr));
  if (!link) return fail(refused(errno, "attach", feature));
  Fd iterator(bpf_iter_create(link.get()));
  if (!iterator) return fail(refused(errno, "open", feature));
  char byte = 0;
  if (::read(iterator.get(), &byte, 1) < 0) return fail(refused(errno, "read", feature));
  if (probe.calls() == 0) return never_ran(feature, "it visits nothing");
  return probe;
}

Result<Fd> make_map(bpf_map_type type, std::uint32_t key_bytes, std::uint32_t value_bytes, std::uint32_t entries,
                    std::uint32_t flags, std::string_view feature) {
  bpf_map_create_opts options{};
  options.sz = sizeof(options);
  options.map_flags = flags;
  Fd map(bpf_map_create(type, nullptr, key_bytes, value_bytes, entries, &options));
  if (!map) return fail(map_refused(errno, feature));
  return map;
}

} // namespace

Result<> try_iter_task() {
  HOTSET_TRY([[maybe_unused]] Probe probe, read_iterator("probe_iter_task", "iter/task"));
  return {};
}

Result<> try_iter_task_vma() {
  HOTSET_TRY([[maybe_unused]] Probe probe, read_iterator("probe_iter_task_vma", "iter/task_vma"));
  return {};
}

Result<> try_lsm() {
  HOTSET_TRY(Probe probe, load("probe_lsm", "an LSM program"));
  HOTSET_TRY([[maybe_unused]] Attachment attached, attach(*probe.program, "an LSM hook"));
  ::sched_getscheduler(0); // asks security_task_getscheduler
  if (probe.calls() == 0)
    return never_ran("an LSM program", "it loads and attaches, but is not called: 'bpf' is not among the active LSMs");
  return {};
}

Result<> try_syscall_program() {
  return load_and_test_run("probe_syscall", "a syscall program");
}

Result<> try_bpf_loop() {
  return load_and_test_run("probe_loop", "bpf_loop");
}

Result<> try_kernel_read(std::uint64_t address) {
  constexpr std::string_view kFeature = "bpf_probe_read_kernel";
  HOTSET_TRY(Probe probe, load("probe_kernel_read", kFeature, address));
  return test_run(probe, kFeature);
}

Result<> try_ring_buffer() {
  HOTSET_TRY([[maybe_unused]] Fd map,
             make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<std::uint32_t>(page_bytes()), 0, "a BPF ring buffer"));
  return {};
}

Result<> try_perf_buffer() {
  constexpr std::uint32_t kCell = sizeof(std::uint32_t);
  HOTSET_TRY(Fd map, make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, kCell, kCell, 1, 0, "a perf buffer"));
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_BPF_OUTPUT;
  attributes.sample_type = PERF_SAMPLE_RAW;
  // Any CPU does to find out, and the process's own needs no look at which are online.
  Fd event(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event) return fail(refused(errno, "open a perf event for", "a perf buffer"));
  std::uint32_t cpu = 0;
  int value = event.get();
  if (bpf_map_update_elem(map.get(), &cpu, &value, BPF_ANY) != 0) return fail(refused(errno, "fill", "a perf buffer"));
  return {};
}

Result<> try_mapped_array() {
  constexpr std::string_view kName = "a mapped array";
  HOTSET_TRY(Fd map, make_map(BPF_MAP_TYPE_ARRAY, sizeof(std::uint32_t), static_cast<std::uint32_t>(page_bytes()), 1,
                              BPF_F_MMAPABLE, kName));
  void* memory = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
  if (memory == MAP_FAILED) return fail(refused(errno, "map", kName));
  ::munmap(memory, page_bytes());
  return {};
}

Result<> try_map_without_memlock() {
  rlimit before{};
  if (::getrlimit(RLIMIT_MEMLOCK, &before) != 0) return fail(errno_error(errno, "read", "RLIMIT_MEMLOCK"));
  rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_MEMLOCK, &none);
  // By the bare call, for libbpf would raise the limit behind our back.
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = sizeof(std::uint32_t);
  attributes.value_size = sizeof(std::uint32_t);
  attributes.max_entries = 1;
  Fd map(static_cast<int>(::syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes))));
  int error = errno;
  ::setrlimit(RLIMIT_MEMLOCK, &before);
  if (!map) return fail(map_refused(error, "a map without locked memory"));
  return {};
}

} // namespace hotset
