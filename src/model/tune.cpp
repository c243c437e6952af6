// SPDX-License-Identifier: Apache-2.0
#include "model/tune.h"

#include <random>

namespace hotset {
namespace {

Result<double> validation_mae(const Samples& samples, const Split& split, const Recipe& recipe) {
  HOTSET_TRY(const Regressor regressor, Regressor::fit(samples, split.train, recipe));
  HOTSET_TRY(const std::vector<Judged> judged, regressor.judge(samples, split.valid));
  const Metrics model = score(samples, judged).front();
  if (!model.bytes)
    return fail(ErrorCode::bad_data, "tune the model", "", "the validation part has no usable rows",
                "give more or longer data sets");
  return model.bytes->mean;
}

} // namespace

Result<TuneResult> tune(const Samples& samples, const Split& split, Recipe recipe, std::size_t count,
                        const OnStep& on_step) {
  std::mt19937_64 random(recipe.parameters.seed);
  TuneResult result;
  result.best = recipe.parameters;
  HOTSET_TRY(result.first_mae_bytes, validation_mae(samples, split, recipe));
  result.best_mae_bytes = result.first_mae_bytes;
  result.tried = 1;
  while (result.tried <= count && (!on_step || on_step("tuning", result.tried - 1, count))) {
    recipe.parameters = draw_parameters(recipe.parameters, random);
    HOTSET_TRY(const double mae, validation_mae(samples, split, recipe));
    ++result.tried;
    if (mae >= result.best_mae_bytes) continue;
    result.best_mae_bytes = mae;
    result.best = recipe.parameters;
  }
  return result;
}

} // namespace hotset
