// SPDX-License-Identifier: Apache-2.0
// What the running kernel says of itself to who would look into it: addresses of its symbols, and its types.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

struct btf;

namespace hotset {

// The addresses of the kernel's own symbols (no module's), by name; 0 for those that it does not show: built without
// CONFIG_KALLSYMS_ALL, where data is asked for, or hidden by kptr_restrict.
std::vector<std::uint64_t> kernel_addresses(const Files& files, std::span<const std::string_view> names);

// The kernel's type information.
class KernelTypes {
 public:
  static Result<KernelTypes> open();

  [[nodiscard]] bool has_function(std::string_view name) const;
  // A tracepoint that a program can attach to by its types: "sched_prepare_exec".
  [[nodiscard]] bool has_tracepoint(std::string_view name) const;
  [[nodiscard]] bool has_structure(std::string_view name) const;
  [[nodiscard]] bool has_member(std::string_view structure, std::string_view member) const;

 private:
  struct Free {
    void operator()(btf* types) const;
  };
  explicit KernelTypes(btf* types) : types_(types) {}
  std::unique_ptr<btf, Free> types_;
};

} // namespace hotset
