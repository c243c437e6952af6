// SPDX-License-Identifier: Apache-2.0
#include "fault/program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/units.h"
#include "fault.skel.h"
#include "identity/process.h"
#include "kernel/time_namespace.h"

namespace hotset {
namespace {

constexpr std::string_view kName = "the fault program";

bool has_ring_buffer() {
  LibbpfLog quiet;
  return libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, nullptr) == 1;
}

void set_comm_filter(fault_bpf& object, std::string_view comm) {
  CommFilter filter = comm_filter(comm);
  std::memcpy(object.rodata->filter_comm, filter.wanted.data(), filter.wanted.size());
  std::memcpy(object.rodata->filter_comm_mask, filter.mask.data(), filter.mask.size());
}

void configure(fault_bpf& object, const FaultOptions& options, bool perf_buffer) {
  const FaultFilter& filter = options.filter;
  if (filter.kind == FaultFilter::Kind::pid) {
    object.rodata->filter_tgid = static_cast<std::uint32_t>(filter.process.pid);
    object.rodata->filter_start_ticks = filter.process.start_ticks;
  }
  if (filter.kind == FaultFilter::Kind::comm) set_comm_filter(object, filter.comm);
  object.rodata->pid_namespace = nested_pid_namespace();
  object.rodata->boot_offset_ns = time_offset(Files(), "boottime").count();
  object.rodata->pace_us =
      static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::microseconds>(options.pace).count());
  object.rodata->use_perf_buffer = perf_buffer;
}

void size_maps(fault_bpf& object, const FaultOptions& options, bool perf_buffer) {
  bool one_process = options.filter.kind == FaultFilter::Kind::pid;
  bpf_map__set_max_entries(object.maps.counts, one_process ? 1 : options.max_processes);
  bpf_map__set_autocreate(object.maps.perf_samples, perf_buffer);
  bpf_map__set_autocreate(object.maps.samples, !perf_buffer);
  auto page = static_cast<std::uint32_t>(page_bytes());
  bpf_map__set_max_entries(object.maps.samples, std::bit_ceil(std::max(options.buffer_bytes, page)));
}

} // namespace

void DestroyFaultObject::operator()(fault_bpf* object) const {
  fault_bpf::destroy(object);
}

Result<FaultProgram> FaultProgram::attach(const FaultOptions& options, const Hook& hook) {
  HOTSET_TRY(Skeleton<fault_bpf> object, open_skeleton<fault_bpf>(kName));
  FaultProgram program;
  program.object_.reset(object.release());
  program.hook_ = &hook;
  program.perf_buffer_ = options.perf_buffer || !has_ring_buffer();
  configure(*program.object_, options, program.perf_buffer_);
  size_maps(*program.object_, options, program.perf_buffer_);
  HOTSET_CHECK(load_only(*program.object_, hook.program, kName));
  program.object_->bss->attached_ns = static_cast<std::uint64_t>(SystemClock().now().count());
  HOTSET_TRY(program.attachment_, hotset::attach(*program.object_->obj, hook));
  return program;
}

int FaultProgram::buffer_fd() const {
  return bpf_map__fd(perf_buffer_ ? object_->maps.perf_samples : object_->maps.samples);
}

HashMap<fault_key, fault_count> FaultProgram::counts() const {
  return HashMap<fault_key, fault_count>(object_->maps.counts);
}

Result<std::uint64_t> FaultProgram::lost(fault_loss reason) const {
  return PerCpuArray<std::uint64_t>(object_->maps.losses).sum(reason);
}

Result<std::uint64_t> FaultProgram::skipped() const {
  return recursion_misses(*object_->obj, hook_->program);
}

Result<> try_page_fault_hook(const Hook& hook) {
  FaultOptions options;
  options.pace = Nanoseconds::zero();
  options.filter.kind = FaultFilter::Kind::pid; // of no process: the kernel pays next to nothing meanwhile
  options.filter.process.pid = 1;
  HOTSET_TRY(FaultProgram attached, FaultProgram::attach(options, hook));
  return {};
}

CommFilter comm_filter(std::string_view comm) {
  CommFilter filter;
  std::size_t length = std::min<std::size_t>(comm.size(), FAULT_COMM_BYTES - 1);
  std::copy_n(comm.begin(), length, filter.wanted.begin());
  std::fill_n(filter.mask.begin(), length + 1, '\xff');
  return filter;
}

} // namespace hotset
