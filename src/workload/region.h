// SPDX-License-Identifier: Apache-2.0
// One allocation of a workload, and how its pages are touched.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fd.h"
#include "base/result.h"
#include "workload/pattern.h"

namespace hotset {

class Region {
 public:
  Region() = default;
  // Reserves spec.rss_bytes; no page of it is touched yet. A file is made in spec.directory, has no name when this
  // returns, and has its blocks when it is going to be written.
  static Result<Region> allocate(const WorkloadSpec& spec);
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;
  ~Region();

  [[nodiscard]] bool allocated() const { return data_ != nullptr; }
  [[nodiscard]] std::byte* first_page() const { return first_page_; }
  // Pages that hold at least one byte of the region.
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

  // One word of the page, another one in each, so that the pages don't fight for the same sets of the cache.
  void write(std::uint64_t page, std::uint64_t value) const { *word(page) = value; }
  [[nodiscard]] std::uint64_t read(std::uint64_t page) const { return *word(page); }
  // Every int of the region that lies in the page.
  void write_elements(std::uint64_t page, int value) const;
  [[nodiscard]] int read_elements(std::uint64_t page) const;

 private:
  struct Elements {
    int* begin;
    int* end;
  };
  [[nodiscard]] volatile std::uint64_t* word(std::uint64_t page) const {
    return reinterpret_cast<volatile std::uint64_t*>(first_page_ + page * page_bytes_ +
                                                     page * kCacheLine % page_bytes_);
  }
  [[nodiscard]] Elements elements(std::uint64_t page) const;

  static constexpr std::uint64_t kCacheLine = 64;

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::byte* first_page_ = nullptr;
  std::uint64_t pages_ = 0;
  std::uint64_t page_bytes_ = 0;
  void* mapping_ = nullptr; // what to unmap; null: of the heap
  std::size_t mapping_bytes_ = 0;
};

} // namespace hotset
