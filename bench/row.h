// SPDX-License-Identifier: Apache-2.0
// A row of results as every benchmark tells it with --json: one schema, so that one script can read them all.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "quartiles.h"

namespace hotset {

struct BenchRow {
  std::string_view bench, name, metric, unit; // name: of the case
  double hotset = 0;                          // medians, like the peer's
  std::optional<double> peer{};               // absent: there is none
  std::string_view peer_name;
  std::optional<double> ratio{};        // above 1: hotset is better; absent: the two do not compare
  std::optional<double> spread{};       // between quartiles; absent: of a single value, or without a ratio
  std::string_view spread_of = "ratio"; // of the rounds' ratios, or of their values: "hotset", in the same unit
  std::string_view machine{};           // where it was measured; empty: here
};

inline nlohmann::ordered_json to_json(const BenchRow& row) {
  auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  nlohmann::ordered_json json{{"bench", row.bench},           {"case", row.name},
                              {"metric", row.metric},         {"unit", row.unit},
                              {"hotset", row.hotset},         {"peer", number(row.peer)},
                              {"peer_name", row.peer_name},   {"ratio", number(row.ratio)},
                              {"spread", number(row.spread)}, {"spread_of", row.spread_of}};
  if (!row.machine.empty()) json["machine"] = row.machine;
  return json;
}

// Both sides measured one after the other in each round: ratios are of one round, for the machine drifts.
struct PairedRounds {
  std::vector<double> hotset, peer, ratios;

  // `ratio`: above 1 where hotset is better.
  void add(double ours, double theirs, double ratio) {
    hotset.push_back(ours);
    peer.push_back(theirs);
    ratios.push_back(ratio);
  }
  // The row of that name, with its numbers.
  [[nodiscard]] BenchRow row(BenchRow named) const {
    const Quartiles ratio = quartiles_of(ratios);
    named.hotset = quantile_of(hotset, 0.5);
    named.peer = quantile_of(peer, 0.5);
    named.ratio = ratio.median;
    named.spread = ratio.spread();
    return named;
  }
};

inline void print_json(const BenchRow& row) {
  fmt::print("{}\n", to_json(row).dump());
}

} // namespace hotset
