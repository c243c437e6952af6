// SPDX-License-Identifier: Apache-2.0
// Tables of errors, the model beside its baselines, as text and as JSON; both from the tables of metrics and methods.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "model/predictors.h"
#include "present/style.h"

namespace hotset {

// Two lines of headings.
std::string scores_heading(const Style& style);
// One line per predictor that there is, under a title; no title line when it is empty.
std::string scores_block(std::string_view title, std::span<const Metrics> scores, const Style& style);
// One such line for a single set of errors.
std::string scores_line(std::string_view name, const Metrics& metrics);

// {"model":{"n":…,"mae_bytes":…,…},…}; undefined values, and predictors that there are none of, are null.
nlohmann::ordered_json scores_json(std::span<const Metrics> scores);
nlohmann::ordered_json metrics_json(const Metrics& metrics);

} // namespace hotset
