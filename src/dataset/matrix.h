// SPDX-License-Identifier: Apache-2.0
// Numbers in rows of equal length, one row after the other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hotset {

class Matrix {
 public:
  explicit Matrix(std::size_t columns) : columns_(columns) {}

  // `row` has columns() values.
  void append(std::span<const double> row) { values_.insert(values_.end(), row.begin(), row.end()); }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  [[nodiscard]] std::span<double> row(std::size_t index) {
    return std::span(values_).subspan(index * columns_, columns_);
  }
  [[nodiscard]] std::span<const double> row(std::size_t index) const {
    return std::span(values_).subspan(index * columns_, columns_);
  }
  [[nodiscard]] const double* data() const { return values_.data(); }

 private:
  std::size_t columns_;
  std::vector<double> values_;
};

} // namespace hotset
