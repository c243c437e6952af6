// SPDX-License-Identifier: Apache-2.0
#include "cli/workload.h"

#include <gtest/gtest.h>

#include "workload/program.h"

namespace hotset {
namespace {

std::vector<std::string> options_of(const WorkloadSpec& spec) {
  std::vector<std::string> arguments = workload_arguments(spec);
  arguments.erase(arguments.begin()); // "workload"
  return arguments;
}

TEST(WorkloadArguments, mean_the_workload_that_they_were_made_of) {
  for (const Pattern& pattern : patterns()) {
    const WorkloadSpec plain = default_spec(pattern);
    WorkloadSpec odd = plain;
    odd.rss_bytes = (3 << 20) + 5;
    odd.hot = 0.07;
    odd.rate = 1234.5;
    odd.seed = UINT64_MAX;
    odd.limit = std::chrono::milliseconds(1500);
    odd.write = !odd.write;
    odd.scattered = true;
    odd.publish = false;
    if (takes(pattern, "--shared")) odd.shared = !odd.shared;
    if (takes(pattern, "--huge")) odd.huge = true;
    if (takes(pattern, "--fresh")) odd.fresh = true;
    if (takes(pattern, "--mmap-threshold")) odd.mmap_threshold = 1 << 17;
    if (takes(pattern, "--stride")) odd.stride = 3;
    if (takes(pattern, "--period")) odd.period = std::chrono::milliseconds(300);
    if (takes(pattern, "--skew")) odd.skew = 1.5;
    if (takes(pattern, "--children")) odd.children = 3;
    if (takes(pattern, "--directory")) odd.directory = "/var/tmp";
    for (const WorkloadSpec& spec : {plain, odd}) {
      Result<WorkloadSpec> read = parse_workload(options_of(spec));
      ASSERT_TRUE(read) << pattern.name << ": " << to_sentence(read.error());
      EXPECT_NEAR(read->hot, spec.hot, 1e-12);
      read->hot = spec.hot;
      EXPECT_EQ(*read, spec) << pattern.name;
    }
  }
}

} // namespace
} // namespace hotset
