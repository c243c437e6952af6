// SPDX-License-Identifier: Apache-2.0
// An evaluation and a training as text, as JSON (hotset.evaluation/1, hotset.train/1: docs/schemas.md) and as a
// picture.
#pragma once

#include <cstddef>
#include <string>

#include "model/evaluate.h"
#include "model/train.h"
#include "present/style.h"

namespace hotset {

std::string evaluation_text(const Evaluation& evaluation, const Style& style, std::size_t columns);
// One line, without a line feed.
std::string evaluation_json(const Evaluation& evaluation);
// Estimate against label, and both over time for some of the data sets.
std::string evaluation_svg(const Evaluation& evaluation);
// The same with the tables above it.
std::string evaluation_html(const Evaluation& evaluation);

std::string train_text(const Trained& trained, const std::string& path, const Style& style, std::size_t columns);
std::string train_json(const Trained& trained, const std::string& path);

} // namespace hotset
