// SPDX-License-Identifier: Apache-2.0
// Real cgroups, of whichever version has the memory controller here: made for the test, and removed after it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/mounts.h"
#include "estimate/meter.h"
#include "kernel/family.h"
#include "missing.h"

namespace hotset {
namespace {

using ::testing::HasSubstr;

constexpr double kBeside = 96; // pages that a process touches beside what it is told to
constexpr std::uint64_t kPage = 4096;

// Where the hierarchy with the memory controller is mounted; its version.
struct MemoryHierarchy {
  std::string point;
  int version;
};

std::optional<MemoryHierarchy> memory_hierarchy() {
  const Files files;
  const std::vector<Mount> mounts = read_mounts(files).value();
  for (const Mount& mount : mounts)
    if (mount.type == "cgroup" && mount.has_option("memory")) return MemoryHierarchy{mount.point, 1};
  for (const Mount& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    Result<std::string> controllers = files.read(mount.point + "/cgroup.subtree_control");
    if (controllers && controllers->find("memory") != std::string::npos) return MemoryHierarchy{mount.point, 2};
  }
  return std::nullopt;
}

class CgroupMeterTest : public testing::Test {
 protected:
  void SetUp() override {
    found = memory_hierarchy();
    if (!found) GTEST_SKIP() << "no cgroup hierarchy has the memory controller";
    name = fmt::format("/hotset-test-{}", ::getpid());
    if (::mkdir(folder().c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup can be made in " << found->point;
  }
  void TearDown() override {
    if (!found) return;
    for (const std::string& below : {folder() + "/below", folder()})
      for (int tries = 0; tries < 5000 && ::rmdir(below.c_str()) != 0 && errno == EBUSY; ++tries)
        ::usleep(1000); // the kernel has not buried its last process yet
  }
  [[nodiscard]] std::string folder() const { return found->point + name; }
  // By the calling process, for itself.
  void join(const std::string& cgroup) const {
    if (!files.write(cgroup + "/cgroup.procs", "0")) ::_exit(1);
  }
  std::unique_ptr<Meter> open(Group& group) {
    Result<OpenedMeter> opened = open_group_meter("exact", files, group, clock, {.budget = 1.0});
    if (!opened && is_missing(opened.error())) return nullptr;
    EXPECT_TRUE(opened) << to_sentence(opened.error());
    return opened ? std::move(opened->meter) : nullptr;
  }
  Estimate read(Meter& meter) {
    Result<Estimate> estimate = meter.read();
    EXPECT_TRUE(estimate) << to_sentence(estimate.error());
    if (!estimate) return {};
    Result<> sound = check_invariants(*estimate);
    EXPECT_TRUE(sound) << to_sentence(sound.error());
    return *std::move(estimate);
  }

  SystemClock clock;
  Files files;
  std::optional<MemoryHierarchy> found;
  std::string name;
};

#define OPEN(meter, group)                       \
  std::unique_ptr<Meter> meter = open(*(group)); \
  if (!(meter)) GTEST_SKIP() << "this kernel lacks the census"

TEST_F(CgroupMeterTest, shared_pages_count_once_and_the_sum_is_within_the_usage) {
  Sharers sharers([&] { join(folder()); });
  std::unique_ptr<Group> group = find_cgroup(files, name).value();
  OPEN(meter, group);
  for (int window = 0; window < 5; ++window) {
    ASSERT_TRUE(meter->begin());
    sharers.family.work();
    Estimate estimate = read(*meter);
    ASSERT_TRUE(estimate.group && estimate.wss);
    EXPECT_EQ(estimate.group->members, kChildren + 1);
    EXPECT_EQ(estimate.group->path, name);
    ASSERT_TRUE(estimate.group->usage_bytes);
    EXPECT_LE(estimate.wss->high_bytes, *estimate.group->usage_bytes);
    const double low = static_cast<double>(estimate.wss->low_bytes) / kPage;
    const double high = static_cast<double>(estimate.wss->high_bytes) / kPage;
    EXPECT_GE(high, Sharers::kShared + Sharers::kOwn);
    EXPECT_LE(low, Sharers::kShared + Sharers::kOwn + kBeside * kChildren);
    if (window >= 3) {
      EXPECT_GE(low, Sharers::kShared);
    }
  }
}

TEST_F(CgroupMeterTest, those_below_are_in_it) {
  ASSERT_EQ(::mkdir((folder() + "/below").c_str(), 0755), 0);
  QuietChild above({[&] { join(folder()); }}), below({[&] { join(folder() + "/below"); }});
  above.run(0);
  below.run(0);
  std::unique_ptr<Group> group = find_cgroup(files, folder()).value();
  Roll roll = group->look_up(files).value();
  ASSERT_EQ(roll.members.size(), 2U);
  EXPECT_EQ(find_cgroup(files, name + "/below").value()->look_up(files).value().members.at(0).id.pid, below.pid());
}

TEST_F(CgroupMeterTest, page_cache_that_nobody_maps_is_said_to_be_outside_of_the_number) {
  char path[] = "/tmp/hotset-cache-XXXXXX";
  int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  QuietChild child({[&] {
    join(folder());
    std::string text(1 << 20, 'x');
    for (int i = 0; i < 16; ++i)
      if (::write(file, text.data(), text.size()) < 0) ::_exit(1);
  }});
  child.run(0);
  std::unique_ptr<Group> group = find_cgroup(files, name).value();
  OPEN(meter, group);
  ASSERT_TRUE(meter->begin());
  Estimate estimate = read(*meter);
  EXPECT_GE(estimate.group->usage_bytes.value_or(0), std::uint64_t{16} << 20);
  EXPECT_LT(estimate.coverage.value_or(1), 0.5);
  EXPECT_TRUE(has_flag(estimate, "usage_unmapped"));
  ::close(file);
  ::unlink(path);
}

TEST_F(CgroupMeterTest, made_again_under_the_same_name_is_another_one) {
  auto child = std::make_unique<QuietChild>(std::vector<std::function<void()>>{[&] { join(folder()); }});
  child->run(0);
  std::unique_ptr<Group> group = find_cgroup(files, name).value();
  const std::uint64_t id = Cgroup::find(files, name).value().id();
  child.reset();
  TearDown();
  ASSERT_EQ(::mkdir(folder().c_str(), 0755), 0);
  EXPECT_NE(Cgroup::find(files, name).value().id(), id);
  EXPECT_EQ(group->look_up(files).error().code, ErrorCode::gone);
}

TEST_F(CgroupMeterTest, without_processes_has_nothing_to_measure) {
  Result<std::unique_ptr<Group>> group = find_cgroup(files, name);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, ErrorCode::not_applicable);
}

// Memory stays charged to where it was first touched.
TEST_F(CgroupMeterTest, memory_that_is_charged_elsewhere_makes_no_exact_zero) {
  constexpr std::uint64_t kTouched = 8192;
  char* memory = map_pages(kTouched);
  QuietChild child({[&] {
                      write_pages(memory, 0, kTouched);
                      join(folder());
                    },
                    [&] { write_pages(memory, 0, kTouched); }});
  child.run(0);
  std::unique_ptr<Group> group = find_cgroup(files, name).value();
  OPEN(meter, group);
  for (int window = 0; window < 3; ++window) {
    ASSERT_TRUE(meter->begin());
    child.run(1);
    const Estimate estimate = read(*meter);
    EXPECT_NE(estimate.method, "exact");
    ASSERT_TRUE(estimate.group && estimate.coverage && estimate.rss_bytes);
    EXPECT_LT(*estimate.coverage, 0.5);
    EXPECT_TRUE(std::ranges::find(estimate.flags, "charged_elsewhere", &Flag::code) != estimate.flags.end());
    if (*estimate.group->usage_bytes == 0) {
      EXPECT_FALSE(estimate.wss);
    } else {
      ASSERT_TRUE(estimate.wss);
      EXPECT_LE(estimate.wss->high_bytes, *estimate.group->usage_bytes);
      EXPECT_EQ(estimate.wss->low_bytes, 0);
    }
  }
}

TEST_F(CgroupMeterTest, that_is_threaded_is_refused_with_the_reason) {
  if (found->version == 1) GTEST_SKIP() << "v1 has no threaded cgroups";
  ASSERT_EQ(::mkdir((folder() + "/below").c_str(), 0755), 0);
  if (!files.write(folder() + "/below/cgroup.type", "threaded")) GTEST_SKIP() << "this kernel makes none";
  Result<Cgroup> threaded = Cgroup::find(files, name + "/below");
  ASSERT_FALSE(threaded);
  EXPECT_EQ(threaded.error().code, ErrorCode::unsupported);
  EXPECT_THAT(to_sentence(threaded.error()), HasSubstr(name));
}

} // namespace
} // namespace hotset
