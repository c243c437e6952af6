// SPDX-License-Identifier: Apache-2.0
// Accessed bits on programs that share their memory with others: what a fork or a shared segment makes unclearable must
// widen the bounds, never make them wrong, and the bounds must come together again.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "e2e/servers.h"

namespace hotset {
namespace {

using nlohmann::json;

constexpr double kMiB = 1 << 20;

bool has_flag(const json& record, std::string_view code) {
  return std::ranges::any_of(record["flags"], [&](const json& flag) { return flag["code"] == code; });
}

double width(const json& record) {
  return record["wss"]["high_bytes"].get<double>() - record["wss"]["low_bytes"].get<double>();
}

// Windows by Accessed bits, each record checked; empty where this machine can't.
std::vector<json> windows(pid_t pid, std::string_view window, int count,
                          const std::vector<std::string>& options = {"--budget", "10%"}) {
  std::vector<std::string> arguments{
      "measure", fmt::format("{}", pid), std::string(window), "--count", fmt::format("{}", count), "--method", "exact",
      "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  RunResult run = run_hotset(arguments);
  if (run.lacks_something()) return {};
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::vector<json> records = run.json_lines();
  EXPECT_EQ(records.size(), static_cast<std::size_t>(count));
  for (const json& record : records) {
    double low = record["wss"]["low_bytes"], wss = record["wss"]["bytes"], high = record["wss"]["high_bytes"];
    EXPECT_LE(0, low);
    EXPECT_LE(low, wss);
    EXPECT_LE(wss, high);
    EXPECT_LE(high, record["rss_bytes"]);
    EXPECT_TRUE(low == high || !record["flags"].empty()) << record;
  }
  return records;
}

TEST(RealAccess, redis_has_bounds_that_hold_before_during_and_after_a_save) {
  if (!Redis::is_possible()) GTEST_SKIP() << "redis is not installed";
  Redis redis;
  std::unique_ptr<Program> clients = redis.load(60'000);
  std::vector<json> before = windows(redis.pid(), "0.5", 5);
  if (before.empty()) GTEST_SKIP() << "Accessed bits can't be read here";
  EXPECT_GT(before.back()["wss"]["low_bytes"], 25 * kMiB) << "all keys are in use";

  // A save forks, and the child writes slowly: all memory is copy-on-write until it ends.
  redis.command("config set rdb-key-save-delay 120");
  redis.command("bgsave");
  ASSERT_TRUE(redis.command("info persistence").contains("rdb_bgsave_in_progress:1"));
  std::vector<json> during = windows(redis.pid(), "0.5", 6);
  ASSERT_TRUE(redis.command("info persistence").contains("rdb_bgsave_in_progress:1")) << "the save was too short";
  ASSERT_EQ(during.size(), 6U);
  EXPECT_TRUE(std::ranges::any_of(during, [](const json& record) { return has_flag(record, "held_shared"); }));
  EXPECT_GT(during.back()["wss"]["high_bytes"], 25 * kMiB) << "the keys are in use as before";

  for (int looks = 0; looks < 2000 && redis.command("info persistence").contains("in_progress:1"); ++looks) {
  }
  std::vector<json> after = windows(redis.pid(), "0.5", 6);
  ASSERT_EQ(after.size(), 6U);
  EXPECT_GT(after.back()["wss"]["low_bytes"], 25 * kMiB);
  EXPECT_LT(width(after.back()), 0.1 * after.back()["rss_bytes"].get<double>());
}

TEST(RealAccess, a_scanning_postgres_backend_has_more_in_use_than_a_sleeping_one_for_certain) {
  if (!Postgres::is_possible()) GTEST_SKIP() << "PostgreSQL is not installed, or we are not root";
  Postgres postgres;
  Shell filled = postgres.sql("create table t as select i, repeat(md5(i::text), 8) s from generate_series(1,120000) i");
  ASSERT_EQ(filled.status, 0) << filled.out;
  Program sleeper(postgres.client("select pg_sleep(60)"));
  std::vector<json> idle = windows(std::stoi(sleeper.wait_for_line()), "0.5", 4);
  if (idle.empty()) GTEST_SKIP() << "Accessed bits can't be read here";
  Program scanner(postgres.client("do $$begin loop perform count(*) from t; end loop; end$$"));
  std::vector<json> busy = windows(std::stoi(scanner.wait_for_line()), "1.5", 4);
  ASSERT_EQ(busy.size(), 4U);
  EXPECT_GT(busy.back()["wss"]["high_bytes"], 20 * kMiB) << "the table, in shared buffers";
  EXPECT_LT(idle.back()["wss"]["high_bytes"], busy.back()["wss"]["high_bytes"]);
}

// A server that reads its data once and then forks its workers, as gunicorn or php-fpm do: each worker's pages are
// shared with its brothers, and each touches the quarter that its requests need.
TEST(RealAccess, a_prefork_worker_is_bounded_by_what_it_touches_and_what_it_may_have) {
  if (!is_installed("python3")) GTEST_SKIP() << "python3 is not installed";
  Scratch folder;
  std::ofstream(folder / "prefork.py") << R"(
import ctypes, mmap, os, signal
SIZE = 64 << 20
data = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, SIZE, 4096):
    data[at] = 1
for worker in range(4):
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
        while True:
            for at in range(worker * SIZE // 4, (worker + 1) * SIZE // 4, 4096):
                data[at]
    print(child, flush=True)
print("ready", flush=True)
os.wait()
)";
  Program server({"python3", folder / "prefork.py"});
  const pid_t worker = std::stoi(server.wait_for_line());
  while (server.wait_for_line() != "ready") {
  }
  std::vector<json> records = windows(worker, "0.5", 8);
  for (const json& record : records) {
    EXPECT_GE(record["wss"]["high_bytes"], 16 * kMiB);
    EXPECT_LE(record["wss"]["low_bytes"], 24 * kMiB);
  }
  if (records.empty()) GTEST_SKIP() << "Accessed bits can't be read here";
  // A scoped clear settles them, within the budget.
  EXPECT_TRUE(std::ranges::any_of(records, [](const json& record) { return record["wss"]["high_bytes"] < 24 * kMiB; }));
}

// Whatever stands where the clears are counted, measuring goes on, and says that others would not be seen.
TEST(RealAccess, goes_on_where_clears_cannot_be_counted) {
  if (::geteuid() != 0 || !is_installed("unshare")) GTEST_SKIP() << "needs root and unshare";
  Program target({HOTSET_BINARY, "workload", "uniform", "--rss", "8MiB", "--json"});
  const json ready = json::parse(target.wait_for_line());
  for (std::string_view make : {"head -c 64k /dev/zero >/run/full 2>/dev/null", "ln -s /tmp /run/hotset",
                                "mkdir -m 700 /run/hotset && mkfifo /run/hotset/clears", ": >/run/hotset",
                                "mkdir /run/hotset && chown 65534 /run/hotset"}) {
    const std::string script = fmt::format("mount -t tmpfs -o size=8k none /run || exit 77; {}; exec \"$@\"", make);
    RunOptions options;
    options.wrapper = {"unshare", "--mount", "sh", "-c", script, "sh"};
    RunResult run = run_hotset(
        {"measure", fmt::format("{}", ready["pid"].get<int>()), "50ms", "--method", "exact", "--json"}, options);
    if (run.exit_code == 77 || run.lacks_something()) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.exit_code, 0) << make << ": " << run.err;
    EXPECT_TRUE(has_flag(run.json_lines().at(0), "others_unseen")) << make;
  }
  RunResult run =
      run_hotset({"measure", fmt::format("{}", ready["pid"].get<int>()), "50ms", "--method", "exact", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(has_flag(run.json_lines().at(0), "others_unseen"));
}

} // namespace
} // namespace hotset
