// SPDX-License-Identifier: Apache-2.0
// Holds a policy against each file that is opened, for as long as the object lives.
//
//   HOTSET_TRY(Guard guard, Guard::start(std::move(compiled), {}));
//   guard.poll(std::chrono::seconds(1), [](const GuardEvent& event) { … });
//
// The programs and their links belong to this process and are pinned nowhere: however it ends, nothing is denied after
// it. A reload loads the new policy beside the old one, attaches it, and then detaches the old: at no moment is no
// policy held, for a moment both are, and what the new one knows of paths begins empty.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "guard/counters.h"
#include "guard/event.h"
#include "guard/program.h"
#include "guard/setup.h"
#include "guard/status.h"
#include "policy/compiled.h"
#include "window/reader.h"

namespace hotset {

class Guard {
 public:
  // Errors: those of choose_setup() and of loading.
  static Result<Guard> start(CompiledPolicy policy, const GuardOptions& options = {});

  // Puts another policy in the place of this one. After an error the old one is held as before. A mode that this kernel
  // cannot hold is an error here, too.
  Result<> reload(CompiledPolicy policy);
  // Counts, for who asks for the status, that a reload was refused.
  Result<> reload_refused();

  [[nodiscard]] const GuardSetup& setup() const { return setup_; }
  [[nodiscard]] const Policy& policy() const { return policy_.policy; }
  // What there is to say about the policy as it was loaded: a cgroup that a rule names and that does not exist.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // Whether what is known of a path can be kept; why not (the notes say so, too).
  [[nodiscard]] const Result<>& keeps() const { return keeps_; }
  // Maps for whoever else wants to read: borrowed.
  [[nodiscard]] int window_fd() const { return program_.window_fd(); }
  [[nodiscard]] int events_fd() const { return program_.events_fd(); }
  [[nodiscard]] int state_fd() const { return program_.state_fd(); }

  Result<WindowHistory> history(std::uint64_t seconds = kWindowSeconds) const;
  [[nodiscard]] Result<GuardStatus> status() const;

 private:
  Guard(GuardProgram program, CompiledPolicy policy, const GuardSetup& setup, const GuardOptions& options)
      : program_(std::move(program)), policy_(std::move(policy)), setup_(setup), options_(options) {}

  Result<> publish();
  // Fills in `keeps_`, and adds a note where a cache is wanted and cannot be.
  void note_storage(Result<> keeps);

  GuardProgram program_;
  CompiledPolicy policy_;
  GuardSetup setup_;
  GuardOptions options_;
  std::vector<std::string> notes_;
  Result<> keeps_;
  std::uint32_t reloads_ = 0, refused_ = 0;
  std::uint64_t missed_before_ = 0; // by the programs of policies before
  Nanoseconds loaded_{};            // when the policy that is held was attached
};

// From the map of that name, whose descriptor is borrowed; and from the programs that it names.
Result<GuardStatus> read_guard_status(int state_fd);

// Fills in the numbers of the cgroups that rules name; what does not exist is noted, and is nobody's cgroup.
Result<std::vector<std::string>> resolve_cgroups(const Files& files, CompiledPolicy& policy);

} // namespace hotset
