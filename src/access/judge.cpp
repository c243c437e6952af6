// SPDX-License-Identifier: Apache-2.0
#include "access/judge.h"

#include <utility>
#include <vector>

namespace hotset {
namespace {

// What may be asked of the kernel about single pages per window: a table costs about 10 µs, a frame 0.5 µs.
constexpr std::size_t kJudgedTables = 512;
constexpr std::size_t kJudgedFrames = 4096;

} // namespace

void Judge::restart() {
  tables_ = frames_ = 0;
  pagemap_.reset();
}

std::optional<PageMask> Judge::passed_over(pid_t pid, std::uint64_t address, const PageMask& pages, bool huge) {
  if (tables_ >= kJudgedTables) return std::nullopt;
  ++tables_;
  if (!pagemap_ || std::exchange(pid_, pid) != pid) {
    pid_ = pid;
    pagemap_.reset();
    Result<Pagemap> opened = Pagemap::open(pid);
    if (!opened) return std::nullopt;
    pagemap_ = std::move(*opened);
  }
  // Where one entry maps a whole folio, that has one fate, and older kernels keep its flags with its first page only.
  const unsigned first = huge ? 0 : pages.next(0);
  Result<std::vector<PagemapEntry>> entries =
      pagemap_->read(address + first * std::uint64_t{4096}, huge ? 1 : pages.last() - first + 1);
  if (!entries) return std::nullopt;
  if (huge) return clearable(entries->front(), FrameFlags::kOnLru) ? PageMask{} : pages;
  PageMask passed;
  for (unsigned page = first; page < kTablePages; page = pages.next(page + 1))
    if (!clearable((*entries)[page - first], FrameFlags::kOnLru | FrameFlags::kOfFolio)) passed.set(page);
  return passed;
}

bool Judge::clearable(const PagemapEntry& entry, std::uint64_t asked) {
  if (!entry.exclusive() || entry.frame() == 0 || frames_ >= kJudgedFrames) return entry.exclusive();
  ++frames_;
  Result<std::uint64_t> flags = flags_.read(entry.frame());
  return !flags || (*flags & asked) == FrameFlags::kOnLru;
}

} // namespace hotset
