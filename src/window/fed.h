// SPDX-License-Identifier: Apache-2.0
// A pin, or whoever has the map open, keeps a window after the program that counted in it: its numbers then look as if
// they were live.
#pragma once

#include <optional>

#include "window/catalog.h"

namespace hotset {

// Whether a program is loaded that uses the map; one that reaches it through a map of maps alone is not seen. Nothing
// when the kernel does not tell, which it does to CAP_SYS_ADMIN alone.
std::optional<bool> is_fed(const WindowMap& window);

} // namespace hotset
