// SPDX-License-Identifier: Apache-2.0
// hotset policy status, stats and events: what a running hotset policy run shows.
#include <spdlog/spdlog.h>

#include <memory>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/policy.h"
#include "cli/quantities.h"
#include "guard/event_reader.h"
#include "guard/pins.h"
#include "present/output.h"
#include "present/policy_guard.h"

namespace hotset {
namespace {

Result<int> show_status(bool json) {
  HOTSET_TRY(PinnedGuard guard, open_pinned_guard());
  Nanoseconds age = SystemClock().now() - guard.status.loaded;
  Output output;
  HOTSET_CHECK(json ? output.line(policy_status_json(guard.status, age))
                    : output.print(policy_status_text(guard.status, age, Style::of(output.fd()))));
  HOTSET_CHECK(output.finish());
  return 0;
}

Result<int> show_stats(const std::string& last, bool json) {
  HOTSET_TRY(std::uint64_t seconds, parse_look_back(last));
  HOTSET_TRY(PinnedGuard guard, open_pinned_guard());
  HOTSET_TRY(WindowReader reader, WindowReader::open({.window = guard.window.get()}));
  HOTSET_TRY(WindowHistory history, reader.read(seconds));
  WindowSpan known = history.last(seconds);
  PolicyStats stats{.requested_s = seconds,
                    .known_s = known.known,
                    .span = counts_of(known),
                    .total = totals_of(history),
                    .hook = guard.status.hook,
                    .missed = guard.status.missed};
  Output output;
  HOTSET_CHECK(json ? output.line(policy_stats_json(stats))
                    : output.print(policy_stats_text(stats, Style::of(output.fd()))));
  HOTSET_CHECK(output.finish());
  return 0;
}

struct EventOptions {
  std::string count;
  bool json = false;
};

Result<int> follow_events(const EventOptions& options) {
  std::uint64_t left = ~std::uint64_t{0};
  if (!options.count.empty()) {
    HOTSET_TRY(left, parse_count(options.count));
  }
  HOTSET_TRY(PinnedEvents pinned, open_pinned_events());
  HOTSET_TRY(GuardStatus status, read_guard_status(pinned.state.get()));
  HOTSET_TRY(GuardEventReader reader, GuardEventReader::open(pinned.buffer.get()));
  SystemClock clock;
  Output output;
  output.watch_reader();
  Style style = Style::of(output.fd());
  Result<> printed;
  auto print = [&](const GuardEvent& event) {
    if (!printed || left == 0) return;
    if (event.generation != status.generation)
      if (Result<GuardStatus> now = read_guard_status(pinned.state.get())) status = *std::move(now);
    Nanoseconds wall = event.time + (clock.wall() - clock.now());
    printed = output.line(options.json ? policy_event_json(event, status, wall)
                                       : policy_event_text(event, status, wall, style));
    --left;
  };
  while (left > 0 && printed && !end_requested()) {
    HOTSET_TRY(std::size_t events, reader.poll(std::chrono::seconds(1), print));
    if (events > 0) continue;
    HOTSET_TRY(bool runs, agent_runs(pinned.agent));
    if (!runs) {
      spdlog::info("hotset policy run has ended");
      break;
    }
  }
  HOTSET_CHECK(printed);
  HOTSET_CHECK(output.finish());
  return 0;
}

} // namespace

Action declare_policy_status(CLI::App& app, const Tail&) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "One JSON object (schema hotset.policy_status/1)");
  return [json] { return show_status(*json); };
}

Action declare_policy_stats(CLI::App& app, const Tail&) {
  auto last = std::make_shared<std::string>("5m");
  auto json = std::make_shared<bool>(false);
  app.add_option("--last", *last, "Look back so far, in whole seconds, at most 5m")->capture_default_str();
  app.add_flag("--json", *json, "One JSON object (schema hotset.policy_stats/1)");
  return [last, json] { return show_stats(*last, *json); };
}

Action declare_policy_events(CLI::App& app, const Tail&) {
  auto options = std::make_shared<EventOptions>();
  app.add_option("-n,--count", options->count, "End after so many")->check(at_least_one());
  app.add_flag("--json", options->json, "One JSON object a line (schema hotset.policy_event/1)");
  app.footer("Each event goes to one reader, and what nobody reads is counted and dropped when the buffer is full.");
  return [options] { return follow_events(*options); };
}

} // namespace hotset
