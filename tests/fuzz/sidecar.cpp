// SPDX-License-Identifier: Apache-2.0
// The JSON beside a model comes from other people's disks. What is accepted has finite numbers and a bound for each
// feature, and written out again it is read as the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/sidecar.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hotset;
  std::expected<Sidecar, std::string> sidecar = parse_sidecar(std::string(data, data + size));
  if (!sidecar) {
    REQUIRE(!sidecar.error().empty());
    return 0;
  }
  const ModelInfo& info = sidecar->info;
  REQUIRE(!info.features.empty());
  REQUIRE(info.scaler.low.size() == info.features.size() && info.scaler.high.size() == info.features.size());
  for (std::size_t i = 0; i < info.features.size(); ++i)
    REQUIRE(std::isfinite(info.scaler.low[i]) && info.scaler.low[i] <= info.scaler.high[i]);
  if (info.interval_bytes) REQUIRE(std::isfinite(*info.interval_bytes));
  const std::string text = sidecar_json(info, sidecar->model_hash);
  std::expected<Sidecar, std::string> again = parse_sidecar(text);
  REQUIRE(again.has_value());
  REQUIRE(sidecar_json(again->info, again->model_hash) == text);
  return 0;
}
