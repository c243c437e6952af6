// SPDX-License-Identifier: Apache-2.0
#include "access/judge.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hotset {
namespace {

// What may be asked of the kernel about single pages per window: a table costs about 10 µs, a frame 0.2 to 0.3 µs.
constexpr std::size_t kJudgedTables = 512;
constexpr std::size_t kJudgedFrames = 65536;

bool is_on_lru(std::uint64_t flags) {
  return (flags & FrameFlags::kOnLru) != 0;
}

} // namespace

void Judge::restart() {
  tables_ = frames_ = 0;
  pagemap_.reset();
}

std::optional<Judged> Judge::judge(pid_t pid, std::uint64_t address, const Region& region, const PageMask& pages) {
  Judged judged;
  if (region.huge) {
    // A whole folio has one fate, and older kernels keep its flags with its first page only.
    const std::optional<std::vector<Page>> first = look_up(pid, address, PageMask::range(0, 1));
    if (!first) return std::nullopt;
    if (first->empty() || !first->front().entry.exclusive() || !is_on_lru(first->front().flags)) judged.passed = pages;
    return judged;
  }
  const PageMask looked = traits_.stops_at_folios ? PageMask::range(region.first, pages.last() + 1) : pages;
  const std::optional<std::vector<Page>> found = look_up(pid, address, looked);
  if (!found) return std::nullopt;
  judged.passed = pages;
  bool stopped = false;
  for (const Page& page : *found) {
    const bool small = (page.flags & FrameFlags::kOfFolio) == 0;
    if (traits_.stops_at_folios && small) judged.small.set(page.page);
    stopped = stopped || (traits_.stops_at_folios && !small);
    if (!stopped && page.entry.exclusive() && small && is_on_lru(page.flags)) judged.passed.clear(page.page);
  }
  judged.passed &= pages;
  return judged;
}

// Those of the pages that are mapped now; nothing when that or what the kernel says of them can't be told.
std::optional<std::vector<Judge::Page>> Judge::look_up(pid_t pid, std::uint64_t address, const PageMask& pages) {
  if (tables_ >= kJudgedTables || frames_ + pages.count() > kJudgedFrames) return std::nullopt;
  ++tables_;
  if (!pagemap_ || std::exchange(pid_, pid) != pid) {
    pid_ = pid;
    pagemap_.reset();
    Result<Pagemap> opened = Pagemap::open(pid);
    if (!opened) return std::nullopt;
    pagemap_ = std::move(*opened);
  }
  const unsigned first = pages.next(0);
  const Result<std::vector<PagemapEntry>> entries =
      pagemap_->read(address + first * std::uint64_t{4096}, pages.last() - first + 1);
  if (!entries) return std::nullopt;
  std::vector<Page> found;
  for (unsigned page = first; page < kTablePages; page = pages.next(page + 1)) {
    const PagemapEntry& entry = (*entries)[page - first];
    if (!entry.present()) continue;
    if (entry.frame() == 0) return std::nullopt; // hidden from us
    found.push_back({page, entry});
  }
  frames_ += found.size();
  // Neighbours are often neighbours in memory as well: one call for them.
  std::array<std::uint64_t, kTablePages> flags;
  for (auto run = found.begin(); run != found.end();) {
    auto end = run + 1;
    while (end != found.end() && end->entry.frame() == std::prev(end)->entry.frame() + 1)
      ++end;
    const auto length = static_cast<std::size_t>(end - run);
    if (!flags_.read(run->entry.frame(), std::span(flags).first(length))) return std::nullopt;
    for (std::size_t i = 0; i < length; ++i, ++run)
      run->flags = flags[i];
  }
  return found;
}

} // namespace hotset
