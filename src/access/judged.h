// SPDX-License-Identifier: Apache-2.0
// What the kernel says of pages that stay set after a clear (access/judge.h asks it, the tracker decides by it).
#pragma once

#include "access/page_mask.h"

namespace hotset {

struct Judged {
  PageMask passed{}; // of the pages asked about, those that MADV_COLD passes over
  // Where MADV_COLD stops at parts of larger folios (AgeTraits): all mapped pages of the region, up to the last one
  // asked about, that are none. Elsewhere, and of huge mappings, empty.
  PageMask small{};
};

} // namespace hotset
