// SPDX-License-Identifier: Apache-2.0
// A process that takes so many faults of one kind when told to, and what the windows of fault kinds say of it.
#include "fault/kinds.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>

#include "bpf/fault.h"
#include "kernel/pins.h"
#include "kernel/private_mount.h"
#include "missing.h"
#include "window/reader.h"

namespace hotset {
namespace {

constexpr std::size_t kPages = 500, kPageBytes = 4096, kBytes = kPages * kPageBytes;
// What a process takes besides: its stack, its program, what talking to us takes.
constexpr std::uint64_t kOthers = 60;
constexpr std::array kNames{"user", "kernel", "anonymous", "file", "copy_on_write", "unknown", "major", "refused"};

using Counts = std::map<std::string, std::uint64_t>;

volatile char* map(int protection, int flags, int fd) {
  void* memory = ::mmap(nullptr, kBytes, protection, flags, fd, 0);
  if (memory == MAP_FAILED) std::abort();
  if (fd < 0) ::madvise(memory, kBytes, MADV_NOHUGEPAGE);
  return static_cast<volatile char*>(memory);
}

volatile char* private_memory() {
  return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void write_each_page(volatile char* memory) {
  for (std::size_t page = 0; page < kPages; ++page)
    memory[page * kPageBytes] = 1;
}

// One row each: the letter it is told by, and what it does. Every page is touched once.
struct Deed {
  const char* name;
  void (*prepare)();
  void (*act)();
};
volatile char* memory_of_deed = nullptr;
int file_of_deed = -1;
pid_t child_of_deed = 0;

void fork_after_writing() {
  memory_of_deed = private_memory();
  write_each_page(memory_of_deed);
  child_of_deed = ::fork();
  if (child_of_deed == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      ::pause();
  }
}

void share_memory() {
  file_of_deed = ::memfd_create("shared", 0);
  if (::ftruncate(file_of_deed, kBytes) != 0) std::abort();
  memory_of_deed = map(PROT_READ | PROT_WRITE, MAP_SHARED, file_of_deed);
}

void open_zeros() {
  file_of_deed = ::open("/dev/zero", O_RDONLY);
  memory_of_deed = private_memory();
}

constexpr std::array kDeeds{
    Deed{"anonymous", [] { memory_of_deed = private_memory(); }, [] { write_each_page(memory_of_deed); }},
    Deed{"file", share_memory, [] { write_each_page(memory_of_deed); }},
    Deed{"copy_on_write", fork_after_writing, [] { write_each_page(memory_of_deed); }},
    // The kernel takes the faults on its behalf: it copies zeros there.
    Deed{"kernel", open_zeros,
         [] {
           if (::read(file_of_deed, const_cast<char*>(memory_of_deed), kBytes) != static_cast<ssize_t>(kBytes))
             std::abort();
         }},
};

class Doer {
 public:
  Doer(const Deed& deed, const char* comm) {
    if (::pipe2(commands_, O_CLOEXEC) != 0 || ::pipe2(answers_, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) serve(deed, comm);
    wait();
  }
  Doer(const Doer&) = delete;
  Doer& operator=(const Doer&) = delete;
  ~Doer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    for (int fd : {commands_[0], commands_[1], answers_[0], answers_[1]})
      ::close(fd);
  }

  [[nodiscard]] ProcessId id() const { return {pid_, read_process_stat(Files(), pid_).value().start_ticks}; }
  void act() {
    if (::write(commands_[1], "g", 1) != 1) std::abort();
    wait();
  }

 private:
  void wait() {
    char byte = 0;
    if (::read(answers_[0], &byte, 1) != 1) std::abort();
  }
  [[noreturn]] void serve(const Deed& deed, const char* comm) {
    char byte = 0;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, comm);
    deed.prepare();
    if (::write(answers_[1], "r", 1) != 1) ::_exit(1);
    while (::read(commands_[0], &byte, 1) == 1) {
      deed.act();
      if (::write(answers_[1], "d", 1) != 1) break;
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int commands_[2] = {-1, -1}, answers_[2] = {-1, -1};
};

Counts totals(const WindowHistory& history) {
  Counts counts;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    counts[kNames[i]] = history.total(i);
  return counts;
}

Counts of_host(const FaultKinds& kinds) {
  return totals(WindowReader::open({.window = kinds.host_fd()})->read().value());
}

Counts of_process(const FaultKinds& kinds, const ProcessId& process) {
  fault_key key{.start_ticks = process.start_ticks, .tgid = static_cast<__u32>(process.pid), .zero = 0};
  WindowReader reader = WindowReader::open({.window = kinds.processes_fd()}).value();
  Result<WindowHistory> history = reader.read_key(&key);
  return history ? totals(*history) : Counts();
}

class FaultKindsOf : public testing::TestWithParam<Deed> {};

// Skips with the reason where the kernel cannot tell kinds.
#define ATTACH_OR_SKIP(kinds, ...)                                        \
  Result<FaultKinds> kinds##_attached = FaultKinds::attach(__VA_ARGS__);  \
  if (!kinds##_attached && is_missing(kinds##_attached.error()))          \
    GTEST_SKIP() << to_sentence(kinds##_attached.error());                \
  ASSERT_TRUE(kinds##_attached) << to_sentence(kinds##_attached.error()); \
  FaultKinds kinds = *std::move(kinds##_attached)

TEST_P(FaultKindsOf, each_page_is_counted_as_what_it_is) {
  Doer doer(GetParam(), "doer");
  ATTACH_OR_SKIP(kinds, {.processes = {doer.id()}, .comm = {}});
  Counts host = of_host(kinds), before = of_process(kinds, doer.id());
  doer.act();
  Counts after = of_process(kinds, doer.id()), host_after = of_host(kinds);
  std::string name = GetParam().name;
  std::string kind = name == "kernel" ? "anonymous" : name, mode = name == "kernel" ? "kernel" : "user";
  for (const auto& [counter, count] : after) {
    std::uint64_t expected = counter == kind || counter == mode ? kPages : 0;
    EXPECT_GE(count - before[counter], expected) << counter;
    EXPECT_LE(count - before[counter], expected + kOthers) << counter;
    EXPECT_GE(host_after[counter] - host[counter], expected) << counter << " of the host";
  }
  EXPECT_EQ(after["user"] + after["kernel"],
            after["anonymous"] + after["file"] + after["copy_on_write"] + after["unknown"]);
  EXPECT_EQ(after["major"], 0U);
}

std::string deed_name(const testing::TestParamInfo<Deed>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Each, FaultKindsOf, testing::ValuesIn(kDeeds), deed_name);

TEST(FaultKinds, counts_input_from_disk_as_major) {
  std::string name = ::access("/var/tmp", W_OK) == 0 ? "/var/tmp/hotset-major-XXXXXX" : "/tmp/hotset-major-XXXXXX";
  Fd file(::mkstemp(name.data()));
  ASSERT_TRUE(file) << name;
  ::unlink(name.c_str());
  struct statfs system{};
  ::fstatfs(file.get(), &system);
  if (system.f_type == RAMFS_MAGIC || system.f_type == TMPFS_MAGIC)
    GTEST_SKIP() << name << " is in memory: nothing is ever read from disk there";
  std::string page(kPageBytes, 'x');
  for (std::size_t i = 0; i < kPages; ++i)
    ASSERT_EQ(::write(file.get(), page.data(), page.size()), static_cast<ssize_t>(page.size()));
  ::fsync(file.get());
  file_of_deed = file.get();
  Deed read_cold{"major", [] { memory_of_deed = map(PROT_READ, MAP_PRIVATE, file_of_deed); },
                 [] {
                   ::madvise(const_cast<char*>(memory_of_deed), kBytes, MADV_RANDOM); // without reading ahead
                   ::posix_fadvise(file_of_deed, 0, 0, POSIX_FADV_DONTNEED);
                   for (std::size_t i = 0; i < kPages; ++i)
                     static_cast<void>(memory_of_deed[i * kPageBytes]);
                 }};
  Doer doer(read_cold, "doer");
  ATTACH_OR_SKIP(kinds, {.processes = {doer.id()}, .comm = {}});
  doer.act();
  Counts counts = of_process(kinds, doer.id());
  EXPECT_GE(counts["file"], kPages);
  EXPECT_GE(counts["major"], kPages);
  EXPECT_LE(counts["major"], kPages + kOthers);
  EXPECT_GE(of_host(kinds)["major"], kPages);
}

TEST(FaultKinds, counts_processes_of_a_name_as_they_come_and_those_without_room_as_refused) {
  ATTACH_OR_SKIP(kinds, {.processes = {}, .comm = "doer_by_name", .max_processes = 2});
  Doer first(kDeeds[0], "doer_by_name"), second(kDeeds[0], "doer_by_name"), third(kDeeds[0], "doer_by_name"),
      other(kDeeds[0], "doer_by_names");
  for (Doer* doer : {&first, &second, &third, &other})
    doer->act();
  int counted = 0;
  for (Doer* doer : {&first, &second, &third})
    if (of_process(kinds, doer->id())["anonymous"] >= kPages) ++counted;
  EXPECT_EQ(counted, 2);
  EXPECT_TRUE(of_process(kinds, other.id()).empty()) << "the name is longer";
  EXPECT_GE(of_host(kinds)["refused"], kPages);
  EXPECT_LE(of_host(kinds)["refused"], kPages + kOthers);
}

TEST(FaultKinds, processes_that_ended_make_room_for_others) {
  ATTACH_OR_SKIP(kinds, {.processes = {}, .comm = "doer_by_name", .max_processes = 1});
  {
    Doer first(kDeeds[0], "doer_by_name");
    first.act();
    ASSERT_TRUE(kinds.make_room(Files()));
    EXPECT_GE(of_process(kinds, first.id())["anonymous"], kPages) << "it runs";
  }
  Doer second(kDeeds[0], "doer_by_name");
  ASSERT_TRUE(kinds.make_room(Files()));
  second.act();
  EXPECT_GE(of_process(kinds, second.id())["anonymous"], kPages);
}

TEST(FaultKinds, is_pinned_in_no_folder_whose_name_has_a_dot) {
  Result<Fd> mount = private_mount("bpf");
  if (!mount) GTEST_SKIP() << to_sentence(mount.error());
  ATTACH_OR_SKIP(kinds, {.processes = {}, .comm = {}});
  Result<> pinned = kinds.pin(fmt::format("/proc/self/fd/{}/my.faults/", mount->get()));
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().code, ErrorCode::usage) << to_sentence(pinned.error());
  EXPECT_NE(pinned.error().cause.find("'my.faults'"), std::string::npos) << to_sentence(pinned.error());
  std::string folder = fmt::format("/proc/self/fd/{}/faults", mount->get());
  ASSERT_TRUE(kinds.pin(folder));
  Result<> again = kinds.pin(folder);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::usage);
  unpin(folder);
}

TEST(FaultKinds, refuses_more_processes_than_there_is_room_for) {
  Result<FaultKinds> kinds = FaultKinds::attach({.processes = {{1, 1}, {2, 2}}, .comm = {}, .max_processes = 1});
  if (!kinds && is_missing(kinds.error())) GTEST_SKIP() << to_sentence(kinds.error());
  ASSERT_FALSE(kinds);
  EXPECT_EQ(kinds.error().code, ErrorCode::usage);
}

} // namespace
} // namespace hotset
