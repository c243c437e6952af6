// SPDX-License-Identifier: Apache-2.0
// The forked pattern: a parent fills a region and forks; each child touches its own hot set of what it inherited (until
// it writes, copy-on-write pages that all of them map) and publishes its own record.
#pragma once

#include "workload/worker.h"

namespace hotset {

// `parent` is prepared; it touches nothing while the children run. No child outlives this call, nor the parent.
Result<WorkloadSummary> run_children(const WorkloadSpec& spec, Clock& clock, const WorkloadHooks& hooks,
                                     Worker& parent);

} // namespace hotset
