// SPDX-License-Identifier: Apache-2.0
#include "workload/run.h"

#include "workload/children.h"
#include "workload/worker.h"

namespace hotset {

Result<WorkloadSummary> run_workload(const WorkloadSpec& spec, const Files& files, Clock& clock,
                                     const WorkloadHooks& hooks) {
  HOTSET_CHECK(check_spec(spec, files));
  HOTSET_TRY(Worker worker, Worker::create(spec, clock, hooks.stop));
  HOTSET_CHECK(worker.prepare());
  if (spec.pattern->forks) return run_children(spec, clock, hooks, worker);
  if (hooks.stop()) return WorkloadSummary{}; // in the middle of filling: nothing is ready
  hooks.ready(worker.ready());
  return worker.run();
}

} // namespace hotset
