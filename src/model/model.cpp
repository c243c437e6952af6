// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "dataset/fingerprint.h"
#include "model/regressor.h"
#include "model/sidecar.h"

namespace hotset {
namespace {

constexpr std::size_t kLargestModel = std::size_t{256} << 20;
constexpr const char* kOperation = "load the model";
constexpr const char* kTrainAgain = "train it again with hotset train";

Result<std::string> read_part(const std::string& path, const std::string& part, const char* remedy) {
  Result<Fd> fd = open_read(part);
  Result<std::string> text = fd ? read_all(fd->get(), part, kLargestModel) : Result<std::string>(fail(fd.error()));
  if (text) return text;
  Error error = std::move(text).error();
  if (part == path)
    error.operation = kOperation; // of the same file: said once
  else
    error = within(kOperation, path, std::move(error));
  if (error.remedy.empty()) error.remedy = remedy;
  return fail(std::move(error));
}

} // namespace

std::string sidecar_path(const std::string& model_path) {
  return model_path + ".json";
}

Model::Model(Booster booster, ModelInfo info, std::vector<const Feature*> chosen)
    : booster_(std::move(booster)), info_(std::move(info)), chosen_(std::move(chosen)) {}

Result<Model> Model::make(Booster booster, ModelInfo info) {
  HOTSET_TRY(std::vector<const Feature*> chosen, named_features(info.features));
  if (feature_hash(chosen) != info.schema_hash)
    return fail(ErrorCode::bad_data, kOperation, "", "its features mean something else in this program", kTrainAgain);
  if (booster.columns() != chosen.size() || info.scaler.low.size() != chosen.size())
    return fail(ErrorCode::bad_data, kOperation, "",
                fmt::format("it takes {} features and its sidecar names {}", booster.columns(), chosen.size()),
                kTrainAgain);
  return Model(std::move(booster), std::move(info), std::move(chosen));
}

Result<Model> Model::load(const std::string& path) {
  // Whatever else is wrong with the files: without the library, mending them would not help.
  if (!lightgbm_available())
    return fail(ErrorCode::unsupported, kOperation, path, "this build has no LightGBM",
                "run ./run setup and build again");
  HOTSET_TRY(const std::string text, read_part(path, path, "make one with hotset train"));
  HOTSET_TRY(const std::string json,
             read_part(path, sidecar_path(path), "a model needs the .json that hotset train writes beside it"));
  std::expected<Sidecar, std::string> sidecar = parse_sidecar(json);
  if (!sidecar) return fail(ErrorCode::bad_data, kOperation, sidecar_path(path), sidecar.error(), kTrainAgain);
  // LightGBM reads beyond the end of a model that is cut, so nothing reaches it that is not what was written.
  if (Fingerprint().add(text).text() != sidecar->model_hash)
    return fail(ErrorCode::bad_data, kOperation, path, "it is damaged, or not the one that its .json describes",
                kTrainAgain);
  HOTSET_TRY(Booster booster, Booster::from_text(text));
  Result<Model> model = make(std::move(booster), std::move(sidecar->info));
  if (!model) return fail(within(kOperation, path, model.error()));
  return model;
}

Result<> Model::save(const std::string& path) const {
  HOTSET_TRY(const std::string text, booster_.text());
  HOTSET_CHECK(replace_file(path, text));
  return replace_file(sidecar_path(path), sidecar_json(info_, Fingerprint().add(text).text()));
}

Result<Prediction> Model::predict(const History& history, std::optional<std::uint64_t> rss_bytes) {
  std::vector<double> row = feature_values(chosen_, history);
  info_.scaler.apply(row);
  HOTSET_TRY(const double bytes, booster_.predict(row));
  const double bound = rss_bytes ? static_cast<double>(*rss_bytes) : HUGE_VAL;
  auto clipped = [&](double value) { return clip_prediction(value, bound, info_.horizon); };
  Prediction prediction{.bytes = clipped(bytes), .low_bytes = std::nullopt, .high_bytes = std::nullopt};
  // Around the clipped value, as the residuals were that the interval is calibrated with.
  if (info_.interval_bytes) {
    prediction.low_bytes = clipped(prediction.bytes - *info_.interval_bytes);
    prediction.high_bytes = clipped(prediction.bytes + *info_.interval_bytes);
  }
  return prediction;
}

} // namespace hotset
