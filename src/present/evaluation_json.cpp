// SPDX-License-Identifier: Apache-2.0
#include "present/evaluation.h"
#include "present/json.h"
#include "present/scores_text.h"

namespace hotset {
namespace {

Json parameters_json(const Parameters& parameters) {
  Json json = Json::object();
  for (const Parameter& parameter : parameter_table())
    json[std::string(parameter.name)] = parameters.*parameter.field;
  json["bagging_freq"] = kBaggingFrequency;
  json["random_state"] = parameters.seed;
  return json;
}

Json model_json(const ModelInfo& info) {
  return {{"preset", info.preset},
          {"features", info.features},
          {"label", info.label},
          {"hook", info.hook},
          {"horizon", info.horizon},
          {"split", info.split},
          {"train_rows", info.train_rows},
          {"valid_rows", info.valid_rows},
          {"test_rows", info.test_rows},
          {"outliers_removed", info.outliers_removed},
          {"datasets", info.datasets.size()},
          {"interval_bytes", or_null(info.interval_bytes)},
          {"confidence", info.confidence},
          {"parameters", parameters_json(info.parameters)},
          {"lightgbm_version", info.lightgbm_version},
          {"hotset_version", info.hotset_version},
          {"trained_at", info.trained_at}};
}

Json notes_json(const std::vector<std::string>& notes) {
  Json json = Json::array();
  for (const std::string& note : notes)
    json.push_back(printable(note));
  return json;
}

Json data_json(const Evaluation& evaluation) {
  Json json = Json::array();
  for (const EvaluatedOn& data : evaluation.data)
    json.push_back({{"path", printable(data.path)},
                    {"group", printable(data.group)},
                    {"rows", data.rows},
                    {"seen", data.seen},
                    {"truncated", data.truncated}});
  return json;
}

Json scores_list(const Evaluation& evaluation) {
  Json json = Json::array();
  for (const Scores& scores : evaluation.scores)
    json.push_back({{"setting", setting_text(scores.setting).name},
                    {"horizon", scores.horizon},
                    {"group", scores.group ? Json(printable(*scores.group)) : Json()},
                    {"datasets", scores.datasets},
                    {"interval_coverage", or_null(scores.interval_coverage)},
                    {"methods", scores_json(scores.methods)}});
  return json;
}

Json verdicts_json(const Evaluation& evaluation) {
  Json json = Json::array();
  for (const FaultVerdict& verdict : evaluation.verdicts)
    json.push_back({{"horizon", verdict.horizon},
                    {"group", printable(verdict.group)},
                    {"datasets", verdict.datasets},
                    {"won", verdict.won},
                    {"model_mae_bytes", verdict.model_mae_bytes},
                    {"unmeasured_mae_bytes", verdict.unmeasured_mae_bytes},
                    {"without_faults_mae_bytes", or_null(verdict.without_faults_mae_bytes)},
                    {"last_label_mae_bytes", verdict.last_label_mae_bytes},
                    {"model_tells", or_null(verdict.model_tells)},
                    {"faults_tell", or_null(verdict.faults_tell)},
                    {"beats_last_label", or_null(verdict.beats_last_label)},
                    {"text", verdict_text(verdict)}});
  return json;
}

} // namespace

std::string evaluation_json(const Evaluation& evaluation) {
  return json_line({{"schema", "hotset.evaluation/1"},
                    {"model", model_json(evaluation.model)},
                    {"data", data_json(evaluation)},
                    {"scores", scores_list(evaluation)},
                    {"labels_against_truth",
                     evaluation.labels_against_truth.n > 0 ? metrics_json(evaluation.labels_against_truth) : Json()},
                    {"verdicts", verdicts_json(evaluation)},
                    {"notes", notes_json(evaluation.notes)}});
}

std::string train_json(const Trained& trained, const std::string& path) {
  Json tuned;
  if (trained.tuned)
    tuned = {{"tried", trained.tuned->tried},
             {"first_mae_bytes", trained.tuned->first_mae_bytes},
             {"best_mae_bytes", trained.tuned->best_mae_bytes}};
  return json_line({{"schema", "hotset.train/1"},
                    {"path", printable(path)},
                    {"sidecar", printable(sidecar_path(path))},
                    {"model", model_json(trained.model.info())},
                    {"test", scores_json(trained.test)},
                    {"left_out", trained.left_out.empty() ? Json() : scores_json(trained.left_out)},
                    {"tuned", tuned},
                    {"notes", notes_json(trained.notes)}});
}

} // namespace hotset
