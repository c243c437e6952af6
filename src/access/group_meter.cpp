// SPDX-License-Identifier: Apache-2.0
#include "access/group_meter.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "access/clear_count.h"
#include "access/tracker_join.h"

namespace hotset {
namespace {

constexpr std::uint64_t kSpaces = std::uint64_t{1} << 16; // that fit into 64 bits of address, and half of them unused
constexpr int kRounds = 3; // of looking for new members in one pass: a fork bomb is left behind

std::uint64_t clock_tick(Nanoseconds since_boot) {
  static const auto hertz = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(since_boot.count()) / (1'000'000'000 / hertz);
}

// A process that ended, or can't be read or cleared for a reason of its own, does not stop the measurement of the rest.
bool is_its_own(const Error& error) {
  return error.code == ErrorCode::gone || error.code == ErrorCode::not_found || error.code == ErrorCode::unsupported;
}

} // namespace

GroupMeter::GroupMeter(Census& census, Clock& clock, Group& group, FrameFlags flags, std::uint64_t seed,
                       std::size_t most)
    : census_(&census),
      clock_(&clock),
      group_(&group),
      most_(most),
      judge_(std::move(flags), age_traits(Files())),
      tracker_(seed, age_traits(Files())) {}

bool GroupMeter::alive() const {
  return std::ranges::any_of(processes_, [](const Process& process) { return process.subject.alive(); });
}

std::vector<pid_t> GroupMeter::pids() const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_)
    pids.push_back(process.id.pid);
  return pids;
}

// Takes out who has gone and in who has come; how many came.
Result<std::size_t> GroupMeter::look_up(const Files& files, bool window_runs) {
  const std::uint64_t now = clock_tick(clock_->now());
  HOTSET_TRY(Roll roll, group_->look_up(files));
  if (!window_runs) born_after_ = now;
  attendance_.hidden = roll.hidden;
  attendance_.ourselves = roll.ourselves;
  attendance_.may_hide = roll.may_hide;
  attendance_.left_out = attendance_.left_out_pages = 0;
  if (roll.members.size() > most_) {
    std::ranges::sort(roll.members, std::ranges::greater(), &Member::rss_pages);
    for (std::size_t i = most_; i < roll.members.size(); ++i)
      attendance_.left_out_pages += roll.members[i].rss_pages;
    attendance_.left_out = roll.members.size() - most_;
    roll.members.resize(most_);
  }
  std::uint64_t child_faults = 0;
  std::map<pid_t, std::uint64_t> wanted; // start times
  for (const Member& member : roll.members) {
    wanted.emplace(member.id.pid, member.id.start_ticks);
    child_faults += member.child_faults;
  }
  if (!window_runs) child_faults_before_ = child_faults;
  attendance_.child_faults = child_faults - std::min(child_faults, child_faults_before_);

  std::erase_if(processes_, [&](const Process& process) {
    auto still = wanted.find(process.id.pid);
    if (still != wanted.end() && still->second == process.id.start_ticks && process.subject.alive()) {
      wanted.erase(still);
      return false;
    }
    attendance_.ended += window_runs && process.standing == Standing::tracked;
    return true;
  });
  std::size_t came = 0;
  for (auto [pid, start] : wanted) {
    Result<Census::Subject> subject = census_->attach({pid, start});
    if (!subject && !is_its_own(subject.error())) return fail(std::move(subject).error());
    if (!subject) continue;
    Standing standing = !window_runs ? Standing::tracked : start > born_after_ ? Standing::born : Standing::joined;
    processes_.push_back(
        {.id = {pid, start}, .subject = *std::move(subject), .standing = standing, .clear = clears_of(pid)});
    ++came;
  }
  return came;
}

// An address of the process, a multiple of 128 TiB away from its place in the group.
std::uint64_t GroupMeter::to_group(Process& process, std::uint64_t address) {
  auto known = std::ranges::find(process.spaces, space_of(address), &std::pair<std::uint64_t, std::uint64_t>::first);
  if (known == process.spaces.end()) {
    auto taken = [&](std::uint64_t space) { return to_process(space * kSpaceBytes).first != nullptr; };
    while (taken(next_space_))
      next_space_ = (next_space_ + 1) % kSpaces;
    known = process.spaces.insert(known, {space_of(address), next_space_});
    next_space_ = (next_space_ + 1) % kSpaces;
  }
  return known->second * kSpaceBytes + address % kSpaceBytes;
}

