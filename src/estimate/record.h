// SPDX-License-Identifier: Apache-2.0
// The estimate record: what every command that prints an estimate prints (schema hotset.estimate/1, docs/schemas.md).
//
// What is not known is absent (JSON null) and has a flag that says why; it is never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

// A reason why a number is not what one might take it for. `code` is stable, `text` is one phrase for people.
struct Flag {
  std::string code;
  std::string text;
};

// lo ≤ bytes ≤ hi.
struct WorkingSet {
  std::uint64_t bytes = 0;
  std::uint64_t low_bytes = 0;
  std::uint64_t high_bytes = 0;
  // The probability that the truth lies inside; 1 for bounds that always hold; absent where the method can't say.
  std::optional<double> confidence = 1.0;
};

// Page faults of the window, from methods that count them.
struct FaultCount {
  std::uint64_t count = 0;
  std::string hook;      // where they were counted
  std::string semantics; // which faults that hook sees
};

// What was measured of the same window beside an estimate (--verify).
struct Verification {
  std::string method;                       // "reference"
  std::uint64_t bytes = 0;                  // by that method
  std::optional<std::uint64_t> truth_bytes; // by the workload's own record, where it publishes one
};

// The processes of a tree or a cgroup that were measured as one, and what holds for all of them.
struct GroupFacts {
  bool tree = true;                         // of Estimate::target, the root; else a cgroup
  std::string path;                         // of the cgroup, from its hierarchy's root
  std::uint64_t id = 0;                     // of the cgroup
  std::uint64_t members = 0;                // processes measured
  std::uint64_t born = 0, joined = 0;       // of them: began their life, or came from elsewhere, in the window
  std::uint64_t ended = 0;                  // were there when the window began, and are no more
  std::uint64_t shared_bytes = 0;           // resident memory that several of them map, counted once
  std::uint64_t frame_set_bytes = 0;        // memory of ours that counting it once took
  std::optional<std::uint64_t> usage_bytes; // what the cgroup is charged for
};

struct Cost {
  double cpu_s = 0;                     // of hotset, for this estimate
  std::optional<double> target_stall_s; // time the target could have been held up
  std::optional<double> prediction_s{}; // from features to bytes, where a model predicts; part of cpu_s
};

struct Estimate {
  Nanoseconds wall{};                // end of the window, since 1970
  Process target;                    // of a tree its root; nothing for a cgroup
  std::optional<double> requested_s; // absent when no window was asked for (a snapshot)
  std::optional<double> effective_s;
  std::string method; // how the number came about: "exact", "sample", "bounds", "reference", "faults", "model"
  std::optional<WorkingSet> wss;
  std::optional<std::uint64_t> rss_bytes;
  std::optional<std::uint64_t> pss_bytes;
  std::optional<std::uint64_t> swap_bytes;
  std::uint64_t granularity_bytes = 0;
  std::optional<double> coverage; // share of the resident memory that the number speaks for, 0…1
  std::optional<FaultCount> faults;
  std::optional<Verification> verify;
  std::optional<GroupFacts> group; // absent: one process
  std::vector<Flag> flags;
  Cost cost;
};

[[nodiscard]] bool has_flag(const Estimate& estimate, std::string_view code);

// The flag of a target that was named by one of its threads; nothing when it was not.
std::optional<Flag> thread_flag(const Process& target);

// The invariants: 0 ≤ lo ≤ WSS ≤ hi ≤ RSS, and ≤ the usage of a cgroup, shares within [0, 1], times finite and not
// negative, and nothing absent without a flag. Says which is broken (ErrorCode::internal: a bug). Every command checks
// it before it prints.
Result<> check_invariants(const Estimate& estimate);

} // namespace hotset
