// SPDX-License-Identifier: Apache-2.0
// Loading BPF objects in visible steps: open the skeleton, configure its read-only data and maps, load, attach.
//
//   HOTSET_TRY(Skeleton<fault_bpf> object, open_skeleton<fault_bpf>("the fault program"));
//   object->rodata->filter_tgid = …;
//   HOTSET_CHECK(load_only(*object, hook.program, "the fault program"));
//   HOTSET_TRY(Attachment attachment, attach(*object->obj, hook));
//
// Each step's failure is an Error with the real cause (kernel/bpf_error.h); libbpf prints nothing.
#pragma once

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_error.h"
#include "kernel/hooks.h"
#include "kernel/libbpf_log.h"

namespace hotset {

template <class S>
struct DestroySkeleton {
  void operator()(S* skeleton) const { S::destroy(skeleton); }
};
// A generated skeleton with its owner: destroyed, its programs, maps and links are gone from the kernel.
template <class S>
using Skeleton = std::unique_ptr<S, DestroySkeleton<S>>;

// `name`: what to call it in errors, "the fault program".
template <class S>
Result<Skeleton<S>> open_skeleton(std::string_view name) {
  LibbpfLog log;
  S* skeleton = S::open();
  if (skeleton == nullptr)
    return fail(bpf_error(errno, "open", std::string(name), log.text(), read_privileges(Files())));
  return Skeleton<S>(skeleton);
}

// Sets the programs of these names to be loaded, and no other.
void choose_programs(bpf_object& object, std::span<const std::string_view> programs);
// Loads into the kernel the programs and maps that are set to be loaded. From then on the skeleton's global variables
// (`bss`, `data`) are the kernel's; loading the bare bpf_object would leave them a copy that nobody sees.
Result<> load_skeleton(bpf_object_skeleton& skeleton, std::string_view name);
// Both, on a generated skeleton.
template <class S>
Result<> load_only(S& object, std::string_view program, std::string_view name) {
  choose_programs(*object.obj, {&program, 1});
  return load_skeleton(*object.skeleton, name);
}

struct DestroyLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
// What holds a program at its hook: one link, or one per CPU for a perf event. Destroyed: detached.
using Attachment = std::vector<std::unique_ptr<bpf_link, DestroyLink>>;

// Attaches the loaded program of `hook`.
Result<Attachment> attach(bpf_object& object, const Hook& hook);
// Attaches a loaded program to what its section names, which errors call `place`.
Result<Attachment> attach(const bpf_program& program, std::string_view place);

// How often the kernel skipped that loaded program (kernel/object_info.h).
Result<std::uint64_t> recursion_misses(const bpf_object& object, std::string_view program);

} // namespace hotset
