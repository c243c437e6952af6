// SPDX-License-Identifier: Apache-2.0
// The accessed-bit estimator, without the kernel: what to clear when a window begins, and what the bits say when it
// ends.
//
// A page whose bit is clear when the window begins and set when it ends was touched: exactly known, at no cost. Only
// pages that are set at the beginning are in question. They are cleared if that is affordable, and the answer is exact.
// If it is not, some are: tables that are likely to have gone cold (the sweep: they leave the question for good), and a
// random sample of blocks that speaks for the rest with an interval. What the kernel would not clear is held: its own
// stratum with bounds and a reason. Unknown is not zero.
//
// A window: begin(census) says what to clear; the caller clears, reads the asked tables again and reports by settle();
// answer(census) may be asked any number of times. One census can end a window and begin the next.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/interval.h"
#include "access/judged.h"
#include "access/runs.h"
#include "access/sample.h"
#include "access/snapshot.h"

namespace hotset {

// What the user allows and wants of one window.
struct Aim {
  enum class Method { automatic, exact, sample } method = Method::automatic;
  double budget_us = 5000; // for clearing, in the target's and our time, a window
  double error_pages = 0;  // half-width of the interval to aim for; 0: as narrow as the budget allows
  double confidence = 0.95;
};

// What it costs to write to /proc/PID/clear_refs: 2 for anonymous, 3 for file-backed and shared memory.
struct ScopedCosts {
  double per_page_us = 0.0125; // 6 ms for 512 MiB of shared memory
  double fixed_us = 30;

  void learn(double took_us, std::uint64_t pages);
  [[nodiscard]] double of(std::uint64_t pages) const { return fixed_us + per_page_us * static_cast<double>(pages); }
};

struct ClearPlan {
  enum class Approach { exact, partial, sample } approach = Approach::exact;
  std::string reason; // of the choice, one phrase
  // In this order: runs by MADV_COLD, scoped clears, the flushing runs by MADV_COLD.
  std::vector<Run> runs;          // ascending
  bool scoped_anonymous = false;  // write 2 to clear_refs
  bool scoped_file = false;       // write 3 to clear_refs
  std::uint64_t scoped_pages = 0; // that those two will visit
  std::vector<Run> flushes;       // empty the TLB of what the scoped clears left there: one for each address space
  std::uint64_t run_pages = 0;
  std::size_t units = 0;    // of the sample
  unsigned block_pages = 0; // of the sample
};

// Pages that are set, but may have been before or without a touch: touched or not, nobody knows.
struct Held {
  std::string_view code; // "shared", "locked", "not_cleared", …: stable
  std::string_view text;
  std::uint64_t pages = 0;
};
inline constexpr Held kHeldLocked{"locked",
                                  "locked pages: their Accessed bits wait for a scoped clear within the budget"};
inline constexpr Held kHeldShared{
    "shared",
    "pages that other processes may map, too, or of larger folios: their Accessed bits wait for a scoped clear within "
    "the budget"};
inline constexpr Held kHeldUndecided{
    "undecided", "pages that were set again at once, and it is not known yet whether they can be cleared"};
inline constexpr Held kHeldAround{"around",
                                  "pages that came set in the window: neighbours of a touched page of a file, which "
                                  "the kernel maps with it, or memory "
                                  "that was moved"};
inline constexpr Held kHeldTlb{
    "tlb", "pages that may have been touched through cached translations, which a scoped clear leaves alone"};

struct Answer {
  std::uint64_t resident = 0; // pages at the end of the window
  std::uint64_t huge = 0;     // of them, mapped by 2 MiB entries
  std::uint64_t known = 0;    // touched for certain
  double touched = 0;         // estimate; low ≤ touched ≤ high ≤ resident
  double low = 0, high = 0;
  double confidence = 1;             // 1: the bounds hold always
  std::vector<Held> held;            // not empty: the bounds include what these may hide
  std::uint64_t frame = 0;           // pages that the sample speaks for
  std::size_t units = 0;             // drawn
  std::uint64_t aged = 0;            // bits that the kernel cleared during the window: reclaim is at work
  std::uint64_t hugetlb = 0;         // pages in hugetlb mappings: not part of resident, not measured
  std::uint64_t special = 0;         // pages of device and other special mappings: the same
  PageCount by_mapping[kMappings]{}; // present and known to be touched

