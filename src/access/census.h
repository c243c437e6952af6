// SPDX-License-Identifier: Apache-2.0
// Reads which pages of a process are mapped and which have their Accessed bit set, without stopping it: a BPF program
// copies its leaf page tables, chunk by chunk, and we look at the copies. An order of magnitude cheaper than smaps
// (docs/results.md), and equal to it (docs/access.md lists the exceptions).
//
// Where the kernel maps all memory, and how many levels its page tables have, is found by leading from our own page
// table to frames that /proc/self/pagemap names. Never guessed: when it can't be verified, opening is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "access/leaf.h"
#include "access/snapshot.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "identity/process.h"

namespace hotset {

// The entries behind a region, by the number of the page in its table, region.first ≤ page < region.last. A huge region
// has one entry, of page 0.
class Entries {
 public:
  Entries(const Entry* copied, const Region& region) : copied_(copied), first_(region.huge ? 0 : region.first) {}
  const Entry& operator[](unsigned page) const { return copied_[page - first_]; }

 private:
  const Entry* copied_;
  unsigned first_;
};

// Not thread-safe: one buffer.
class Census {
 public:
  // Errors: permission (root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN), unsupported (the kernel lacks iter/task_vma
  // of one task, Linux 6.1, or its page tables don't look as expected).
  static Result<Census> open(Clock& clock);
  Census(Census&&) noexcept;
  Census& operator=(Census&&) noexcept;
  ~Census();

  // A process to read, any number of times. Freed: detached.
  class Subject {
   public:
    Subject(Subject&&) noexcept;
    Subject& operator=(Subject&&) noexcept;
    ~Subject();
    [[nodiscard]] int pidfd() const { return pidfd_.get(); }
    [[nodiscard]] pid_t pid() const { return pid_; }
    // False when it ended.
    [[nodiscard]] bool alive() const;

   private:
    friend class Census;
    Subject() = default;
    pid_t pid_ = 0;
    Fd pidfd_;
    Fd link_;
  };
  // Errors: not_found, permission.
  Result<Subject> attach(const ProcessId& id);

  // Everything the process has mapped. ErrorCode::gone when it ended meanwhile.
  Result<Snapshot> read(const Subject& subject);
  // Only the tables of these addresses (multiples of 2 MiB), and perhaps some more.
  Result<Snapshot> read(const Subject& subject, std::span<const std::uint64_t> tables);
  // Everything, with the entries for those who need frame numbers: visit(region, entries) as the chunks come in. What
  // it changes of the region is in the snapshot.
  using Visit = std::function<void(Region&, const Entries&)>;
  Result<Snapshot> read(const Subject& subject, const Visit& visit);
  // The same for who reads again and again: what the snapshot holds is replaced, its memory is used again.
  Result<> read_into(Snapshot& snapshot, const Subject& subject);
  Result<> read_into(Snapshot& snapshot, const Subject& subject, std::span<const std::uint64_t> tables);

  // As address_space(), without reading the tables. ErrorCode::gone when the process ended meanwhile.
  Result<std::uint64_t> find_address_space(const Subject& subject);

  // Directories and tables that could not be read since open(): above 0, counts are lower bounds.
  [[nodiscard]] std::uint64_t unreadable() const;
  // Mappings that the kernel has shown since open(): what a reading costs beside the copies.
  [[nodiscard]] std::uint64_t visits() const;
  // Pages in 1 GiB entries that the last reading passed: hugetlb memory, in no region.
  [[nodiscard]] std::uint64_t giant_pages() const;
  // Where the top-level page table of the process read last is: processes that share their memory have the same, and a
  // process that has gone to another program another.
  [[nodiscard]] std::uint64_t address_space() const;
  [[nodiscard]] std::uint64_t direct_map() const;
  [[nodiscard]] unsigned levels() const;

 private:
  struct State;
  explicit Census(std::unique_ptr<State> state);
  struct Extent {
    std::uint64_t from, until;
  };
  Result<> walk(const Subject& subject, Extent extent, const Visit* visit, Snapshot& snapshot);
  std::unique_ptr<State> state_;
};

} // namespace hotset
