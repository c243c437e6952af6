// SPDX-License-Identifier: Apache-2.0
// The JSON beside a model.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "model/model.h"

namespace hotset {

// `model_hash`: Fingerprint of the model's text.
std::string sidecar_json(const ModelInfo& info, const std::string& model_hash);

struct Sidecar {
  ModelInfo info;
  std::string model_hash;
};

// The cause as text when it is not a sidecar that this program reads. All that is read has been checked: types, finite
// numbers, as many bounds as features.
std::expected<Sidecar, std::string> parse_sidecar(std::string_view text);

} // namespace hotset
