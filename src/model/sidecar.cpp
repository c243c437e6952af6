// SPDX-License-Identifier: Apache-2.0
#include "model/sidecar.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/units.h"
#include "dataset/fingerprint.h"

namespace hotset {
namespace {

using Json = nlohmann::ordered_json;

// Thrown and caught within this file only.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json parse_object(std::string_view text) {
  try {
    Json json = Json::parse(text);
    if (json.is_object()) return json;
  } catch (const Json::out_of_range&) {
    throw Malformed("one of its numbers is beyond what a double holds");
  } catch (const Json::parse_error&) {
    // said below
  }
  throw Malformed("it is not a JSON object");
}

const Json& member(const Json& object, const char* name) {
  auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) throw Malformed(fmt::format("it has no \"{}\"", name));
  return *found;
}

template <class Value>
Value get(const Json& object, const char* name) {
  const Json& json = member(object, name);
  bool good = false;
  if constexpr (std::is_same_v<Value, std::string>)
    good = json.is_string();
  else if constexpr (std::is_same_v<Value, double>)
    good = json.is_number() && std::isfinite(json.get<double>());
  else
    good = json.is_number_unsigned();
  if (!good) throw Malformed(fmt::format("its \"{}\" is not what it should be", name));
  return json.get<Value>();
}

const Json& list(const Json& object, const char* name) {
  const Json& json = member(object, name);
  if (!json.is_array()) throw Malformed(fmt::format("its \"{}\" is not a list", name));
  return json;
}

Json features_json(const ModelInfo& info) {
  Json features = Json::array();
  for (std::size_t i = 0; i < info.features.size(); ++i)
    features.push_back({{"name", info.features[i]}, {"min", info.scaler.low[i]}, {"max", info.scaler.high[i]}});
  return features;
}

void read_features(const Json& json, ModelInfo& info) {
  for (const Json& feature : list(json, "features")) {
    info.features.push_back(get<std::string>(feature, "name"));
    info.scaler.low.push_back(get<double>(feature, "min"));
    info.scaler.high.push_back(get<double>(feature, "max"));
    if (info.scaler.low.back() > info.scaler.high.back()) throw Malformed("a feature's min is above its max");
  }
  if (info.features.empty()) throw Malformed("it names no features");
}

Json datasets_json(const ModelInfo& info) {
  Json datasets = Json::array();
  for (const TrainedOn& dataset : info.datasets)
    datasets.push_back({{"path", printable(dataset.path)},
                        {"recording", dataset.recording},
                        {"group", printable(dataset.group)},
                        {"rows", dataset.rows}});
  return datasets;
}

void read_datasets(const Json& json, ModelInfo& info) {
  for (const Json& dataset : list(json, "datasets"))
    info.datasets.push_back({.path = get<std::string>(dataset, "path"),
                             .recording = get<std::string>(dataset, "recording"),
                             .group = get<std::string>(dataset, "group"),
                             .rows = get<std::uint64_t>(dataset, "rows")});
}

Json parameters_json(const Parameters& parameters) {
  Json json = Json::object();
  for (const Parameter& parameter : parameter_table())
    json[std::string(parameter.name)] = parameters.*parameter.field;
  json["bagging_freq"] = kBaggingFrequency;
  json["random_state"] = parameters.seed;
  return json;
}

void read_parameters(const Json& json, Parameters& parameters) {
  const Json& object = member(json, "parameters");
  constexpr double kLargest = 1e6;
  for (const Parameter& parameter : parameter_table()) {
    const auto value = get<double>(object, std::string(parameter.name).c_str());
    if (value <= 0 || value > kLargest) throw Malformed(fmt::format("its \"{}\" is out of range", parameter.name));
    parameters.*parameter.field = value;
  }
  parameters.seed = get<std::uint64_t>(object, "random_state");
}

void check_schema(const Json& json) {
  const auto schema = get<std::string>(json, "schema");
  if (schema == kModelSchema) return;
  throw Malformed(fmt::format("its schema is {}, and this program reads {}", printable(schema), kModelSchema));
}

ModelInfo read_info(const Json& json) {
  ModelInfo info;
  info.preset = get<std::string>(json, "preset");
  read_features(json, info);
  info.schema_hash = get<std::string>(json, "schema_hash");
  info.label = get<std::string>(json, "label");
  info.hook = get<std::string>(json, "hook");
  info.hook_semantics = get<std::string>(json, "hook_semantics");
  const Json& window = member(json, "window_s");
  info.window_low_s = get<double>(window, "p1");
  info.window_median_s = get<double>(window, "median");
  info.window_high_s = get<double>(window, "p99");
  info.horizon = get<std::uint64_t>(json, "horizon");
  const Json& interval = member(json, "interval");
  if (!member(interval, "half_width_bytes").is_null()) {
    info.interval_bytes = get<double>(interval, "half_width_bytes");
    if (*info.interval_bytes < 0) throw Malformed("its interval is negative");
  }
  info.confidence = get<double>(interval, "confidence");
  info.split = get<std::string>(json, "split");
  const Json& rows = member(json, "rows");
  info.train_rows = get<std::uint64_t>(rows, "train");
  info.valid_rows = get<std::uint64_t>(rows, "valid");
  info.test_rows = get<std::uint64_t>(rows, "test");
  info.outliers_removed = get<std::uint64_t>(rows, "outliers_removed");
  info.training_mean_bytes = get<double>(json, "training_mean_bytes");
  read_datasets(json, info);
  read_parameters(json, info.parameters);
  info.lightgbm_version = get<std::string>(json, "lightgbm_version");
  info.hotset_version = get<std::string>(json, "hotset_version");
  info.trained_at = get<std::string>(json, "trained_at");
  return info;
}

} // namespace

std::string sidecar_json(const ModelInfo& info, const std::string& model_hash) {
  const Json json = {
      {"schema", kModelSchema},
      {"model_hash", model_hash},
      {"preset", info.preset},
      {"features", features_json(info)},
      {"schema_hash", info.schema_hash},
      {"label", info.label},
      {"hook", info.hook},
      {"hook_semantics", info.hook_semantics},
      {"window_s", {{"p1", info.window_low_s}, {"median", info.window_median_s}, {"p99", info.window_high_s}}},
      {"horizon", info.horizon},
      {"interval",
       {{"half_width_bytes", info.interval_bytes ? Json(*info.interval_bytes) : Json()},
        {"confidence", info.confidence}}},
      {"split", info.split},
      {"rows",
       {{"train", info.train_rows},
        {"valid", info.valid_rows},
        {"test", info.test_rows},
        {"outliers_removed", info.outliers_removed}}},
      {"training_mean_bytes", info.training_mean_bytes},
      {"datasets", datasets_json(info)},
      {"parameters", parameters_json(info.parameters)},
      {"lightgbm_version", info.lightgbm_version},
      {"hotset_version", info.hotset_version},
      {"trained_at", info.trained_at},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::expected<Sidecar, std::string> parse_sidecar(std::string_view text) {
  try {
    const Json json = parse_object(text);
    check_schema(json);
    return Sidecar{.info = read_info(json), .model_hash = get<std::string>(json, "model_hash")};
  } catch (const Malformed& malformed) {
    return std::unexpected(malformed.what());
  }
}

} // namespace hotset
