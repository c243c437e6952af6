// SPDX-License-Identifier: Apache-2.0
#include "access/census.h"

#include "bpf/census.h" // before the skeleton, whose variables are of its types

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <census.skel.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_map>
#include <utility>

#include "access/pagemap.h"
#include "kernel/bpf_error.h"
#include "kernel/loader.h"

namespace hotset {
namespace {

constexpr std::string_view kProgram = "the page-table census";
constexpr std::size_t kKnownPages = 64; // of our own, to verify the walk with
constexpr std::uint64_t kEverything = ~std::uint64_t{0};

static_assert(static_cast<int>(Mapping::anonymous) == CENSUS_ANONYMOUS &&
              static_cast<int>(Mapping::stack) == CENSUS_STACK && static_cast<int>(Mapping::file) == CENSUS_FILE &&
              static_cast<int>(Mapping::shmem) == CENSUS_SHMEM &&
              static_cast<int>(Mapping::hugetlb) == CENSUS_HUGETLB &&
              static_cast<int>(Mapping::special) == CENSUS_SPECIAL);

class Pages {
 public:
  static Result<Pages> map(std::size_t bytes, int protection, int flags, int fd) {
    void* address = ::mmap(nullptr, bytes, protection, flags, fd, 0);
    if (address == MAP_FAILED) return fail(errno_error(errno, "map memory for", std::string(kProgram)));
    return Pages(address, bytes);
  }
  Pages() = default;
  Pages(Pages&& other) noexcept : address_(std::exchange(other.address_, nullptr)), bytes_(other.bytes_) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Pages() {
    if (address_ != nullptr) ::munmap(address_, bytes_);
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(address_);
  }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(address_); }

 private:
  Pages(void* address, std::size_t bytes) : address_(address), bytes_(bytes) {}
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

Result<Fd> attach_to(bpf_program* program, pid_t pid) {
  bpf_iter_link_info info{};
  info.task.tid = static_cast<__u32>(pid);
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));
  LibbpfLog log;
  std::unique_ptr<bpf_link, DestroyLink> link(bpf_program__attach_iter(program, &options));
  if (!link) {
    // Before Linux 6.1 the iterator takes no parameters and would walk every process of the machine.
    if (errno == EINVAL)
      return fail(ErrorCode::unsupported, "attach", std::string(kProgram),
                  "this kernel cannot iterate over the mappings of one process (Linux 6.1 can)",
                  "use --method reference");
    return fail(bpf_error(errno, "attach", std::string(kProgram), log.text(), read_privileges(Files())));
  }
  Fd fd(::dup(bpf_link__fd(link.get())));
  if (!fd) return fail(errno_error(errno, "keep the link of", std::string(kProgram)));
  return fd;
}

Result<Fd> start(const Fd& link) {
  Fd pass(bpf_iter_create(link.get()));
  if (!pass) return fail(errno_error(errno, "start", std::string(kProgram)));
  return pass;
}