// Whose it is, and its address there. Null: of a process that has gone.
std::pair<GroupMeter::Process*, std::uint64_t> GroupMeter::to_process(std::uint64_t address) {
  for (Process& process : processes_)
    for (auto [own, in_group] : process.spaces)
      if (in_group == space_of(address)) return {&process, own * kSpaceBytes + address % kSpaceBytes};
  return {nullptr, 0};
}

// Reads all that the process maps into `last`, visit() seeing each region with its place in the group. False when it
// has ended, can't be read, or its memory is that of a process already seen in this pass: then `last` is empty.
//
// An address space is known by where its top-level table is, and the table of one that is gone is soon another's. The
// same place is the same memory if this process had it already when the other was read, or the other has it still.
Result<bool> GroupMeter::scan(Process& process, const Census::Visit& visit) {
  const std::uint64_t before = process.address_space;
  pid_t owner = process.id.pid;
  HOTSET_TRY(bool read, scan_once(process, visit, owner));
  if (owner == process.id.pid) return read;
  bool shares = before == process.address_space;
  if (!shares) {
    HOTSET_TRY(shares, is_still_in(owner, process.address_space));
  }
  if (!shares) {
    seen_[process.address_space] = owner = process.id.pid;
    HOTSET_TRY(read, scan_once(process, visit, owner));
  }
  attendance_.same_memory += owner != process.id.pid;
  return read;
}

// `owner`: becomes the process in whose place the memory was seen in this pass, if it was.
Result<bool> GroupMeter::scan_once(Process& process, const Census::Visit& visit, pid_t& owner) {
  bool first = true;
  Result<Snapshot> read = census_->read(process.subject, [&](Region& region, const Entries& entries) {
    const std::uint64_t space = census_->address_space();
    if (std::exchange(first, false)) {
      owner = seen_.try_emplace(space, process.id.pid).first->second;
      if (process.address_space != 0 && process.address_space != space) { // it runs another program now
        process.spaces.clear();
        ++attendance_.execed;
        if (process.standing == Standing::tracked) process.standing = Standing::born;
      }
      process.address_space = space;
    }
    if (owner != process.id.pid) {
      region.present = {};
      return;
    }
    region.address = to_group(process, region.address);
    region.of_group = true;
    visit(region, entries);
  });
  process.last = {};
  if (!read && !is_its_own(read.error())) return fail(std::move(read).error());
  if (!read) {
    attendance_.unreadable += process.subject.alive();
    return false;
  }
  read_time_ += read->end - read->begin;
  process.last = *std::move(read);
  return owner == process.id.pid;
}

Result<bool> GroupMeter::is_still_in(pid_t pid, std::uint64_t address_space) {
  auto process = std::ranges::find(processes_, pid, [](const Process& each) { return each.id.pid; });
  if (process == processes_.end()) return false;
  Result<std::uint64_t> now = census_->find_address_space(process->subject);
  if (!now && !is_its_own(now.error())) return fail(std::move(now).error());
  return now && *now == address_space;
}

// All regions beside each other.
void GroupMeter::gather() {
  last_.regions.clear();
  last_.begin = last_.end = clock_->now();
  for (const Process& process : processes_) {
    last_.regions.insert(last_.regions.end(), process.last.regions.begin(), process.last.regions.end());
    if (!process.last.regions.empty()) last_.begin = std::min(last_.begin, process.last.begin);
  }
  sort_by_address(last_);
}