  [[nodiscard]] bool exact() const { return low == high; }
  // Share of the resident pages that the number speaks for.
  [[nodiscard]] double coverage() const;
};

// What the window's end says of the pages of one region, for who must know them one by one (group_count.h).
struct Verdict {
  PageMask touched{}; // in the window, for certain
  PageMask maybe{};   // touched or not, nobody knows
  PageMask around{};  // of them, those that a page fault may have mapped for the sake of a neighbour
  PageMask hidden{};  // may have been touched through the TLB
  PageMask sampled{}; // in the population of the sample, which answer() speaks for: in none of the others
  // How many of `maybe` and of `hidden` are expected to have been touched.
  double maybe_touched = 0, hidden_touched = 0;
};

// Several processes can be tracked as one, their snapshots side by side: then there is one budget, one sweep and one
// sample for all, and so one interval.
class Tracker {
 public:
  explicit Tracker(std::uint64_t seed, const AgeTraits& traits = {}) : random_(seed), traits_(traits) {}

  // Begins a window with the census just read. Aims and prices may change from window to window; the design follows
  // from earlier windows alone, never from this one's sample.
  ClearPlan begin(const Snapshot& now, const Aim& aim, const ClearCosts& costs, const ScopedCosts& scoped);

  // What the kernel says of these pages of the region, which stayed set (access/judged.h); nothing when it can't be
  // told now (then they count as held for this window and are asked about again).
  using Judge = std::function<std::optional<Judged>(const Region&, const PageMask&)>;
  // After clearing. `again` holds at least the regions that had pages to clear, read after the clear.
  void settle(const Snapshot& again, const Judge& judge);

  // Ends the window (or looks at it so far).
  Answer answer(const Snapshot& now) const;
  // What is known of the single pages.
  [[nodiscard]] Verdict verdict(const Region& now) const;
  // Address spaces in which the plan's scoped clears settle pages, ascending.
  [[nodiscard]] std::vector<std::uint64_t> scoped_spaces() const;
  // The process went to another program: what is there now came in this window, and nothing is remembered.
  void forget();
  // Lets the running window's sample teach the next design: call once, with the census that ends the window.
  void learn(const Snapshot& now);

  // Tables that must be read again after a clear.
  [[nodiscard]] std::vector<std::uint64_t> asked_tables() const;

 private:
  // What is remembered of one table.
  struct Table {
    std::uint64_t address = 0;
    float heat = 0.5F;       // share of the asked pages that were set again, lately
    bool tried = false;      // there were such
    float held_heat = -1;    // the same of pages that a scoped clear settled; below 0: it never did
    std::uint32_t forks = 0; // Region::forks, lately
    bool huge = false;       // Region::huge, lately
    bool others = false;     // when the window began, or since, others may have mapped shared memory in it
    bool warm = false;       // else the next five are empty
    PageMask unknown{};      // set at the beginning of the window and left alone by choice
    PageMask held{};         // set at the beginning and not clearable
    PageMask asked{};        // set at the beginning and to be cleared by MADV_COLD
    PageMask settled{};      // set at the beginning and cleared by a scoped clear
    PageMask hidden{};       // earlier: cleared without a TLB flush, and neither flushed nor seen set since
    float hidden_hot = 0;    // of them, expected to be touched
    PageMask passed{};       // earlier: MADV_COLD passed over them
    PageMask proven{};       // earlier: MADV_COLD was seen to clear them
    PageMask small{};        // earlier: they were not parts of larger folios
  };
  // A measured region of the window's first census with set pages, and its table. Most of a large target has none: all
  // that is decided about a window is decided by looking at these alone.
  struct Warm {
    const Region* region;
    Table* table;
  };

