// SPDX-License-Identifier: Apache-2.0
// Output that must not change unnoticed: compared byte for byte with a file in tests/golden.
//
// When it is meant to change: HOTSET_UPDATE_GOLDENS=1 build/hotset_unit_tests, then read the diff before committing it.
#pragma once

#include <string_view>

namespace hotset {

// Fails the test with a diff and the update command when `text` is not what tests/golden/`name` holds.
void expect_golden(std::string_view name, std::string_view text);

} // namespace hotset