// Everyone's page tables, with what is mapped by several processes marked: first those of the new ones are read to find
// that out, then of all whose last reading is not fresh.
Result<> GroupMeter::scan_for_begin(const Files& files) {
  if (frames_.blocks().empty()) std::swap(frames_, begun_);
  for (Process& process : processes_)
    process.standing = Standing::tracked;
  std::set<pid_t> known;
  for (const Process& process : processes_)
    known.insert(process.id.pid);
  for (int round = 0; round < kRounds; ++round) {
    HOTSET_TRY(std::size_t came, look_up(files, false));
    if (came == 0) break;
    seen_.clear();
    for (Process& process : processes_) {
      if (process.address_space != 0) {
        seen_.emplace(process.address_space, process.id.pid);
        continue;
      }
      HOTSET_CHECK(
          scan(process, [&](Region& region, const Entries& entries) { note_frames(region, entries, frames_); }));
    }
  }
  if (processes_.empty()) return fail(ErrorCode::gone, "measure", group_->describe(), "no process of it is left");
  attendance_.same_memory = attendance_.unreadable = 0;
  seen_.clear();
  for (Process& process : processes_) {
    const bool fresh = known.contains(process.id.pid) && clock_->now() - process.last.end <= kBackToBack;
    if (fresh && seen_.emplace(process.address_space, process.id.pid).second) continue;
    HOTSET_CHECK(scan(process, [&](Region& region, const Entries& entries) { mark_shared(region, entries, frames_); }));
    process.standing = Standing::tracked; // whatever program it runs
  }
  attendance_.execed = 0; // so far, before the window
  begun_ = std::exchange(frames_, {});
  gather();
  return {};
}

Result<> GroupMeter::begin(const Files& files, const Aim& aim) {
  const Nanoseconds cpu = own_cpu_time();
  read_time_ = clear_time_ = {};
  attendance_ = {};
  if (std::exchange(has_window_, true)) tracker_.learn(last_);
  HOTSET_CHECK(scan_for_begin(files));

  contest_.begin_window(has_been_cleared());
  for (Process& process : processes_)
    process.clear = count_clear(process.id.pid);
  // Each process is written to once.
  ScopedCosts scoped = scoped_costs_;
  scoped.fixed_us *= static_cast<double>(processes_.size());
  plan_ = tracker_.begin(last_, aim, ager_.costs(std::nullopt), scoped);
  HOTSET_CHECK(age(plan_.runs));
  HOTSET_CHECK(clear_scoped());
  HOTSET_CHECK(age(plan_.flushes));
  began_ = clock_->now();
  HOTSET_CHECK(settle());
  cpu_ = own_cpu_time() - cpu;
  return {};
}

// By others than us, since we did so or first looked.
bool GroupMeter::has_been_cleared() const {
  return std::ranges::any_of(processes_, [](const Process& p) { return clears_of(p.id.pid) != p.clear; });
}

Result<> GroupMeter::age(std::span<const Run> runs) {
  while (!runs.empty()) {
    auto same = std::ranges::find_if_not(
        runs, [&](const Run& run) { return space_of(run.address) == space_of(runs[0].address); });
    const auto count = static_cast<std::size_t>(same - runs.begin());
    auto [process, address] = to_process(runs[0].address);
    if (process) {
      std::vector<Run> own(runs.begin(), same);
      for (Run& run : own)
        run.address = run.address - runs[0].address + address;
      Result<ClearReport> done = ager_.age(process->subject.pidfd(), own, process->last.processor);
      if (!done && !is_its_own(done.error())) return fail(std::move(done).error());
      if (done) clear_time_ += done->took;
    }
    runs = runs.subspan(count);
  }
  return {};
}

Result<> GroupMeter::clear_scoped() {
  using Scope = ScopedClear::Scope;
  if (!plan_.scoped_anonymous && !plan_.scoped_file) return {};
  Nanoseconds took{};
  for (std::uint64_t space : tracker_.scoped_spaces()) {
    auto [process, address] = to_process(space * kSpaceBytes);
    if (!process) continue;
    Result<ScopedClear> file = ScopedClear::open(process->id.pid);
    // Alive now means that what was opened is of this process, and not of one that was given its pid.
    if (!process->subject.alive()) continue;
    if (!file) return fail(std::move(file).error());
    for (auto [wanted, scope] :
         {std::pair{plan_.scoped_anonymous, Scope::anonymous}, std::pair{plan_.scoped_file, Scope::file}}) {
      if (!wanted) continue;
      Result<Nanoseconds> done = file->clear(scope);
      if (!done && !is_its_own(done.error())) return fail(std::move(done).error());
      if (done) took += *done;
    }
  }
  if (plan_.scoped_anonymous != plan_.scoped_file) scoped_costs_.learn(to_microseconds(took), plan_.scoped_pages);
  clear_time_ += took;
  return {};
}

