// SPDX-License-Identifier: Apache-2.0
// What would give this process the rights that it was refused for. Root in a container is told "not permitted" as
// anybody is, and gains nothing by being told to be root.
#pragma once

#include <cstdint>
#include <string>

namespace hotset {

// "run as root"; to root the capabilities that it lacks; empty when nothing is known to be lacking.
std::string rights_remedy();

struct Rights {
  bool root = false;
  std::uint64_t capabilities = 0; // the effective ones, one bit each
  bool user_namespace = false;    // in which they count for what belongs to it alone
};
std::string rights_remedy(const Rights& rights);

} // namespace hotset
