// SPDX-License-Identifier: Apache-2.0
// The estimate record as a row of CSV (RFC 4180), for spreadsheets. What is not known is an empty cell.
#pragma once

#include <string>

#include "estimate/record.h"

namespace hotset {

// Both without a line feed.
std::string estimate_csv_header();
std::string estimate_csv_row(const Estimate& estimate);

} // namespace hotset
