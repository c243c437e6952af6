// SPDX-License-Identifier: Apache-2.0
// LightGBM behind types of our own: gradient-boosted regression trees, trained and evaluated by the real library.
//
// lightgbm.cpp is the only file that includes its C API. Handles have one owner, every failure is a Result, and the
// library's own messages go to the debug log. In a build without LightGBM the same functions return
// ErrorCode::unsupported with the remedy, so that nothing else needs to know.
//
// Everything runs on one thread with `deterministic` set: the same rows, parameters and seed give the same model.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/matrix.h"

namespace hotset {

bool lightgbm_available();
// "4.7.0", "of this system" when that is all that is known, "none".
std::string_view lightgbm_version();

// Names of the columns as LightGBM stores them; letters, digits and underscores.
using ColumnNames = std::span<const std::string>;

// A trained model. Movable. Not thread-safe.
class Booster {
 public:
  // Trains `rounds` trees on rows of which the row sampling leaves some (LightGBM refuses otherwise). `parameters` are
  // LightGBM's own ("key=value key=value"). Labels that leave nothing to learn give a model that says their mean.
  static Result<Booster> train(const Matrix& rows, std::span<const double> labels, ColumnNames names,
                               const std::string& parameters, std::size_t rounds);
  // LightGBM trusts the text (a damaged one makes it read out of bounds): the caller has checked its fingerprint.
  static Result<Booster> from_text(const std::string& text);

  // LightGBM's own text model.
  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] std::size_t columns() const { return columns_; }

  // One value per row; rows have columns() values.
  [[nodiscard]] Result<std::vector<double>> predict(const Matrix& rows) const;
  // One row by LightGBM's single-row fast path, set up once: some 5 µs in a row (./run bench predict).
  [[nodiscard]] Result<double> predict(std::span<const double> row) const;
  // One row by the general call, as a program without the fast path would; for the benchmark.
  [[nodiscard]] Result<double> predict_plain(std::span<const double> row) const;

  Booster(Booster&&) noexcept;
  Booster& operator=(Booster&&) noexcept;
  ~Booster();

 private:
  struct Handles; // in the order of their destruction
  explicit Booster(std::unique_ptr<Handles> handles, std::size_t columns);

  std::unique_ptr<Handles> handles_;
  std::size_t columns_;
};

} // namespace hotset