  // What was mapped of a file, or of memory that was moved, in one region, when the window began.
  struct Mapped {
    std::uint64_t address = 0;
    std::uint32_t content = 0; // Region::content
    bool alone = false;
    PageMask pages{};
  };

  void adopt(const Snapshot& now);
  void renew_tables(const Snapshot& now);
  void adopt_content(const Region& region, Table& table, std::size_t& before);
  static bool doubt(const Region& region, Table& table);
  void forget_unmapped(const Snapshot& again);
  [[nodiscard]] unsigned stop_in(const Region& region, const Table& table) const;
  [[nodiscard]] bool has_tables_of(const Snapshot& now) const;
  double settle_by_scope(const Aim& aim, const ScopedCosts& scoped, ClearPlan& plan);
  void settle_rest(const ClearPlan& plan);
  void ask_for_all(const ClearCosts& costs, ClearPlan& plan);
  void sweep(double budget_us, const ClearCosts& costs, bool hot_too, ClearPlan& plan);
  void draw(const SampleDesign& design, ClearPlan& plan);
  [[nodiscard]] static PageMask waits_for_scope(const Region& region, const Table& table);
  [[nodiscard]] std::optional<Run> flush_in(const Region& region, const PageMask& unknown) const;
  void choose_flush(ClearPlan& plan);
  void expect_hidden(const Snapshot& now, const ClearPlan& plan);
  void settle_flush();
  [[nodiscard]] bool is_cleared(std::uint64_t address) const;
  [[nodiscard]] std::uint64_t unknown_pages() const;
  [[nodiscard]] PageMask drawn_pages(std::uint32_t table) const;
  [[nodiscard]] PageMask mapped_around(const Region& now) const;
  [[nodiscard]] double held_ratio(const Region& region, const Table& table) const;
  [[nodiscard]] static double unseen(const Region& now, const Table& table);
  [[nodiscard]] std::vector<Draw> draws(const Snapshot& now) const;
  [[nodiscard]] Interval interval(std::span<const Draw> drawn) const;

  RandomEngine random_;
  AgeTraits traits_;
  std::vector<Table> tables_;         // ascending by address
  std::vector<Warm> warm_;            // the same; valid during begin(), whose census it points into
  std::vector<Mapped> mapped_;        // regions of files and shared memory of that census, ascending by address
  std::vector<Mapped> mapped_before_; // of the one before
  unsigned windows_ = 0;              // begun
  std::uint64_t present_[2] = {0, 0}; // measured pages of that census: anonymous, with a file
  std::vector<Unit> units_;           // the sample of the running window, in the order of the draw
  std::vector<Unit> drawn_;           // the same, ascending by table
  std::uint64_t frame_ = 0;           // pages of the running window's frame, sample included
  unsigned block_pages_ = 64;
  double confidence_ = 0.95;
  Spread spread_;
  RatioHistory history_;     // what the running window's interval may assume
  std::size_t sweep_at_ = 0; // table at which the sweep goes on
  // Touched share of all that was settled last, for tables that never were: anonymous, file.
  std::optional<double> held_ratio_[2];
  std::vector<Run> flushes_;         // runs whose clearing empties the TLB, one at most for each address space
  bool scoped_[2] = {false, false};  // the running window began with such a clear: anonymous, file
  std::uint64_t waited_[2] = {0, 0}; // pages times windows that wait for a scoped clear: anonymous, file
  double owed_us_[2] = {0, 0};       // saved up for the next scoped clear: anonymous, file
  unsigned quiet_[2] = {0, 0};       // windows that pages waited since the last one: anonymous, file
  bool sampled_ = false;             // the newest window is measured by a sample; during begin(), the one before
};

} // namespace hotset
