// SPDX-License-Identifier: Apache-2.0
// Starts the window, attaches the program, and prints each second what was counted in the one before.
#include <bpf/libbpf.h>
#include <unistd.h>
#include <window/reader.h>
#include <window/start.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "syscalls.skel.h"

namespace {

hotset::Result<> count(syscalls_bpf& object, int seconds) {
  hotset::WindowMaps maps{.window = bpf_map__fd(object.maps.syscalls)};
  HOTSET_CHECK(hotset::start_window(maps)); // before a program counts
  if (syscalls_bpf::attach(&object) != 0) return hotset::fail(hotset::errno_error(errno, "attach", "the program"));

  HOTSET_TRY(hotset::WindowReader reader, hotset::WindowReader::open(maps));
  for (int second = 0; second < seconds; ++second) {
    ::sleep(1);
    HOTSET_TRY(hotset::WindowHistory history, reader.read());
    hotset::WindowSpan last = history.last(1), minute = history.last(60);
    std::printf("openat %lu, execve %lu, others %lu; openat over %lu s: %.1f/s\n", last.sums[0], last.sums[1],
                last.sums[2], minute.known, minute.rate(0).value_or(0));
    std::fflush(stdout);
  }
  return {};
}

} // namespace

int main(int argc, char** argv) {
  syscalls_bpf* object = syscalls_bpf::open_and_load();
  if (object == nullptr) return 1; // libbpf has said why
  hotset::Result<> counted = count(*object, argc > 1 ? std::atoi(argv[1]) : 10);
  if (!counted) std::fprintf(stderr, "%s\n", hotset::to_sentence(counted.error()).c_str());
  syscalls_bpf::destroy(object);
  return counted ? 0 : static_cast<int>(counted.error().code);
}
