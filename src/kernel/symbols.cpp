// SPDX-License-Identifier: Apache-2.0
#include "kernel/symbols.h"

#include <bpf/btf.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>

#include "kernel/bpf_error.h"
#include "kernel/libbpf_log.h"

namespace hotset {

std::vector<std::uint64_t> kernel_addresses(const Files& files, std::span<const std::string_view> names) {
  std::vector<std::uint64_t> addresses(names.size());
  // By lines, for the whole is some 10 MB: "ffffffff82c0a4c0 D rename_lock", and behind a tab the module if it is
  // one's.
  std::ifstream symbols(files.resolve("/proc/kallsyms"));
  for (std::string line; std::getline(symbols, line);) {
    std::size_t space = line.find(' ');
    if (space == std::string::npos || space + 3 > line.size()) continue;
    auto found = std::ranges::find(names, std::string_view(line).substr(space + 3));
    if (found == names.end()) continue;
    std::from_chars(line.data(), line.data() + space, addresses[static_cast<std::size_t>(found - names.begin())], 16);
  }
  return addresses;
}

void KernelTypes::Free::operator()(btf* types) const {
  btf__free(types);
}

Result<KernelTypes> KernelTypes::open() {
  LibbpfLog log;
  btf* types = btf__load_vmlinux_btf();
  if (types == nullptr)
    return fail(bpf_error(errno, "read", "the kernel's type information", log.text(), read_privileges(Files())));
  return KernelTypes(types);
}

bool KernelTypes::has_function(std::string_view name) const {
  return btf__find_by_name_kind(types_.get(), std::string(name).c_str(), BTF_KIND_FUNC) > 0;
}

bool KernelTypes::has_tracepoint(std::string_view name) const {
  return btf__find_by_name_kind(types_.get(), ("btf_trace_" + std::string(name)).c_str(), BTF_KIND_TYPEDEF) > 0;
}

bool KernelTypes::has_structure(std::string_view name) const {
  return btf__find_by_name_kind(types_.get(), std::string(name).c_str(), BTF_KIND_STRUCT) > 0;
}

bool KernelTypes::has_member(std::string_view structure, std::string_view member) const {
  std::int32_t id = btf__find_by_name_kind(types_.get(), std::string(structure).c_str(), BTF_KIND_STRUCT);
  if (id <= 0) return false;
  const btf_type* type = btf__type_by_id(types_.get(), static_cast<std::uint32_t>(id));
  std::span<const btf_member> members(btf_members(type), btf_vlen(type));
  return std::ranges::any_of(members, [&](const btf_member& one) {
    return std::string_view(btf__name_by_offset(types_.get(), one.name_off)) == member;
  });
}

} // namespace hotset
