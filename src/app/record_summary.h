// SPDX-License-Identifier: Apache-2.0
// A recording's summary as text for people and as JSON (schema hotset.record/1, docs/schemas.md).
#pragma once

#include <string>

#include "app/recorder.h"

namespace hotset {

std::string to_text(const RecordSummary& summary);
// One object, one line.
std::string to_json(const RecordSummary& summary);

} // namespace hotset
