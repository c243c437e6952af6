// SPDX-License-Identifier: Apache-2.0
// Programs that nobody here wrote: the estimate record is sound, and the working set follows what the program does.
//
// Nothing of them is known to the page, so the claims are ratios within one run: busy against idle, few keys against
// all. Servers talk through sockets in a temporary folder and end with their test.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/units.h"
#include "e2e/run_hotset.h"
#include "e2e/scratch.h"
#include "e2e/servers.h"

namespace hotset {
namespace {

using nlohmann::json;

constexpr double kMiB = 1 << 20;

struct Reading {
  double wss, rss;
};

// One window by the reference method, its record checked; nothing where this machine can't measure so.
std::optional<Reading> measure(pid_t pid, std::string_view window) {
  RunResult run =
      run_hotset({"measure", fmt::format("{}", pid), std::string(window), "--method", "reference", "--json"});
  if (run.lacks_something()) return std::nullopt; // no permission, no clear_refs
  EXPECT_EQ(run.exit_code, 0) << run.err;
  if (run.exit_code != 0) return std::nullopt;
  json record = run.json_lines().at(0);
  EXPECT_EQ(record["schema"], "hotset.estimate/1");
  EXPECT_EQ(record["target"]["pid"], pid);
  EXPECT_EQ(record["method"], "reference");
  double low = record["wss"]["low_bytes"], wss = record["wss"]["bytes"], high = record["wss"]["high_bytes"];
  double rss = record["rss_bytes"];
  EXPECT_LE(0, low);
  EXPECT_LE(low, wss);
  EXPECT_LE(wss, high);
  EXPECT_LE(high, rss);
  EXPECT_GE(record["window"]["effective_s"].get<double>(), record["window"]["requested_s"].get<double>());
  return Reading{wss, rss};
}

#define MEASURE(name, ...)                                                        \
  std::optional<Reading> name##_reading = measure(__VA_ARGS__);                   \
  if (!name##_reading) GTEST_SKIP() << "the reference method does not work here"; \
  const Reading name = *name##_reading

// What a data set adds up to.
struct Recording {
  double faults = 0;
  double labels = 0; // bytes, over all rows
  std::size_t rows = 0;
};

// Runs hotset record; nothing where this machine can't load its program.
std::optional<Recording> record(std::vector<std::string> arguments) {
  Scratch folder;
  arguments.insert(arguments.begin(), {"record", "--out", folder / "data.csv", "--interval", "100ms"});
  RunResult run = run_hotset(arguments);
  if (run.lacks_something()) return std::nullopt;
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::istringstream lines(Files().read(folder / "data.csv").value());
  Recording sum;
  for (std::string line; std::getline(lines, line);) {
    std::vector<double> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      if (std::optional<double> value = parse_finite(cell)) fields.push_back(*value);
    if (fields.size() < 8) continue; // the header
    const double faults = fields[2], rss = fields[5], label = fields[7];
    ++sum.rows;
    sum.faults += faults;
    sum.labels += label;
    EXPECT_LE(label, rss);
  }
  return sum;
}

TEST(RealPrograms, redis_in_use_touches_more_than_at_rest_and_all_keys_more_than_a_few) {
  if (!Redis::is_possible()) GTEST_SKIP() << "redis is not installed";
  Redis redis;
  MEASURE(idle, redis.pid(), "0.5");
  auto under_load = [&](int keys) {
    std::unique_ptr<Program> clients = redis.load(keys);
    return measure(redis.pid(), "1");
  };
  std::optional<Reading> few = under_load(600);
  std::optional<Reading> all = under_load(60'000);
  ASSERT_TRUE(few && all);
  EXPECT_GT(all->rss, 50 * kMiB);
  EXPECT_LT(idle.wss / few->wss, 0.8);
  EXPECT_LT(few->wss / all->wss, 0.5);
  EXPECT_GT(all->wss / all->rss, 0.5);
}

// What fault counting cannot see: all of it is in use, and nearly none of it faults.
TEST(RealPrograms, redis_in_steady_state_hardly_faults_however_much_it_has_in_use) {
  if (!Redis::is_possible()) GTEST_SKIP() << "redis is not installed";
  Redis redis;
  std::unique_ptr<Program> clients = redis.load(60'000);
  std::optional<Recording> steady = record({"--duration", "2s", fmt::format("{}", redis.pid())});
  if (!steady) GTEST_SKIP() << "page faults can't be counted here";
  EXPECT_GT(steady->rows, 5U);
  EXPECT_LT(steady->faults * 4096 / steady->labels, 0.02);
}

// The compiler proper (gcc itself only starts it), and a source that keeps it busy for about a second.
class Compiler {
 public:
  Compiler() : program_(shell("gcc -print-prog-name=cc1").out) {
    program_.erase(program_.find_last_not_of('\n') + 1);
    std::ofstream source(source_);
    for (int i = 0; i < 300; ++i)
      source << fmt::format(
          "int f{0}(int *a, int n) {{ int s = {0}; for (int i = 0; i < n; i++) s += a[i] * {0}; return s; }}\n", i);
  }
  [[nodiscard]] bool is_possible() const { return ::access(program_.c_str(), X_OK) == 0; }
  // The arguments in front, and how to run it behind them.
  [[nodiscard]] std::vector<std::string> after(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--", program_, "-quiet", "-O2", source_, "-o", "/dev/null"});
    return arguments;
  }

 private:
  Scratch folder_;
  std::string program_;
  std::string source_ = folder_ / "many.c";
};

TEST(RealPrograms, a_compiler_that_ends_in_the_middle_of_a_window_is_said_to_have_ended) {
  Compiler compiler;
  if (!compiler.is_possible()) GTEST_SKIP() << "gcc is not installed";
  RunResult run = run_hotset(compiler.after({"measure", "0.1", "--count", "1000", "--method", "reference", "--json"}));
  if (run.lacks_something()) GTEST_SKIP() << "the reference method does not work here";
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_NE(run.err.find("ended"), std::string::npos) << run.err;
  std::vector<json> records = run.json_lines();
  ASSERT_GE(records.size(), 2U) << "it compiled in less than two windows";
  EXPECT_GT(records.back()["rss_bytes"], records.front()["rss_bytes"]);
  for (const json& record : records)
    EXPECT_GT(record["wss"]["bytes"], 0);
}

TEST(RealPrograms, a_compiler_is_recorded_from_its_first_fault_on) {
  Compiler compiler;
  if (!compiler.is_possible()) GTEST_SKIP() << "gcc is not installed";
  std::optional<Recording> run = record(compiler.after({"--duration", "30s"}));
  if (!run) GTEST_SKIP() << "page faults can't be counted here";
  EXPECT_GT(run->rows, 1U);
  EXPECT_GT(run->faults, 2000); // its own pages alone are more than 4,000
}

TEST(RealPrograms, a_postgres_backend_that_scans_touches_more_than_one_that_sleeps) {
  if (!Postgres::is_possible()) GTEST_SKIP() << "PostgreSQL is not installed, or we are not root";
  Postgres postgres;
  Shell filled = postgres.sql("create table t as select i, repeat(md5(i::text), 8) s from generate_series(1,120000) i");
  ASSERT_EQ(filled.status, 0) << filled.out;

  Program sleeper(postgres.client("select pg_sleep(60)"));
  pid_t sleeping = std::stoi(sleeper.wait_for_line());
  MEASURE(idle, sleeping, "0.5");
  Program scanner(postgres.client("do $$begin loop perform count(*) from t; end loop; end$$"));
  pid_t scanning = std::stoi(scanner.wait_for_line());
  MEASURE(busy, scanning, "1.5");
  EXPECT_GT(busy.wss, 20 * kMiB); // the table, in shared buffers: memory that others map too
  EXPECT_LT(idle.wss / busy.wss, 0.2);
}

} // namespace
} // namespace hotset
