// SPDX-License-Identifier: Apache-2.0
// What the kernel says of pages that stay set after a clear (access/judge.h asks it, the tracker decides by it).
#pragma once

#include "access/page_mask.h"

namespace hotset {

struct Judged {
  PageMask passed{}; // MADV_COLD passes over them
  // Where MADV_COLD stops at parts of larger folios (AgeTraits): which pages of the region, up to the last that was
  // asked about, are none.
  PageMask small{};
};

} // namespace hotset
