// SPDX-License-Identifier: Apache-2.0
// The loop itself, on a clock that moves only by sleeping and on a few pages of this very process.
#include "workload/worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/units.h"
#include "workload/run.h"
#include "workload/truth.h"

namespace hotset {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kPages = 64;

WorkloadSpec spec_of(std::string_view pattern) {
  WorkloadSpec spec = default_spec(**find_pattern(pattern));
  spec.rss_bytes = kPages * page_bytes();
  spec.rate = 1000;
  spec.limit = 10s;
  return spec;
}

// A run of this thread, looked at from between its batches.
struct Observed {
  FakeClock clock;
  std::optional<TruthReader> reader;
  WorkloadReady ready;
  Result<WorkloadSummary> summary;

  explicit Observed(
      const WorkloadSpec& spec, const std::function<bool(Observed&)>& stop = [](Observed&) { return false; }) {
    WorkloadHooks hooks{.ready =
                            [&](const WorkloadReady& is) {
                              ready = is;
                              reader = TruthReader::open(Files(), ProcessId{::getpid(), 0}).value();
                              reader->next_window();
                            },
                        .stop = [&] { return reader && stop(*this); }};
    summary = run_workload(spec, Files(), clock, hooks);
  }
  std::uint64_t touched_pages() { return reader->touched_pages(reader->next_window()); }
};

TEST(Workload, holds_its_rate_for_its_time) {
  Observed run(spec_of("uniform"));
  ASSERT_TRUE(run.summary);
  EXPECT_NEAR(static_cast<double>(run.summary->touches), 10'000, 10);
  EXPECT_NEAR(run.summary->seconds, 10, 0.1);
}

TEST(Workload, counts_a_pass_for_as_many_touches_as_the_hot_set_has_pages) {
  WorkloadSpec spec = spec_of("sequential");
  spec.hot = 0.5;
  Observed run(spec);
  EXPECT_EQ(run.summary->passes, run.summary->touches / 32);
  EXPECT_EQ(run.reader->passes(), run.summary->passes);
  EXPECT_EQ(run.reader->touches(), run.summary->touches);
}

TEST(Workload, touches_exactly_its_hot_set) {
  for (std::string_view pattern : {"sequential", "uniform", "file"})
    for (bool scattered : {false, true}) {
      WorkloadSpec spec = spec_of(pattern);
      spec.hot = 0.25;
      spec.scattered = scattered;
      Observed run(spec);
      EXPECT_EQ(run.ready.hot_pages, 16U);
      EXPECT_EQ(run.touched_pages(), 16U) << pattern << scattered;
    }
}

TEST(Workload, strided_touches_every_nth_page_only) {
  WorkloadSpec spec = spec_of("strided");
  spec.stride = 10;
  Observed run(spec);
  std::vector<bool> touched = run.reader->touched(run.reader->next_window());
  for (std::size_t page = 0; page < touched.size(); ++page)
    EXPECT_EQ(touched[page], page % 10 == 0) << page;
}

TEST(Workload, phase_leaves_the_old_hot_set_behind) {
  WorkloadSpec spec = spec_of("phase");
  spec.hot = 0.25;
  spec.period = 1s;
  std::vector<std::uint64_t> counts;
  std::vector<std::vector<bool>> sets;
  Nanoseconds next = FakeClock().now() + 1s;
  Observed run(spec, [&](Observed& it) {
    if (sets.size() == 2) return true;
    if (it.clock.now() < next) return false;
    next += 1s;
    sets.push_back(it.reader->touched(it.reader->next_window()));
    return sets.size() == 2;
  });
  ASSERT_EQ(sets.size(), 2U);
  for (std::size_t page = 0; page < kPages; ++page) {
    EXPECT_EQ(sets[0][page], page < 16) << page;
    EXPECT_EQ(sets[1][page], page >= 16 && page < 32) << page;
  }
}

TEST(Workload, array_fresh_allocates_anew_for_each_pass_and_reuse_never_does) {
  for (bool fresh : {true, false}) {
    WorkloadSpec spec = spec_of("array");
    spec.fresh = fresh;
    Observed run(spec);
    ASSERT_TRUE(run.summary);
    EXPECT_GT(run.summary->passes, 100U);
    EXPECT_EQ(run.reader->moves() > run.summary->passes, fresh) << run.reader->moves();
    EXPECT_EQ(run.touched_pages(), run.ready.hot_pages);
  }
}

TEST(Workload, ramp_has_grown_to_half_of_its_region_at_half_of_its_period) {
  WorkloadSpec spec = spec_of("ramp");
  spec.period = 4s;
  spec.limit = 2s;
  Observed run(spec);
  EXPECT_NEAR(static_cast<double>(run.touched_pages()), kPages / 2.0, 2);
}

TEST(Workload, churn_has_no_region_in_the_second_half) {
  WorkloadSpec spec = spec_of("churn");
  spec.period = 1s;
  spec.limit = 900ms;
  Observed run(spec);
  EXPECT_NEAR(static_cast<double>(run.summary->touches), 500, 10);
  EXPECT_EQ(run.reader->address(), 0U);
  EXPECT_EQ(run.reader->covered(), 0U);
}

TEST(Workload, bursts_touch_for_half_of_the_time_at_the_same_rate) {
  WorkloadSpec spec = spec_of("bursts");
  spec.period = 1s;
  Observed run(spec);
  EXPECT_NEAR(static_cast<double>(run.summary->touches), 5000, 50);
}

TEST(Workload, first_touches_of_new_memory_belong_to_the_window_they_fall_in) {
  WorkloadSpec spec = spec_of("churn");
  spec.period = 1s;
  spec.hot = 0.1;
  spec.limit = 1100ms;
  Observed run(spec);
  EXPECT_EQ(run.touched_pages(), kPages);
}

TEST(Workload, stops_at_once_when_asked_to) {
  WorkloadSpec spec = spec_of("uniform");
  spec.limit = {};
  spec.rate = 0;
  int looks = 0;
  Observed run(spec, [&](Observed&) { return ++looks == 3; });
  ASSERT_TRUE(run.summary);
  EXPECT_LT(run.summary->touches, 2000U);
}

TEST(Workload, without_a_record_publishes_none) {
  WorkloadSpec spec = spec_of("uniform");
  spec.publish = false;
  bool published = true;
  FakeClock clock;
  WorkloadHooks hooks{
      .ready =
          [&](const WorkloadReady&) { published = TruthReader::open(Files(), ProcessId{::getpid(), 0}).has_value(); },
      .stop = [] { return false; }};
  ASSERT_TRUE(run_workload(spec, Files(), clock, hooks));
  EXPECT_FALSE(published);
}

TEST(Workload, of_a_file_in_a_folder_that_does_not_exist_is_an_output_error) {
  WorkloadSpec spec = spec_of("file");
  spec.directory = "/nonexistent";
  Observed run(spec);
  ASSERT_FALSE(run.summary);
  EXPECT_EQ(run.summary.error().code, ErrorCode::output);
}

} // namespace
} // namespace hotset