// Reads again what was to be cleared. Where that fails nothing is known of the process's bits but that they may be old.
Result<> GroupMeter::settle() {
  const std::vector<std::uint64_t> asked = tracker_.asked_tables();
  Snapshot again;
  for (auto first = asked.begin(); first != asked.end();) {
    auto last = std::find_if(first, asked.end(), [&](std::uint64_t a) { return space_of(a) != space_of(*first); });
    auto [process, address] = to_process(*first);
    if (process) {
      std::vector<std::uint64_t> tables(first, last);
      for (std::uint64_t& table : tables)
        table = table - *first + address;
      Result<Snapshot> part = census_->read(process->subject, tables);
      if (!part && !is_its_own(part.error())) return fail(std::move(part).error());
      if (part) {
        read_time_ += part->end - part->begin;
        for (Region& region : part->regions) {
          region.address = to_group(*process, region.address);
          region.of_group = true;
        }
        again.regions.insert(again.regions.end(), part->regions.begin(), part->regions.end());
      } else {
        process->standing = Standing::joined;
      }
    }
    first = last;
  }
  sort_by_address(again);
  judge_.restart();
  tracker_.settle(again, [this](const Region& region, const PageMask& pages) -> std::optional<Judged> {
    auto [process, address] = to_process(region.address);
    return process ? judge_.judge(process->id.pid, address, region, pages) : std::nullopt;
  });
  return {};
}

Result<GroupReading> GroupMeter::read(const Files& files) {
  const Nanoseconds cpu = own_cpu_time(), begin = clock_->now();
  attendance_.same_memory = attendance_.unreadable = 0;
  HOTSET_CHECK(look_up(files, true));
  GroupCount count(tracker_, begun_);
  seen_.clear();
  std::size_t done = 0;
  for (int round = 0; round < kRounds && done < processes_.size(); ++round) {
    // By number, since looking up appends; who is new stands at the end, and was not read in an earlier round.
    for (; done < processes_.size(); ++done) {
      Process& process = processes_[done];
      HOTSET_CHECK(scan(process, [&](Region& region, const Entries& entries) {
        mark_shared(region, entries, begun_);
        count.add(region, entries, process.standing);
      }));
    }
    const std::size_t before = processes_.size();
    HOTSET_TRY(std::size_t came, look_up(files, true));
    done = processes_.size() - came;
    if (round + 1 == kRounds) attendance_.late = came;
    if (processes_.empty() && before == 0) break;
  }
  if (processes_.empty() || std::ranges::all_of(processes_, [](const Process& p) { return p.last.regions.empty(); }))
    return fail(ErrorCode::gone, "read", group_->describe(), "no process of it is left");

  GroupReading reading;
  // Any of these may have touched what others map, and took its own entries away.
  reading.answer = count.answer(attendance_.ended > 0 || attendance_.execed > 0 || attendance_.child_faults > 0);
  frames_ = count.take_frames();
  gather();
  reading.answer.total.hugetlb += census_->giant_pages();
  attendance_.members = attendance_.born = attendance_.joined = 0;
  for (const Process& process : processes_) {
    if (process.address_space == 0) continue; // late
    ++attendance_.members;
    attendance_.born += process.standing == Standing::born;
    attendance_.joined += process.standing == Standing::joined;
  }
  reading.attendance = attendance_;
  const bool contested = contest_.note(has_been_cleared(), reading.answer.total);
  cpu_ += own_cpu_time() - cpu;
  reading.meter = {.answer = {},
                   .approach = plan_.approach,
                   .reason = plan_.reason,
                   .window = begin - began_,
                   .read_time = read_time_,
                   .clear_time = clear_time_,
                   .cpu = cpu_,
                   .runs = plan_.runs.size(),
                   .run_pages = plan_.run_pages,
                   .unreadable = census_->unreadable(),
                   .contested = contested,
                   .unwatched = std::ranges::any_of(processes_, [](const Process& p) { return !p.clear; })};
  return reading;
}

} // namespace hotset
