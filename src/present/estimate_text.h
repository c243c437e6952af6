// SPDX-License-Identifier: Apache-2.0
// Estimates as a table for people: one line each, and the reasons for doubt below it, each once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "estimate/record.h"
#include "present/style.h"

namespace hotset {

class EstimateTable {
 public:
  // `faults`: show the count of page faults in place of what a method that only counts them can't know. What does not
  // fit into `width` columns is left out, the least important first.
  EstimateTable(Style style, bool faults, std::size_t width = kAllColumns)
      : style_(style), faults_(faults), width_(width) {}

  static constexpr std::size_t kAllColumns = static_cast<std::size_t>(-1);

  // The names of the columns. Lines come without a line feed.
  [[nodiscard]] std::string header() const;
  // One line; keeps the estimate's flags for notes().
  std::string row(const Estimate& estimate);
  // What is to be known about the rows so far; empty when there is nothing.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Note {
    Flag flag; // the newest
    std::uint64_t rows = 0;
    bool varies = false; // its text was another one in an earlier row
  };

  Style style_;
  bool faults_;
  std::size_t width_;
  std::uint64_t rows_ = 0;
  std::vector<Note> notes_;
};

} // namespace hotset
