// SPDX-License-Identifier: Apache-2.0
// Beginning a window: what is in question, and which of it to clear.
#include "access/tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "access/tracker_join.h"

namespace hotset {
namespace {

constexpr double kScopedShare = 0.5;   // of the budget that scoped clears may use
constexpr double kMaxOwedWindows = 64; // a scoped clear that costs more than this many windows' share never runs
constexpr double kSweepShare = 0.5;    // of what is left for clearing when it is not enough for all
constexpr float kHot = 0.5F;           // tables above are not worth a sweep: most of it would be set again at once
constexpr double kCheapShare = 0.05;   // of the budget: a scoped clear that costs less is made whatever it settles
constexpr unsigned kSweepLeast = 8;    // cold pages that a sweep of a table must be expected to win
constexpr double kNotWorthSampling_us = 300; // an exact window this cheap is not made cheaper
constexpr double kWorthSampling = 2;         // a sample that is asked for is drawn where all costs this many times it
// What widens a sampled interval by next to nothing is settled once in so many windows, however cheap that is.
constexpr unsigned kSeldom = 16;
// What lies behind a part of a larger folio is tried again once in so many windows, some tables in each.
constexpr unsigned kTryAgain = 16;

} // namespace

void ScopedCosts::learn(double took_us, std::uint64_t pages) {
  const ScopedCosts standard;
  double per_page = std::max(0.0, took_us - fixed_us) / static_cast<double>(std::max<std::uint64_t>(pages, 1024));
  per_page_us =
      std::clamp(per_page_us + (per_page - per_page_us) / 4, standard.per_page_us / 10, standard.per_page_us * 10);
}

ClearPlan Tracker::begin(const Snapshot& now, const Aim& aim, const ClearCosts& costs, const ScopedCosts& scoped) {
  ClearPlan plan;
  adopt(now);
  units_.clear();
  drawn_.clear();
  frame_ = 0;
  confidence_ = aim.confidence;
  double budget = std::max(0.0, aim.budget_us - settle_by_scope(aim, scoped, plan));

  choose_flush(plan);
  const std::uint64_t pages = unknown_pages();
  const SampleDesign design =
      design_sample(spread_, std::max<std::uint64_t>(pages, 1), aim.error_pages, budget * (1 - kSweepShare), costs);
  // Where a sample is asked for and the pages alone make all of them much dearer, their runs need not be worked out.
  const bool asked = aim.method == Aim::Method::sample;
  const double worth_us = asked ? design.cost_us * kWorthSampling : std::numeric_limits<double>::infinity();
  ClearPlan all = plan;
  double price = costs.of(0, pages);
  if (price <= worth_us) {
    ask_for_all(costs, all);
    price = costs.of(all.runs.size(), all.run_pages);
  }
  bool few = all.runs.size() <= kLeastUnits && price <= std::max(budget, kNotWorthSampling_us) && price <= worth_us;
  // A sample that costs more than the whole is none.
  const bool dearer = asked && price <= std::min(budget, design.cost_us);
  bool sample_is_cheap = aim.error_pages > 0 && price > kNotWorthSampling_us && design.cost_us * 4 < price;
  bool sampling = (asked && !dearer) || (aim.method == Aim::Method::automatic && (price > budget || sample_is_cheap));
  sampled_ = !few && sampling;
  if (few || (!sampling && price <= budget)) {
    for (const Warm& warm : warm_)
      warm.table->asked |= std::exchange(warm.table->unknown, {});
    expect_hidden(now, all);
    all.reason = few ? "few runs: clearing all is as cheap as a sample" : "clearing all fits the budget";
    return all;
  }

  plan.approach = sampling ? ClearPlan::Approach::sample : ClearPlan::Approach::partial;
  plan.reason = asked
                    ? fmt::format("asked for: a sample takes {:.1f} ms, clearing all {}{:.1f} ms", design.cost_us / 1e3,
                                  price > worth_us && all.runs.empty() ? "at least " : "", price / 1e3)
                : sampling && price <= budget
                    ? fmt::format("a sample meets the error at {:.1f} of {:.1f} ms", design.cost_us / 1e3, price / 1e3)
                    : fmt::format("clearing all takes {:.1f} ms, the budget is {:.1f} ms", price / 1e3, budget / 1e3);
  settle_rest(plan);
  // What the sample leaves of the budget is the sweep's: until all that has gone cold was cleared once.
  double sweep_us = std::max(sampling ? budget * kSweepShare : 0.0, budget - std::min(budget, design.cost_us));
  sweep(sweep_us, costs, !sampling, plan);
  draw(design, plan);
  expect_hidden(now, plan);
  return plan;
}

bool Tracker::has_tables_of(const Snapshot& now) const {
  std::size_t at = 0;
  for (const Region& region : now.regions) {
    if (at > 0 && tables_[at - 1].address == region.address) continue;
    if (at == tables_.size() || tables_[at].address != region.address) return false;
    ++at;
  }
  return at == tables_.size();
}

// The tables of the census, with what is remembered of those that were there before.
void Tracker::renew_tables(const Snapshot& now) {
  std::vector<Table> old = std::exchange(tables_, {});
  std::size_t from = 0;
  for (const Region& region : now.regions) {
    if (!tables_.empty() && tables_.back().address == region.address) continue;
    while (from < old.size() && old[from].address < region.address)
      ++from;
    bool known = from < old.size() && old[from].address == region.address;
    tables_.push_back(known ? old[from] : Table{.address = region.address});
  }
}

// Takes over a new census: what of it is in question.
void Tracker::adopt(const Snapshot& now) {
  if (!has_tables_of(now)) renew_tables(now);
  for (Table& table : tables_) {
    if (!table.warm) continue;
    table.unknown = table.held = table.asked = table.settled = {};
    table.others = false;
    table.warm = table.hidden.any();
  }
  warm_.clear();
  present_[0] = present_[1] = 0;
  std::swap(mapped_, mapped_before_);
  mapped_.clear();
  std::size_t before = 0;
  ++windows_;
  join_tables(now, tables_, [&](const Region& region, Table& table) {
    const PageMask gone = owned_pages(now, region) - region.present;
    if (gone.any()) {
      table.small -= gone;
      table.passed -= gone;
      table.proven -= gone;
    }
    if (table.warm && table.hidden.any()) {
      table.hidden_hot -= static_cast<float>((table.hidden & region.accessed).count());
      table.hidden -= gone | region.accessed;
      table.hidden_hot = std::clamp(table.hidden_hot, 0.0F, static_cast<float>(table.hidden.count()));
    }
    doubt(region, table);
    if (!is_measured(region)) return;
    if (is_file(region) || region.content != 0) adopt_content(region, table, before);
    present_[is_file(region)] += region.present.count();
    if (!region.accessed.any()) return;
    // Memory that only this entry maps by now can be cleared, whatever was found earlier. What MADV_COLD does not get
    // to would be passed over again, and looked up again: that is tried now and then.
    const bool again = (windows_ + static_cast<std::size_t>(&table - tables_.data())) % kTryAgain == 0;
    const PageMask reached = again ? PageMask::all() : PageMask::range(0, stop_in(region, table));
    table.others = table.others || (region.shared && !region.alone);
    table.passed = (table.passed - (region.exclusive() & reached)) | (region.elsewhere & region.present);
    PageMask stuck = region.locked ? region.accessed : region.accessed & table.passed;
    table.held |= stuck;
    table.unknown |= region.accessed - stuck;
    table.warm = true;
    warm_.push_back({&region, &table});
  });
}

void Tracker::forget() {
  tables_.clear();
  mapped_.clear();
  units_.clear();
  drawn_.clear();
  flushes_.clear();
  frame_ = 0;
}

// What was proven of another file at this place says nothing of this one; and where others have come to memory that was
// ours alone, it is not proven any more. `before`: goes along mapped_before_.
void Tracker::adopt_content(const Region& region, Table& table, std::size_t& before) {
  mapped_.push_back({region.address, region.content, region.alone, region.present});
  while (before < mapped_before_.size() && mapped_before_[before].address < region.address)
    ++before;
  for (std::size_t at = before; at < mapped_before_.size() && mapped_before_[at].address == region.address; ++at) {
    const Mapped& was = mapped_before_[at];
    if (!(was.pages & region.own()).any()) continue;
    if (was.content != region.content) {
      table.small -= region.own();
      table.passed -= region.own();
    }
    if (was.content != region.content || (was.alone && !region.alone)) table.proven -= region.own();
  }
}

// Whether a fork has shared the memory since the table was looked at last. Then, and where a huge page is taken apart,
// which still is one folio, what was proven may be so no longer. Once for a table: what it knew of its other regions is
// forgotten, too.
bool Tracker::doubt(const Region& region, Table& table) {
  if (std::exchange(table.huge, region.huge) != region.huge) table.proven = table.small = {};
  if (std::exchange(table.forks, region.forks) == region.forks) return false;
  table.proven &= region.shared ? PageMask{} : region.exclusive();
  return true;
}

// The page of the region at which MADV_COLD may end its way through the table.
unsigned Tracker::stop_in(const Region& region, const Table& table) const {
  if (!traits_.stops_at_folios || region.huge) return kTablePages;
  return (region.present - table.small).next(0);
}

// Decides on the scoped clears; returns what they cost. They settle shared and locked pages, and a process's libraries
// at once, so that is the first thing the budget is spent on. But what they clear without a flush behind them can be
// touched unseen until a later window flushes: so such a scoped clear comes only when the pages that waited for it,
// added up over the windows that they waited, are more than it would hide in this one.
double Tracker::settle_by_scope(const Aim& aim, const ScopedCosts& scoped, ClearPlan& plan) {
  struct Kind {
    std::uint64_t wanted = 0, others = 0; // pages; others: set ones that MADV_COLD can clear
    bool flushes_the_other = false;
  } kinds[2];
  for (const auto& [region, table] : warm_) {
    Kind& kind = kinds[is_file(*region)];
    std::uint64_t wanted = waits_for_scope(*region, *table).count();
    kind.wanted += wanted;
    kind.others += region->accessed.count() - wanted;
    kind.flushes_the_other = kind.flushes_the_other || flush_in(*region, table->unknown).has_value();
  }
  const bool sampled = aim.method == Aim::Method::sample || (aim.method == Aim::Method::automatic && sampled_);
  double spent = 0;
  std::uint64_t at_stake = 0; // pages that are safe only as long as the other kind provides a flush
  const bool file_first = kinds[1].wanted >= kinds[0].wanted;
  for (bool file : {file_first, !file_first}) {
    const Kind &kind = kinds[file], &other = kinds[!file];
    const bool other_too = file ? plan.scoped_anonymous : plan.scoped_file;
    const bool flushed = other.flushes_the_other && !other_too;
    double price = scoped.of(present_[file]), share = aim.budget_us * kScopedShare;
    bool matters = static_cast<double>(kind.wanted) > aim.error_pages / 8;
    waited_[file] += kind.wanted;
    if (kind.wanted == 0 || waited_[file] <= (flushed ? 0 : kind.others + at_stake)) continue;
    ++quiet_[file];
    if (!matters && (sampled ? quiet_[file] < kSeldom : price > aim.budget_us * kCheapShare)) continue;
    owed_us_[file] = std::min(owed_us_[file] + share, share * kMaxOwedWindows);
    if (price > owed_us_[file]) continue;
    owed_us_[file] = std::max(0.0, owed_us_[file] - price);
    spent += std::min(price, share);
    waited_[file] = quiet_[file] = 0;
    if (flushed) at_stake = kind.wanted + kind.others;
    plan.scoped_pages += present_[file];
    (file ? plan.scoped_file : plan.scoped_anonymous) = true;
    for (const auto& [region, table] : warm_) {
      if (is_file(*region) != file) continue;
      PageMask settled = waits_for_scope(*region, *table);
      table->settled |= settled;
      table->held -= settled;
      table->unknown -= settled;
    }
  }
  return spent;
}

// Too much to clear by runs: the scoped clear reaches the rest of its scope at no further price.
void Tracker::settle_rest(const ClearPlan& plan) {
  for (const auto& [region, table] : warm_) {
    if (!(is_file(*region) ? plan.scoped_file : plan.scoped_anonymous)) continue;
    PageMask rest = table->unknown & region->own();
    table->settled |= rest;
    table->unknown -= rest;
  }
}

// The runs that clear every page in question.
void Tracker::ask_for_all(const ClearCosts& costs, ClearPlan& plan) {
  RunBuilder builder(costs.bridge_pages());
  for (const auto& [region, table] : warm_)
    builder.add(*region, table->unknown & region->own());
  plan.runs = builder.take();
  for (const Run& run : plan.runs)
    plan.run_pages += run.pages;
}

// Clears whole tables that are likely to have gone cold, as far as the budget goes, and goes on there next time.
void Tracker::sweep(double budget_us, const ClearCosts& costs, bool hot_too, ClearPlan& plan) {
  const std::size_t n = tables_.size();
  double spent = 0;
  std::size_t step = 0;
  for (; step < n && spent < budget_us; ++step) {
    Table& table = tables_[(sweep_at_ + step) % n];
    unsigned set = table.warm ? table.unknown.count() : 0;
    if (set == 0) continue;
    bool worth = table.heat <= kHot && static_cast<float>(set) * (1 - table.heat) >= static_cast<float>(kSweepLeast);
    if (!hot_too && !worth) continue;
    unsigned first = table.unknown.next(0), span = table.unknown.last() - first + 1;
    // The next table's run joins this one when both are dense: charge a run where there is a gap.
    bool joins = first == 0 && spent > 0;
    spent += costs.of(joins ? 0 : 1, span);
    table.asked |= std::exchange(table.unknown, {});
  }
  if (n > 0) sweep_at_ = (sweep_at_ + step) % n;

  RunBuilder builder(costs.bridge_pages());
  for (const auto& [region, table] : warm_)
    builder.add(*region, table->asked & region->own());
  plan.runs = builder.take();
  for (const Run& run : plan.runs)
    plan.run_pages += run.pages;
}

// Draws the sample from what is still in question. Each unit is one run of its own.
void Tracker::draw(const SampleDesign& design, ClearPlan& plan) {
  Frame frame;
  for (const auto& [region, table] : warm_)
    frame.add(static_cast<std::uint32_t>(table - tables_.data()), table->unknown & region->own(), region->huge);
  frame_ = frame.pages();
  block_pages_ = design.block_pages;
  history_ = {.variance = spread_.weight > 0 ? spread_.variance(block_pages_) : 0.25,
              .weight = std::clamp(spread_.weight, 1.0, 32.0)};
  units_ = frame.draw(design.units, design.block_pages, random_);
  for (const Unit& unit : units_) {
    Table& table = tables_[unit.table];
    unsigned first = unit.pages.next(0), pages = unit.pages.last() - first + 1;
    plan.runs.push_back({table.address + first * std::uint64_t{4096}, pages});
    plan.run_pages += pages;
    table.unknown -= unit.pages;
    table.asked |= unit.pages;
  }
  drawn_ = units_;
  std::ranges::sort(drawn_, {}, &Unit::table);
  std::ranges::sort(plan.runs, {}, &Run::address);
  plan.units = units_.size();
  plan.block_pages = block_pages_;
}

std::uint64_t Tracker::unknown_pages() const {
  std::uint64_t sum = 0;
  for (const auto& [region, table] : warm_)
    sum += (table->unknown & region->own()).count();
  return sum;
}

std::vector<std::uint64_t> Tracker::asked_tables() const {
  std::vector<std::uint64_t> addresses;
  for (const Table& table : tables_)
    if (table.warm && table.asked.any()) addresses.push_back(table.address);
  return addresses;
}

} // namespace hotset
