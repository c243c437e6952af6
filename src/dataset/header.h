// SPDX-License-Identifier: Apache-2.0
// The JSON line in front of a data set.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/dataset.h"

namespace hotset {

std::string header_json(const DatasetHeader& header);

// Why a text is no header that this program reads, and what helps.
struct HeaderComplaint {
  std::string cause;
  std::string_view remedy = "give a file that hotset record wrote";
};

std::expected<DatasetHeader, HeaderComplaint> parse_header_json(std::string_view line);

} // namespace hotset
