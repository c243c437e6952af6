// SPDX-License-Identifier: Apache-2.0
// hotset evaluate: a model on recordings that it has not seen, beside what costs nothing.
#include "model/evaluate.h"

#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "present/evaluation.h"
#include "present/output.h"

namespace hotset {
namespace {

struct Options {
  std::vector<std::string> data;
  std::string model, split = "both", horizon, seed, plot;
  bool mixed_hooks = false, json = false;
};

Result<EvaluateOptions> evaluate_options(const Options& options) {
  EvaluateOptions wanted{.by_row = options.split == "row" || options.split == "both",
                         .left_out = options.split == "dataset" || options.split == "both"};
  HOTSET_TRY(wanted.horizon, parse_horizon(options.horizon));
  if (!options.seed.empty()) {
    HOTSET_TRY(wanted.seed, parse_seed(options.seed));
  }
  if (!options.plot.empty() && !options.plot.ends_with(".svg") && !options.plot.ends_with(".html"))
    return fail(ErrorCode::usage, "draw the picture", options.plot, "its name says neither .svg nor .html",
                "give it one of these endings");
  return wanted;
}

Result<int> run_evaluate(const Options& options) {
  HOTSET_TRY(const EvaluateOptions wanted, evaluate_options(options));
  HOTSET_TRY(const Model model, Model::load(options.model));
  HOTSET_TRY(const std::vector<Dataset> datasets, load_datasets(options.data, options.mixed_hooks));
  SystemClock clock;
  Progress progress(clock);
  HOTSET_TRY(const Evaluation evaluation, evaluate(model, datasets, wanted, shown_steps(progress)));
  progress.clear();
  if (!options.plot.empty())
    HOTSET_CHECK(replace_file(
        options.plot, options.plot.ends_with(".svg") ? evaluation_svg(evaluation) : evaluation_html(evaluation)));
  Output output;
  HOTSET_CHECK(options.json
                   ? output.line(evaluation_json(evaluation))
                   : output.print(evaluation_text(evaluation, Style::of(output.fd()), terminal_columns(output.fd()))));
  HOTSET_CHECK(output.finish());
  return 0;
}

} // namespace

Action declare_evaluate(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  app.add_option("data", options->data, "Data sets that hotset record wrote")->required();
  app.add_option("--model", options->model, "A model that hotset train wrote")->required();
  app.add_option("--split", options->split, "Train again, split by row, by dataset, both or none")
      ->check(CLI::IsMember({"row", "dataset", "both", "none"}))
      ->capture_default_str();
  app.add_option("--horizon", options->horizon, "Also tell the working set of so many windows ahead");
  app.add_option("--seed", options->seed, "Of the splits (the model's own)");
  app.add_option("--plot", options->plot, "Picture of estimate against label: FILE.svg, or FILE.html with the tables");
  app.add_flag("--mixed-hooks", options->mixed_hooks, "Take data sets whose hooks count different faults");
  app.add_flag("--json", options->json, "One JSON object (schema hotset.evaluation/1)");
  return [options] { return run_evaluate(*options); };
}

} // namespace hotset
