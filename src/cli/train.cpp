// SPDX-License-Identifier: Apache-2.0
// hotset train: a model from data sets, and how far off it is on what it has not seen.
#include "model/train.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "present/evaluation.h"
#include "present/output.h"

namespace hotset {
namespace {

struct Options {
  std::vector<std::string> data;
  std::string out;
  std::string preset = "paper", split = "row", seed = "1", horizon, confidence = "0.95";
  std::size_t tune = 0;
  bool mixed_hooks = false, force = false, json = false;
};

constexpr std::size_t kMostTries = 100000;

Result<TrainOptions> train_options(const Options& options) {
  TrainOptions wanted{.preset = options.preset, .tune = options.tune};
  HOTSET_TRY(wanted.split, parse_split(options.split));
  HOTSET_TRY(wanted.seed, parse_seed(options.seed));
  HOTSET_TRY(const std::optional<std::size_t> horizon, parse_horizon(options.horizon));
  wanted.horizon = horizon.value_or(0);
  const std::optional<double> confidence = parse_finite(options.confidence);
  if (!confidence || *confidence < 0.5 || *confidence > 0.999)
    return fail(ErrorCode::usage, "give the interval the confidence",
                fmt::format("'{}'", printable(options.confidence)), "it is not a probability that makes sense",
                "give a number from 0.5 to 0.999");
  wanted.confidence = *confidence;
  wanted.trained_at = utc_text(SystemClock().wall());
  return wanted;
}

bool starts_with(const std::string& path, std::string_view beginning) {
  Result<Fd> fd = open_read(path);
  std::string text(beginning.size(), '\0');
  return fd && ::pread(fd->get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         text == beginning;
}

// A model may replace a model. Anything else that is there was meant for something else, above all a data set.
Result<> check_overwrite(const Options& options) {
  constexpr const char* kOperation = "write the model";
  std::error_code ignored;
  for (const std::string& data : options.data)
    if (std::filesystem::equivalent(data, options.out, ignored) ||
        std::filesystem::equivalent(data, sidecar_path(options.out), ignored))
      return fail(ErrorCode::usage, kOperation, options.out, "it is one of the data sets", "choose another name");
  if (std::filesystem::is_directory(options.out, ignored))
    return fail(ErrorCode::output, kOperation, options.out, "it is a directory", "give the name of a file");
  auto foreign = [&](const std::string& path, std::string_view beginning) {
    return std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0 &&
           !starts_with(path, beginning);
  };
  if (!options.force &&
      (foreign(options.out, "tree\n") || foreign(sidecar_path(options.out), "{\n  \"schema\": \"hotset.model/")))
    return fail(ErrorCode::output, kOperation, options.out, "a file of that name, or its .json, is no model",
                "choose another name, or insist with --force");
  return {};
}

Result<int> run_train(const Options& options) {
  if (!lightgbm_available())
    return fail(ErrorCode::unsupported, "train", "", "this build has no LightGBM", "run ./run setup and build again");
  HOTSET_TRY(const TrainOptions wanted, train_options(options));
  HOTSET_CHECK(check_overwrite(options));
  HOTSET_TRY(const std::vector<Dataset> datasets, load_datasets(options.data, options.mixed_hooks));
  SystemClock clock;
  Progress progress(clock);
  HOTSET_TRY(const Trained trained, train(datasets, wanted, shown_steps(progress)));
  progress.clear();
  HOTSET_CHECK(trained.model.save(options.out));
  Output output;
  HOTSET_CHECK(options.json ? output.line(train_json(trained, options.out))
                            : output.print(train_text(trained, options.out, Style::of(output.fd()),
                                                      terminal_columns(output.fd()))));
  HOTSET_CHECK(output.finish());
  return 0;
}

} // namespace

Action declare_train(CLI::App& app, const Tail&) {
  auto options = std::make_shared<Options>();
  app.add_option("data", options->data, "Data sets that hotset record wrote")->required();
  app.add_option("--out", options->out, "Where the model goes; MODEL.json goes beside it")->required();
  app.add_option("--preset", options->preset,
                 "paper: the published pair of features and preprocessing; full: all features")
      ->check(CLI::IsMember({"paper", "full"}))
      ->capture_default_str();
  app.add_option("--split", options->split,
                 "Into training, validation and test: row (as published) or dataset (honest)")
      ->check(CLI::IsMember({"row", "dataset"}))
      ->capture_default_str();
  app.add_option("--seed", options->seed, "Of the split and the training")->capture_default_str();
  app.add_option("--tune", options->tune,
                 "Try so many sets of parameters on the validation part (Ctrl-C keeps the best)")
      ->check(CLI::Range(std::size_t{0}, kMostTries));
  app.add_option("--horizon", options->horizon, "Tell the working set of so many windows ahead (0: the present one)");
  app.add_option("--confidence", options->confidence, "Of the interval; 0.95 takes at least 19 data sets")
      ->capture_default_str();
  app.add_flag("--mixed-hooks", options->mixed_hooks, "Learn from hooks that count different faults together");
  app.add_flag("--force", options->force, "Replace a file that is no model");
  app.add_flag("--json", options->json, "One JSON object (schema hotset.train/1)");
  return [options] { return run_train(*options); };
}

} // namespace hotset