// Runs the program over the mappings of the process until the end (true) or until it breaks off (false); called again
// it goes on there.
Result<bool> advance(const Fd& pass) {
  std::array<char, 64> unused{};
  ssize_t got = 0;
  do {
    got = ::read(pass.get(), unused.data(), unused.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  if (got < 0 && errno != EAGAIN) return fail(errno_error(errno, "run", std::string(kProgram)));
  return got == 0;
}

} // namespace

struct Census::State {
  Clock* clock;
  Skeleton<census_bpf> object;
  std::uint64_t zero_frame = 0;
  FrameFlags flags;
  std::unordered_map<std::uint64_t, bool>
      huge_zero; // frame of a read-only huge page: is it the kernel's page of zeros?

  void take_chunk(const Visit* visit, std::vector<Region>& regions);
  void fill(Region& region, const census_stretch& stretch, const Entry* entries);
  bool is_huge_zero(std::uint64_t frame);
};

// The kernel's page of zeros stands for memory that was only read: neither smaps nor we call it resident.
bool Census::State::is_huge_zero(std::uint64_t frame) {
  if (auto known = huge_zero.find(frame); known != huge_zero.end()) return known->second;
  Result<std::uint64_t> bits = flags.read(frame);
  bool zero = bits && (*bits & FrameFlags::kZeroPage) != 0;
  if (huge_zero.size() > 4096) huge_zero.clear();
  return huge_zero[frame] = zero;
}

void Census::State::fill(Region& region, const census_stretch& stretch, const Entry* entries) {
  region = {.address = stretch.address,
            .vma = stretch.vma,
            .mapping = static_cast<Mapping>(stretch.mapping),
            .huge = (stretch.flags & CENSUS_HUGE) != 0,
            .locked = (stretch.flags & CENSUS_LOCKED) != 0,
            .shared = (stretch.flags & CENSUS_SHARED) != 0,
            .alone = (stretch.flags & CENSUS_ALONE) != 0,
            .first = stretch.first,
            .last = stretch.last,
            .forks = stretch.forks,
            .content = stretch.content};
  const bool private_memory = region.mapping == Mapping::anonymous || region.mapping == Mapping::stack;
  if (region.huge) {
    const Entry entry = entries[0];
    const bool writable = (entry & kEntryWritable) != 0;
    if (private_memory && !writable && is_huge_zero(frame_number(entry) & ~std::uint64_t{kTablePages - 1})) return;
    region.present = region.own();
    if (entry & kEntryAccessed) region.accessed = region.present;
    if (writable) region.writable = region.present;
    return;
  }
  const LeafPages pages = scan_leaf(std::span(entries, region.last - region.first), region.first);
  region.present = pages.present;
  region.accessed = pages.accessed;
  region.writable = pages.writable;
  if (private_memory) {
    const PageMask read_only = region.present - region.writable;
    for (unsigned page = read_only.next(0); page < kTablePages; page = read_only.next(page + 1))
      if (frame_number(entries[page - region.first]) == zero_frame) {
        region.present.clear(page);
        region.accessed.clear(page);
      }
  }
}

// Works out what the program has copied.
void Census::State::take_chunk(const Visit* visit, std::vector<Region>& regions) {
  const auto& bss = *object->bss;
  const std::uint32_t used = std::min(bss.used, CENSUS_CHUNK_STRETCHES);
  for (std::uint32_t i = 0; i < used; ++i) {
    const census_stretch& stretch = bss.stretches[i];
    const Entry* entries = &bss.entries[std::min(stretch.copy, CENSUS_CHUNK_ENTRIES - CENSUS_TABLE_ENTRIES)];
    Region& region = regions.emplace_back();
    fill(region, stretch, entries);
    if (visit) (*visit)(region, Entries(entries, region));
    if (!region.present.any()) regions.pop_back();
  }
}

Census::Census(std::unique_ptr<State> state) : state_(std::move(state)) {}
Census::Census(Census&&) noexcept = default;
Census& Census::operator=(Census&&) noexcept = default;
Census::~Census() = default;
Census::Subject::Subject(Subject&&) noexcept = default;
Census::Subject& Census::Subject::operator=(Subject&&) noexcept = default;
Census::Subject::~Subject() = default;

namespace {

// The first number of statm is the size in pages, 0 once the memory is given back.
bool has_memory(pid_t pid) {
  Result<std::string> pages = Files().read(fmt::format("/proc/{}/statm", pid));
  return pages && !pages->empty() && !pages->starts_with("0 ");
}

} // namespace

bool Census::Subject::alive() const {
  pollfd ended{pidfd_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0;
}

Result<Census> Census::open(Clock& clock) {
  auto state = std::make_unique<State>();
  state->clock = &clock;
  HOTSET_TRY(state->object, open_skeleton<census_bpf>(kProgram));
  HOTSET_CHECK(load_skeleton(*state->object->skeleton, kProgram));
  HOTSET_TRY(state->flags, FrameFlags::open());

  // Pages of our own that the walk must find: written ones, and one that was only read and so shows the page of zeros.
  HOTSET_TRY(Pages known, Pages::map(kKnownPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
  ::madvise(known.as<void>(), kKnownPages * 4096, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i + 1 < kKnownPages; ++i)
    known.as<volatile char>()[i * 4096] = 1;
  [[maybe_unused]] char zero = known.as<volatile char>()[(kKnownPages - 1) * 4096];
  HOTSET_TRY(Pagemap pagemap, Pagemap::open(0));
  HOTSET_TRY(std::vector<PagemapEntry> frames, pagemap.read(known.address(), kKnownPages));
  if (frames[0].frame() == 0)
    return fail(ErrorCode::permission, "read the frame numbers of", "our own pages", "the kernel hides them",
                "run as root (CAP_SYS_ADMIN)");
  state->zero_frame = frames[kKnownPages - 1].frame();

  auto& bss = *state->object->bss;
  bss.known_address = known.address();
  bss.known_frame = frames[0].frame();
  {
    HOTSET_TRY(Fd link, attach_to(state->object->progs.find_direct_map, ::getpid()));
    HOTSET_TRY(Fd pass, start(link));
    HOTSET_CHECK(advance(pass));
  }
  Census census(std::move(state));
  std::size_t right = 0;
  if (bss.levels != 0) {
    HOTSET_TRY(Subject self, census.attach({::getpid(), 0}));
    Visit compare = [&](const Region& region, const Entries& entries) {
      for (std::size_t i = 0; i < kKnownPages; ++i) {
        std::uint64_t address = known.address() + i * 4096;
        if (region.huge || address / kTableBytes * kTableBytes != region.address) continue;
        auto page = static_cast<unsigned>(address % kTableBytes / 4096);
        if (page < region.first || page >= region.last) continue;
        right += is_mapped(entries[page]) && frame_number(entries[page]) == frames[i].frame();
      }
    };
    HOTSET_CHECK(census.read(self, compare));
  }
  if (right != kKnownPages)
    return fail(ErrorCode::unsupported, "find", "this machine's page tables",
                bss.levels == 0 ? "no place of the direct map leads from our own page table to our own pages"
                                : "they lead to other frames than /proc/self/pagemap names",
                "use --method reference, and report the kernel version");
  bss.unreadable = 0; // the search looked at places where nothing is
  return census;
}

Result<Census::Subject> Census::attach(const ProcessId& id) {
  Subject subject;
  subject.pid_ = id.pid;
  subject.pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
  if (!subject.pidfd_) return fail(errno_error(errno, "open", fmt::format("process {}", id.pid)));
  if (id.start_ticks != 0 && !is_alive(Files(), id))
    return fail(ErrorCode::gone, "attach to", fmt::format("process {}", id.pid), "it ended");
  HOTSET_TRY(subject.link_, attach_to(state_->object->progs.copy_tables, id.pid));
  return subject;
}

Result<> Census::read_into(Snapshot& snapshot, const Subject& subject) {
  state_->object->bss->filtered = 0;
  return walk(subject, {0, kEverything}, nullptr, snapshot);
}

Result<> Census::read_into(Snapshot& snapshot, const Subject& subject, std::span<const std::uint64_t> tables) {
  auto& bss = *state_->object->bss;
  std::ranges::fill(bss.filter, 0);
  std::ranges::fill(bss.gib_filter, 0);
  auto set = [](auto& words, std::uint64_t bit) { words[bit / 64] |= std::uint64_t{1} << (bit % 64); };
  Extent extent{kEverything, 0};
  for (std::uint64_t address : tables) {
    set(bss.filter, census_filter_bit(address));
    set(bss.gib_filter, census_gib_bit(address));
    extent = {std::min(extent.from, address), std::max(extent.until, address + kTableBytes)};
  }
  bss.filtered = 1;
  return walk(subject, extent, nullptr, snapshot);
}

Result<Snapshot> Census::read(const Subject& subject) {
  Snapshot snapshot;
  HOTSET_CHECK(read_into(snapshot, subject));
  return snapshot;
}

Result<Snapshot> Census::read(const Subject& subject, std::span<const std::uint64_t> tables) {
  Snapshot snapshot;
  HOTSET_CHECK(read_into(snapshot, subject, tables));
  return snapshot;
}

Result<Snapshot> Census::read(const Subject& subject, const Visit& visit) {
  Snapshot snapshot;
  state_->object->bss->filtered = 0;
  HOTSET_CHECK(walk(subject, {0, kEverything}, &visit, snapshot));
  return snapshot;
}

Result<std::uint64_t> Census::find_address_space(const Subject& subject) {
  auto& bss = *state_->object->bss;
  std::ranges::fill(bss.filter, 0);
  std::ranges::fill(bss.gib_filter, 0);
  bss.filtered = 1;
  Snapshot none;
  HOTSET_CHECK(walk(subject, {0, kEverything}, nullptr, none));
  return bss.address_space;
}

Result<> Census::walk(const Subject& subject, Extent extent, const Visit* visit, Snapshot& snapshot) {
  auto& bss = *state_->object->bss;
  snapshot.regions.clear();
  snapshot.begin = state_->clock->now();
  bss.giant_pages = 0;
  bss.mappings = 0;
  bss.address_space = 0;
  bss.processor = -1;
  bss.read_until = extent.until;
  bss.resume_at = extent.from;
  bss.complete = 0;
  for (bool seen_all = false; !seen_all;) {
    HOTSET_TRY(Fd pass, start(subject.link_));
    bss.continued = 0;
    do {
      bss.used = bss.copied = 0;
      bss.next_at = 0;
      bss.astray = 0;
      HOTSET_TRY(bool ended, advance(pass));
      state_->take_chunk(visit, snapshot.regions);
      seen_all = ended || bss.complete;
      // Without a full chunk it was the kernel that broke off, as it does after a million mappings.
      bss.continued = bss.next_at != 0;
      if (bss.continued) bss.resume_at = bss.next_at;
    } while (!seen_all && !bss.astray);
  }
  snapshot.end = state_->clock->now();
  snapshot.processor = bss.processor < 0 ? std::nullopt : std::optional(static_cast<unsigned>(bss.processor));
  // A process of which nothing is shown has given its memory back on its way out, or is hidden from us: only the first
  // has ended.
  if (bss.mappings == 0 && !bss.filtered && has_memory(subject.pid()))
    return fail(ErrorCode::unsupported, "read the page tables of", fmt::format("process {}", subject.pid()),
                "it has memory, but the kernel's iterator shows none of it", "try --method reference");
  if (bss.mappings == 0 && !bss.filtered)
    return fail(ErrorCode::gone, "read", fmt::format("process {}", subject.pid()), "it ended, or has no memory");
  if (!subject.alive()) return fail(ErrorCode::gone, "read", fmt::format("process {}", subject.pid()), "it ended");
  return {};
}

std::uint64_t Census::unreadable() const {
  return state_->object->bss->unreadable;
}
std::uint64_t Census::visits() const {
  return state_->object->bss->visits;
}
std::uint64_t Census::giant_pages() const {
  return state_->object->bss->giant_pages;
}
std::uint64_t Census::address_space() const {
  return state_->object->bss->address_space;
}
std::uint64_t Census::direct_map() const {
  return state_->object->bss->direct_map;
}
unsigned Census::levels() const {
  return state_->object->bss->levels;
}

} // namespace hotset
