// SPDX-License-Identifier: Apache-2.0
// The JSON line in front of a data set.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/dataset.h"

namespace hotset {

std::string header_json(const DatasetHeader& header);
// The cause as text when the line is not a header that this program reads.
std::expected<DatasetHeader, std::string> parse_header_json(std::string_view line);

} // namespace hotset
