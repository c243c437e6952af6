// SPDX-License-Identifier: Apache-2.0
// hotset policy run: holds a policy until it is interrupted.
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>

#include "base/interrupt.h"
#include "base/units.h"
#include "cli/policy.h"
#include "guard/pins.h"
#include "present/output.h"
#include "present/policy_guard.h"

namespace hotset {
namespace {

struct Options {
  std::string file;
  bool audit = false, no_cache = false;
  std::string hook = "auto";
  std::string events_per_second = "100";
  std::string duration;
};

Result<GuardOptions> guard_options(const Options& options) {
  GuardOptions guard;
  guard.audit = options.audit;
  guard.cache = !options.no_cache;
  if (options.hook == "lsm") guard.hook = GUARD_LSM;
  if (options.hook == "calls") guard.hook = GUARD_CALLS;
  HOTSET_TRY(std::uint64_t budget, parse_count(options.events_per_second));
  constexpr std::uint64_t kMost = 1'000'000;
  if (budget > kMost)
    return fail(ErrorCode::usage, "tell events", "", "--events-per-second is above a million", "give a smaller number");
  guard.events_per_second = static_cast<std::uint32_t>(budget);
  return guard;
}

Result<CompiledPolicy> compile_file(const std::string& file) {
  HOTSET_TRY(Policy policy, read_policy(file));
  return compile_policy(std::move(policy), system_users(), interrupt_requested);
}

// SIGHUP as something to wait for, from before the policy is loaded on.
Result<Fd> hang_ups() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(errno_error(errno, "block", "SIGHUP"));
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(errno_error(errno, "wait for", "SIGHUP"));
  return fd;
}

void say_notes(const Guard& guard) {
  for (const std::string& note : guard.notes())
    spdlog::warn("{}", note);
}

// A pipe would have us wait for its writer, while signals and the end of the time go unheard.
Result<CompiledPolicy> compile_regular_file(const std::string& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return fail(ErrorCode::usage, "hold a policy from", printable(file), "it is no regular file", "name a file");
  return compile_file(file);
}

// A file that cannot be held leaves the policy as it is.
Result<> reload(Guard& guard, const std::string& file) {
  Result<CompiledPolicy> policy = compile_regular_file(file);
  if (!policy && interrupt_requested()) return {}; // broken off, which says nothing of the file
  Result<> done = policy ? guard.reload(*std::move(policy)) : fail(std::move(policy).error());
  if (done) {
    say_notes(guard);
    spdlog::info("the policy was read again: {} rules", guard.policy().rules.size());
    return {};
  }
  spdlog::error("the policy of before stays: {}", to_sentence(done.error()));
  return guard.reload_refused();
}

// Until an interrupt, or until `end`.
Result<> hold(Guard& guard, const Options& options, const Fd& hang_up, std::optional<Nanoseconds> end) {
  SystemClock clock;
  while (!interrupt_requested() && (!end || clock.now() < *end)) {
    std::array<pollfd, 2> sources{pollfd{hang_up.get(), POLLIN, 0}, pollfd{interrupt_fd(), POLLIN, 0}};
    int timeout_ms = -1;
    if (end)
      timeout_ms =
          static_cast<int>(std::min<std::int64_t>((*end - clock.now()) / std::chrono::milliseconds(1) + 1, 1'000'000));
    if (::poll(sources.data(), sources.size(), timeout_ms) < 0 && errno != EINTR)
      return fail(errno_error(errno, "wait for", "signals"));
    signalfd_siginfo signal{};
    bool hung_up = false;
    while (::read(hang_up.get(), &signal, sizeof(signal)) == sizeof(signal))
      hung_up = true;
    if (hung_up) HOTSET_CHECK(reload(guard, options.file));
  }
  return {};
}

Result<int> run(const Options& options) {
  if (options.file == "-")
    return fail(ErrorCode::usage, "hold a policy from", "the standard input", "it could not be read again",
                "name a file");
  HOTSET_TRY(GuardOptions guard_settings, guard_options(options));
  std::optional<Nanoseconds> duration;
  if (!options.duration.empty()) {
    HOTSET_TRY(duration, parse_duration(options.duration));
  }
  HOTSET_TRY(Fd hang_up, hang_ups());
  Result<CompiledPolicy> policy = compile_regular_file(options.file);
  if (interrupt_requested()) return interrupt_exit_code();
  if (!policy) return fail(std::move(policy).error());
  Result<GuardPins> pins = GuardPins::reserve();
  if (!pins && pins.error().code != ErrorCode::unsupported) return fail(std::move(pins).error());
  if (!pins) spdlog::warn("{}", to_sentence(pins.error()));
  HOTSET_TRY(Guard guard, Guard::start(*std::move(policy), guard_settings));
  if (pins) HOTSET_CHECK(pins->show(guard));
  say_notes(guard);
  SystemClock clock;
  Output output;
  HOTSET_TRY(GuardStatus status, guard.status());
  HOTSET_CHECK(output.print(policy_status_text(status, clock.now() - status.loaded, Style::of(output.fd()))));
  std::optional<Nanoseconds> end;
  if (duration) end = clock.now() + *duration;
  HOTSET_CHECK(hold(guard, options, hang_up, end));
  return 0;
}

} // namespace

Action declare_policy_run(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "The policy; SIGHUP has it read again")->required();
  app.add_flag("--audit", options->audit, "Deny nothing, whatever the mode of the policy");
  app.add_option("--hook", options->hook, "Where opens are judged: lsm can deny, calls works on any kernel (auto)")
      ->check(CLI::IsMember({"auto", "lsm", "calls"}));
  app.add_flag("--no-cache", options->no_cache, "Walk to the root at each open");
  app.add_option("--events-per-second", options->events_per_second, "Events told in a second at most (100)");
  app.add_option("--for", options->duration, "End by itself after that time");
  app.footer(
      "Runs in the foreground until it is interrupted, and nothing is denied after its end, however it ends. hotset\n"
      "itself is never denied anything while it runs. Try a policy that enforces with --audit, then with --for 1m.");
  return [options] { return run(*options); };
}

} // namespace hotset
