// SPDX-License-Identifier: Apache-2.0
// Random search: draw sets of parameters, train each, keep the one with the least error on the validation part. Random
// points find good values in fewer tries than a grid when few of the parameters matter (Bergstra and Bengio, 2012).
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "dataset/samples.h"
#include "dataset/splits.h"
#include "model/parameters.h"
#include "model/regressor.h"

namespace hotset {

struct TuneResult {
  Parameters best;
  std::size_t tried = 0;                          // including the recipe's own parameters, which are the first
  double first_mae_bytes = 0, best_mae_bytes = 0; // on the validation part
};

// Tries the recipe's parameters and then `count` drawn ones. Ends early, with the best so far, when `on_step` asks.
Result<TuneResult> tune(const Samples& samples, const Split& split, Recipe recipe, std::size_t count,
                        const OnStep& on_step);

} // namespace hotset
