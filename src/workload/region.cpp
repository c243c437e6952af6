// SPDX-License-Identifier: Apache-2.0
#include "workload/region.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/units.h"

namespace hotset {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Without a name from the start where the file system can; else unlinked at once.
Fd open_temporary(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  std::string path = directory + "/hotset-workload.XXXXXX";
  fd = Fd(::mkostemp(path.data(), O_CLOEXEC));
  if (fd) ::unlink(path.c_str());
  return fd;
}

Result<Fd> make_file(const WorkloadSpec& spec) {
  auto in = [&](int error) {
    Error what = errno_error(error, "make the workload's file in", spec.directory);
    if (what.code != ErrorCode::permission) what.code = ErrorCode::output;
    if (what.remedy.empty()) what.remedy = "choose another --directory";
    return fail(std::move(what));
  };
  Fd fd = open_temporary(spec.directory);
  if (!fd) return in(errno);
  auto bytes = static_cast<off_t>(region_pages(spec) * page_bytes());
  if (::ftruncate(fd.get(), bytes) != 0) return in(errno);
  // A write into a hole of a full file system would end in SIGBUS.
  if (spec.write)
    if (int error = ::posix_fallocate(fd.get(), 0, bytes); error != 0) return in(error);
  return fd;
}

} // namespace

Result<Region> Region::allocate(const WorkloadSpec& spec) {
  Region region;
  region.page_bytes_ = hotset::page_bytes();
  region.bytes_ = spec.rss_bytes;
  if (spec.pattern->memory == Memory::heap) {
    if (spec.mmap_threshold) ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(*spec.mmap_threshold));
    region.data_ = static_cast<std::byte*>(std::malloc(region.bytes_));
    if (region.data_ == nullptr) return fail(errno_error(ENOMEM, "allocate", human_bytes(region.bytes_)));
  } else {
    Fd file;
    int flags = spec.shared ? MAP_SHARED : MAP_PRIVATE;
    if (spec.pattern->memory == Memory::file) {
      HOTSET_TRY(file, make_file(spec));
    } else {
      flags |= MAP_ANONYMOUS;
    }
    region.bytes_ = region_pages(spec) * region.page_bytes_;
    std::size_t slack = spec.huge ? kHugePage : 0; // room to start at a huge page's edge
    region.mapping_bytes_ = region.bytes_ + slack;
    void* base = ::mmap(nullptr, region.mapping_bytes_, PROT_READ | PROT_WRITE, flags, file.get(), 0);
    if (base == MAP_FAILED) return fail(errno_error(errno, "map", human_bytes(region.bytes_)));
    region.mapping_ = base;
    std::size_t past = spec.huge ? reinterpret_cast<std::uintptr_t>(base) % kHugePage : 0;
    region.data_ = static_cast<std::byte*>(base) + (past == 0 ? 0 : kHugePage - past);
    // A kernel without huge pages refuses the advice; then there are none, and smaps shows it.
    if (!file) ::madvise(base, region.mapping_bytes_, spec.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  std::size_t before = reinterpret_cast<std::uintptr_t>(region.data_) % region.page_bytes_;
  region.first_page_ = region.data_ - before;
  region.pages_ = (before + region.bytes_ + region.page_bytes_ - 1) / region.page_bytes_;
  return region;
}

Region::Region(Region&& other) noexcept {
  *this = std::move(other);
}

Region& Region::operator=(Region&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(first_page_, other.first_page_);
  std::swap(pages_, other.pages_);
  std::swap(page_bytes_, other.page_bytes_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  return *this;
}

Region::~Region() {
  if (mapping_ != nullptr)
    ::munmap(mapping_, mapping_bytes_);
  else
    std::free(data_);
}

Region::Elements Region::elements(std::uint64_t page) const {
  std::byte* page_begin = first_page_ + page * page_bytes_;
  return {reinterpret_cast<int*>(std::max(page_begin, data_)),
          reinterpret_cast<int*>(std::min(page_begin + page_bytes_, data_ + bytes_))};
}

void Region::write_elements(std::uint64_t page, int value) const {
  auto [begin, end] = elements(page);
  std::fill(begin, end, value);
  asm volatile("" ::: "memory"); // the array is written for its own sake: nobody reads it
}

int Region::read_elements(std::uint64_t page) const {
  auto [begin, end] = elements(page);
  int sum = static_cast<int>(std::accumulate(begin, end, 0U, [](unsigned s, int e) { return s + unsigned(e); }));
  asm volatile("" ::"r"(sum) : "memory");
  return sum;
}

} // namespace hotset
