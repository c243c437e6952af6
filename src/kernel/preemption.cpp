// SPDX-License-Identifier: Apache-2.0
#include "kernel/preemption.h"

#include <fcntl.h>

#include "base/fd.h"
#include "kernel/private_mount.h"

namespace hotset {
namespace {

constexpr std::string_view kMode = "/sys/kernel/debug/sched/preempt"; // Linux 5.12, with CONFIG_PREEMPT_DYNAMIC

Result<std::string> read_mode(const Files& files) {
  bool recorded = !files.resolve("").empty(); // a tree of recorded text: the running kernel has no say
  if (recorded || files.exists(kMode)) return files.read(kMode);
  HOTSET_TRY(Fd debugfs, private_mount("debugfs"));
  Fd file(::openat(debugfs.get(), "sched/preempt", O_RDONLY | O_CLOEXEC));
  if (!file) return fail(ErrorCode::not_found, "read", std::string(kMode), "there is none");
  return read_all(file.get(), kMode);
}

} // namespace

bool preempts_itself(const Files& files) {
  if (Result<std::string> text = read_mode(files)) {
    std::string mode = parse_preemption(*text);
    return mode != "none" && mode != "voluntary";
  }
  Result<std::string> build = files.read("/proc/sys/kernel/version"); // "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-3"
  return !build || build->find("PREEMPT") != std::string::npos;
}

std::string parse_preemption(std::string_view text) {
  std::size_t open = text.find('('), close = text.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

} // namespace hotset
