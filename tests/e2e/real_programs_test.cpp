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
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "e2e/run_hotset.h"

namespace hotset {
namespace {

using nlohmann::json;

constexpr double kMiB = 1 << 20;

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hotset-real-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    ::chmod(path_.c_str(), 0777); // of another user's server too
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

struct Shell {
  int status;
  std::string out;
};

Shell shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  std::string out;
  char buffer[4096];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    out.append(buffer, got);
  return {::pclose(pipe), out};
}

struct Reading {
  double wss, rss;
};

// One window by the reference method, its record checked; nothing where this machine can't measure so.
std::optional<Reading> measure(pid_t pid, std::string_view window) {
  RunResult run =
      run_hotset({"measure", fmt::format("{}", pid), std::string(window), "--method", "reference", "--json"});
  if (run.exit_code == 4 || run.exit_code == 5) return std::nullopt; // no permission, no clear_refs
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

TEST(RealPrograms, redis_in_use_touches_more_than_at_rest_and_all_keys_more_than_a_few) {
  if (!is_installed("redis-server") || !is_installed("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  Folder folder;
  const std::string socket = folder / "redis.sock";
  Program server({"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir",
                  folder / "", "--hz", "1"});
  std::string line;
  do {
    line = server.wait_for_line();
  } while (!line.empty() && !line.contains("eady to accept"));
  Shell filled = shell(fmt::format("redis-benchmark -s {} -t set -n 150000 -r 60000 -d 1000 -P 32 -q", socket));
  ASSERT_EQ(filled.status, 0) << filled.out;
  MEASURE(idle, server.pid(), "0.5");

  auto under_load = [&](int keys) {
    Program load({"redis-benchmark", "-s", socket, "-t", "get", "-n", "100000000", "-r", fmt::format("{}", keys), "-P",
                  "16", "-q"});
    // Its 50 clients are there.
    for (int looks = 0; looks < 1000; ++looks)
      if (std::ranges::count(shell(fmt::format("redis-cli -s {} client list", socket)).out, '\n') > 40) break;
    return measure(server.pid(), "1");
  };
  std::optional<Reading> few = under_load(600);
  std::optional<Reading> all = under_load(60'000);
  ASSERT_TRUE(few && all);
  EXPECT_GT(all->rss, 50 * kMiB);
  EXPECT_LT(idle.wss / few->wss, 0.8);
  EXPECT_LT(few->wss / all->wss, 0.5);
  EXPECT_GT(all->wss / all->rss, 0.5);
}

TEST(RealPrograms, a_compiler_that_ends_in_the_middle_of_a_window_is_said_to_have_ended) {
  if (!is_installed("gcc")) GTEST_SKIP() << "gcc is not installed";
  std::string compiler = shell("gcc -print-prog-name=cc1").out;
  compiler.erase(compiler.find_last_not_of('\n') + 1);
  if (::access(compiler.c_str(), X_OK) != 0) GTEST_SKIP() << "gcc has no C compiler";
  Folder folder;
  std::ofstream source(folder / "many.c");
  for (int i = 0; i < 300; ++i)
    source << fmt::format(
        "int f{0}(int *a, int n) {{ int s = {0}; for (int i = 0; i < n; i++) s += a[i] * {0}; return s; }}\n", i);
  source.close();
  RunResult run = run_hotset({"measure", "0.1", "--count", "1000", "--method", "reference", "--json", "--", compiler,
                              "-quiet", "-O2", folder / "many.c", "-o", "/dev/null"});
  if (run.exit_code == 4 || run.exit_code == 5) GTEST_SKIP() << "the reference method does not work here";
  EXPECT_EQ(run.exit_code, 8) << run.err;
  EXPECT_NE(run.err.find("ended"), std::string::npos) << run.err;
  std::vector<json> records = run.json_lines();
  ASSERT_GE(records.size(), 2U) << "it compiled in less than two windows";
  EXPECT_GT(records.back()["rss_bytes"], records.front()["rss_bytes"]);
  for (const json& record : records)
    EXPECT_GT(record["wss"]["bytes"], 0);
}

// PostgreSQL refuses to run as root: as its own user, in a folder of ours, without a network.
class Postgres {
 public:
  static bool is_possible() {
    return ::geteuid() == 0 && is_installed("initdb") && is_installed("pg_ctl") && is_installed("psql") &&
           is_installed("setpriv") && shell("id postgres").status == 0;
  }
  Postgres() {
    Shell made = as_postgres(fmt::format("initdb -D {} -A trust --no-sync -N", folder_ / "data"));
    EXPECT_EQ(made.status, 0) << made.out;
    Shell started =
        as_postgres(fmt::format("pg_ctl -D {0} -w -l {1} -o \"-c listen_addresses= -c unix_socket_directories={2} "
                                "-c shared_buffers=96MB -c fsync=off -c autovacuum=off\" start >/dev/null",
                                folder_ / "data", folder_ / "log", folder_ / ""));
    EXPECT_EQ(started.status, 0) << started.out;
  }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;
  ~Postgres() { as_postgres(fmt::format("pg_ctl -D {} -w -m immediate stop", folder_ / "data")); }

  Shell sql(std::string_view text) {
    return as_postgres(fmt::format("psql -h {} -Atqc '{}' postgres", folder_ / "", text));
  }
  // A client whose backend says its pid first and then runs `statement`.
  [[nodiscard]] std::vector<std::string> client(std::string_view statement) const {
    std::vector<std::string> command = kUser;
    command.insert(command.end(), {"psql", "-h", folder_ / "", "-Atq", "-c", "select pg_backend_pid()", "-c",
                                   std::string(statement), "postgres"});
    return command;
  }

 private:
  static inline const std::vector<std::string> kUser{"setpriv", "--reuid=postgres", "--regid=postgres",
                                                     "--clear-groups"};
  static Shell as_postgres(const std::string& command) {
    return shell(fmt::format("cd / && {} {}", fmt::join(kUser, " "), command));
  }

  Folder folder_;
};

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
