// SPDX-License-Identifier: Apache-2.0
// Servers that nobody here wrote, as targets: they talk through sockets in a temporary folder and end with their test.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "e2e/run_hotset.h"
#include "e2e/scratch.h"

namespace hotset {

struct Shell {
  int status;
  std::string out; // both streams
};

Shell shell(const std::string& command);

// A server with 60,000 keys of 1 kB, on a socket of its own.
class Redis {
 public:
  static bool is_possible() {
    return is_installed("redis-server") && is_installed("redis-benchmark") && is_installed("redis-cli");
  }
  Redis() {
    std::string line;
    do {
      line = server_.wait_for_line();
    } while (!line.empty() && !line.contains("eady to accept"));
    Shell filled = shell(fmt::format("redis-benchmark -s {} -t set -n 150000 -r 60000 -d 1000 -P 32 -q", socket_));
    EXPECT_EQ(filled.status, 0) << filled.out;
  }
  [[nodiscard]] pid_t pid() const { return server_.pid(); }
  // What the server says to a command.
  std::string command(std::string_view text) const {
    return shell(fmt::format("redis-cli -s {} {}", socket_, text)).out;
  }
  // Clients that get random ones of so many keys, for as long as the value lives. Returns when they are connected.
  [[nodiscard]] std::unique_ptr<Program> load(int keys) const {
    auto clients = std::make_unique<Program>(std::vector<std::string>{"redis-benchmark", "-s", socket_, "-t", "get",
                                                                      "-n", "100000000", "-r", fmt::format("{}", keys),
                                                                      "-P", "16", "-q"});
    for (int looks = 0; looks < 1000; ++looks)
      if (std::ranges::count(command("client list"), '\n') > 40) break;
    return clients;
  }

 private:
  Scratch folder_;
  std::string socket_ = folder_ / "redis.sock";
  Program server_{{"redis-server", "--port", "0", "--unixsocket", socket_, "--save", "", "--appendonly", "no", "--dir",
                   folder_ / "", "--hz", "1"}};
};

// PostgreSQL refuses to run as root: as its own user, in a folder of ours, without a network.
class Postgres {
 public:
  static bool is_possible() {
    return ::geteuid() == 0 && is_installed("initdb") && is_installed("pg_ctl") && is_installed("psql") &&
           is_installed("setpriv") && shell("id postgres").status == 0;
  }
  Postgres() {
    ::chmod((folder_ / "").c_str(), 0777); // it is not ours
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
  Shell bench(std::string_view options) {
    return as_postgres(fmt::format("pgbench -h {} {} postgres", folder_ / "", options));
  }
  // pgbench with so many clients, for as long as the value lives. Returns when they are connected.
  std::unique_ptr<Program> load(int clients) {
    std::vector<std::string> command = kUser;
    command.insert(command.end(),
                   {"pgbench", "-h", folder_ / "", "-c", fmt::format("{}", clients), "-T", "120", "postgres"});
    auto running = std::make_unique<Program>(command);
    for (int looks = 0; looks < 1000; ++looks)
      if (std::atoi(sql("select count(*) from pg_stat_activity where application_name = $$pgbench$$").out.c_str()) >=
          clients)
        break;
    return running;
  }
  // The server's first process, from which all others descend.
  [[nodiscard]] std::string pid() const {
    std::string text = Files().read(folder_ / "data/postmaster.pid").value_or("");
    return text.substr(0, text.find('\n'));
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

  Scratch folder_;
};

} // namespace hotset
