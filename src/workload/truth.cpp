// SPDX-License-Identifier: Apache-2.0
// Makes, finds and checks truth records.
//
// The observer maps memory of a process that it need not trust. A mapping whose file shrinks ends in SIGBUS, so only a
// memfd of ordinary pages with its size sealed and all of its pages allocated is used.
#include "workload/truth.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "base/units.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U // Linux 6.3
#endif

namespace hotset {
namespace {

constexpr char kName[] = "hotset-truth";
constexpr std::string_view kLink = "/memfd:hotset-truth (deleted)";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr std::uint64_t kBlockBytes = 512; // of stat's st_blocks
constexpr std::size_t kStampsRead = 16384; // at a time

constexpr std::size_t record_bytes(std::uint64_t pages) {
  return kTruthStampsOffset + 2 * pages * sizeof(std::uint32_t);
}

Fd make_memfd() {
  // Newer kernels may insist on the flag, older ones don't know it.
  Fd fd(::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (!fd && errno == EINVAL) fd = Fd(::memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  return fd;
}

std::string read_link(const std::string& path) {
  std::array<char, 128> target{};
  ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::unexpected<Error> not_ours(const std::string& object, std::string cause) {
  return fail(ErrorCode::bad_data, "use the truth record of", object, std::move(cause),
              "start the workload with this version of hotset");
}

bool read_all_of(const Fd& fd, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

// The size of a descriptor that can be mapped without fear.
Result<std::size_t> safe_size(const Fd& fd, const std::string& object) {
  int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return not_ours(object, "its size is not sealed");
  struct statfs fs{};
  struct stat status{};
  if (::fstatfs(fd.get(), &fs) != 0 || ::fstat(fd.get(), &status) != 0)
    return fail(errno_error(errno, "look at the truth record of", object));
  // A memfd of hugetlb pages can fail a read for want of huge pages, and that is SIGBUS too.
  if (fs.f_type != TMPFS_MAGIC) return not_ours(object, "it is not made of ordinary pages");
  auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < record_bytes(1) || size > record_bytes(kTruthMaxPages))
    return not_ours(object, fmt::format("it has {} bytes", size));
  if (static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes < size) return not_ours(object, "it has holes");
  return size;
}

} // namespace

TruthMapping::TruthMapping(TruthMapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_) {}

TruthMapping& TruthMapping::operator=(TruthMapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

TruthMapping::~TruthMapping() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

Result<TruthRecord> TruthRecord::create(std::uint64_t pages) {
  constexpr std::string_view kAttempt = "make the truth record";
  if (pages == 0 || pages > kTruthMaxPages)
    return fail(ErrorCode::usage, std::string(kAttempt), fmt::format("of {} pages", pages),
                fmt::format("it can have 1 to {}", kTruthMaxPages), "choose a smaller workload");
  std::size_t bytes = record_bytes(pages);
  Fd fd = make_memfd();
  if (!fd) return fail(errno_error(errno, std::string(kAttempt), ""));
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0 || ::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0)
    return fail(errno_error(errno, std::string(kAttempt), fmt::format("of {} pages", pages)));
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
  if (base == MAP_FAILED) return fail(errno_error(errno, std::string(kAttempt), fmt::format("of {} pages", pages)));
  TruthMapping mapping(base, bytes);
  new (base) TruthHeader{.magic = kTruthMagic,
                         .version = kTruthVersion,
                         .page_bytes = static_cast<std::uint32_t>(hotset::page_bytes()),
                         .pages = pages,
                         .address = 0,
                         .window = 0,
                         .passes = 0,
                         .touches = 0,
                         .moves = 0,
                         .covered = 0};
  return TruthRecord(std::move(mapping), std::move(fd), pages);
}

TruthRecord::TruthRecord(TruthMapping mapping, Fd fd, std::uint64_t pages)
    : mapping_(std::move(mapping)),
      fd_(std::move(fd)),
      header_(mapping_.header()),
      stamps_(
          reinterpret_cast<std::atomic<std::uint32_t>*>(reinterpret_cast<std::byte*>(header_) + kTruthStampsOffset)),
      pages_(pages) {}

void TruthRecord::set_region(const void* first_page, std::uint64_t covered) {
  auto address = reinterpret_cast<std::uint64_t>(first_page);
  if (header_->address.exchange(address) != address) header_->moves.fetch_add(1);
  header_->covered.store(covered);
}

Result<TruthReader> TruthReader::map(Fd fd, const std::string& object) {
  HOTSET_TRY(std::size_t bytes, safe_size(fd, object));
  // Only the window's number is ours to write.
  void* base = ::mmap(nullptr, kTruthStampsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return fail(errno_error(errno, "map the truth record of", object));
  TruthMapping mapping(base, kTruthStampsOffset);
  const TruthHeader& header = *mapping.header();
  std::uint64_t pages = header.pages;
  if (header.magic != kTruthMagic) return not_ours(object, "its magic number is wrong");
  if (header.version != kTruthVersion)
    return not_ours(object, fmt::format("its version is {}, not {}", header.version, kTruthVersion));
  if (header.page_bytes != hotset::page_bytes() || pages == 0 || pages > kTruthMaxPages || record_bytes(pages) != bytes)
    return not_ours(object, fmt::format("{} pages do not fit its {} bytes", pages, bytes));
  return TruthReader(std::move(mapping), std::move(fd), pages, hotset::page_bytes());
}

Result<TruthReader> TruthReader::open(const Files& files, const ProcessId& id) {
  std::string object = fmt::format("process {}", id.pid);
  std::string directory = fmt::format("/proc/{}/fd", id.pid);
  Result<std::vector<std::string>> names = files.list(directory);
  if (!names) return fail(within("look for the truth record of", object, std::move(names).error()));
  for (const std::string& name : *names) {
    std::string path = files.resolve(fmt::format("{}/{}", directory, name));
    struct stat status{};
    // Look before opening: the name proves nothing, and opening a device or a pipe has effects.
    if (read_link(path) != kLink || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!fd) return fail(errno_error(errno, "open the truth record of", object));
    return map(std::move(fd), object);
  }
  return fail(ErrorCode::not_found, "look for the truth record of", object, "it publishes none",
              "only processes of hotset workload do");
}

TruthReader::TruthReader(TruthMapping mapping, Fd fd, std::uint64_t pages, std::uint64_t page_bytes)
    : mapping_(std::move(mapping)), fd_(std::move(fd)), pages_(pages), page_bytes_(page_bytes) {}

std::uint32_t TruthReader::next_window() {
  std::uint32_t ended = header().window.load();
  mapping_.header()->window.store(window_after(ended));
  return ended;
}

// A window's stamps are stable while they may be read, so that it does not matter that a read is not atomic.
template <class Visit>
void TruthReader::for_each_touched(std::uint32_t window, Visit visit) const {
  if (window == 0) return;
  std::array<std::uint32_t, kStampsRead> stamps;
  const std::uint64_t table = kTruthStampsOffset + (window & 1) * pages_ * sizeof(std::uint32_t);
  for (std::uint64_t first = 0; first < pages_; first += kStampsRead) {
    const std::size_t count = std::min<std::uint64_t>(kStampsRead, pages_ - first);
    if (!read_all_of(fd_, std::as_writable_bytes(std::span(stamps).first(count)), table + first * sizeof(stamps[0]))) {
      broken_ = true;
      return;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (stamps[i] == window) visit(first + i);
  }
}

std::uint64_t TruthReader::touched_pages(std::uint32_t window) const {
  std::uint64_t touched = 0;
  for_each_touched(window, [&](std::uint64_t) { ++touched; });
  return touched;
}

std::vector<bool> TruthReader::touched(std::uint32_t window) const {
  std::vector<bool> flags(pages_);
  for_each_touched(window, [&](std::uint64_t page) { flags[page] = true; });
  return flags;
}

} // namespace hotset
