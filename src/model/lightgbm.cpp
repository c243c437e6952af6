// SPDX-License-Identifier: Apache-2.0
#include "model/lightgbm.h"

#ifdef HOTSET_HAVE_LIGHTGBM

#include <LightGBM/c_api.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hotset {
namespace {

constexpr const char* kOneThread = "num_threads=1 verbosity=-1";

// LightGBM sends a message in pieces; the line feeds are its own.
void log_message(const char* message) {
  std::string_view text(message);
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  if (!text.empty()) spdlog::debug("{}", text);
}

// Every call of the C API goes through here: the first registers our log, each return code becomes a Result.
template <class Call>
Result<> checked(const char* operation, Call&& call) {
  static const int kRegistered = LGBM_RegisterLogCallback(log_message);
  static_cast<void>(kRegistered);
  if (call() == 0) return {};
  return fail(ErrorCode::internal, operation, "", fmt::format("LightGBM says: {}", LGBM_GetLastError()));
}

template <int (*Free)(void*)>
struct Freed {
  void operator()(void* handle) const { Free(handle); }
};
using DatasetOwner = std::unique_ptr<void, Freed<LGBM_DatasetFree>>;
using BoosterOwner = std::unique_ptr<void, Freed<LGBM_BoosterFree>>;
using FastConfigOwner = std::unique_ptr<void, Freed<LGBM_FastConfigFree>>;

Result<std::int32_t> count_of(std::size_t rows) {
  if (!std::in_range<std::int32_t>(rows))
    return fail(ErrorCode::bad_data, "hand the rows to LightGBM", "", fmt::format("{} are too many", rows),
                "give fewer data sets");
  return static_cast<std::int32_t>(rows);
}

Result<DatasetOwner> make_dataset(const Matrix& rows, std::span<const double> labels, ColumnNames names,
                                  const std::string& parameters) {
  constexpr const char* kOperation = "hand the rows to LightGBM";
  HOTSET_TRY(const std::int32_t count, count_of(rows.rows()));
  const auto columns = static_cast<std::int32_t>(rows.columns());
  DatasetHandle raw = nullptr;
  HOTSET_CHECK(checked(kOperation, [&] {
    return LGBM_DatasetCreateFromMat(rows.data(), C_API_DTYPE_FLOAT64, count, columns, 1, parameters.c_str(), nullptr,
                                     &raw);
  }));
  DatasetOwner dataset(raw);
  const std::vector<float> targets(labels.begin(), labels.end()); // LightGBM keeps labels as float
  HOTSET_CHECK(checked(kOperation, [&] {
    return LGBM_DatasetSetField(dataset.get(), "label", targets.data(), count, C_API_DTYPE_FLOAT32);
  }));
  std::vector<const char*> texts;
  for (const std::string& name : names)
    texts.push_back(name.c_str());
  HOTSET_CHECK(checked(kOperation, [&] {
    return LGBM_DatasetSetFeatureNames(dataset.get(), texts.data(), static_cast<int>(texts.size()));
  }));
  return dataset;
}

} // namespace

struct Booster::Handles {
  DatasetOwner dataset; // the booster refers to it
  BoosterOwner booster;
  FastConfigOwner fast; // refers to the booster
};

namespace {

Result<FastConfigOwner> make_fast(BoosterHandle booster, std::size_t columns) {
  FastConfigHandle raw = nullptr;
  HOTSET_CHECK(checked("prepare the prediction", [&] {
    return LGBM_BoosterPredictForMatSingleRowFastInit(booster, C_API_PREDICT_NORMAL, 0, -1, C_API_DTYPE_FLOAT64,
                                                      static_cast<std::int32_t>(columns), kOneThread, &raw);
  }));
  return FastConfigOwner(raw);
}

Result<> check_width(std::size_t given, std::size_t columns) {
  if (given == columns) return {};
  return fail(ErrorCode::bad_data, "predict", "",
              fmt::format("{} features are given and the model has {}", given, columns));
}

} // namespace

bool lightgbm_available() {
  return true;
}

std::string_view lightgbm_version() {
  return HOTSET_LIGHTGBM_VERSION;
}

Booster::Booster(std::unique_ptr<Handles> handles, std::size_t columns)
    : handles_(std::move(handles)), columns_(columns) {}
Booster::Booster(Booster&&) noexcept = default;
Booster& Booster::operator=(Booster&&) noexcept = default;
Booster::~Booster() = default;

Result<Booster> Booster::train(const Matrix& rows, std::span<const double> labels, ColumnNames names,
                               const std::string& parameters, std::size_t rounds) {
  constexpr const char* kOperation = "train the model";
  const std::string all = fmt::format("{} {}", parameters, kOneThread);
  auto handles = std::make_unique<Handles>();
  HOTSET_TRY(handles->dataset, make_dataset(rows, labels, names, all));
  BoosterHandle raw = nullptr;
  HOTSET_CHECK(checked(kOperation, [&] { return LGBM_BoosterCreate(handles->dataset.get(), all.c_str(), &raw); }));
  handles->booster.reset(raw);
  for (std::size_t round = 0; round < rounds; ++round) {
    int nothing_left = 0;
    HOTSET_CHECK(checked(kOperation, [&] { return LGBM_BoosterUpdateOneIter(raw, &nothing_left); }));
    if (nothing_left != 0) break;
  }
  HOTSET_TRY(handles->fast, make_fast(raw, rows.columns()));
  return Booster(std::move(handles), rows.columns());
}

Result<Booster> Booster::from_text(const std::string& text) {
  constexpr const char* kOperation = "load the model";
  auto handles = std::make_unique<Handles>();
  int iterations = 0, columns = 0;
  BoosterHandle raw = nullptr;
  HOTSET_CHECK(checked(kOperation, [&] { return LGBM_BoosterLoadModelFromString(text.c_str(), &iterations, &raw); }));
  handles->booster.reset(raw);
  HOTSET_CHECK(checked(kOperation, [&] { return LGBM_BoosterGetNumFeature(raw, &columns); }));
  const auto width = static_cast<std::size_t>(std::max(columns, 0));
  HOTSET_TRY(handles->fast, make_fast(raw, width));
  return Booster(std::move(handles), width);
}

Result<std::string> Booster::text() const {
  constexpr const char* kOperation = "write the model as text";
  std::int64_t needed = 0;
  auto save = [&](std::string& text) {
    return checked(kOperation, [&] {
      return LGBM_BoosterSaveModelToString(handles_->booster.get(), 0, -1, C_API_FEATURE_IMPORTANCE_GAIN,
                                           static_cast<std::int64_t>(text.size()), &needed, text.data());
    });
  };
  std::string text;
  HOTSET_CHECK(save(text));
  text.resize(static_cast<std::size_t>(needed));
  HOTSET_CHECK(save(text));
  text.resize(static_cast<std::size_t>(needed) - 1); // without the closing NUL
  return text;
}

Result<std::vector<double>> Booster::predict(const Matrix& rows) const {
  HOTSET_CHECK(check_width(rows.columns(), columns_));
  HOTSET_TRY(const std::int32_t count, count_of(rows.rows()));
  std::vector<double> values(rows.rows());
  std::int64_t length = 0;
  if (values.empty()) return values;
  HOTSET_CHECK(checked("predict", [&] {
    return LGBM_BoosterPredictForMat(handles_->booster.get(), rows.data(), C_API_DTYPE_FLOAT64, count,
                                     static_cast<std::int32_t>(columns_), 1, C_API_PREDICT_NORMAL, 0, -1, kOneThread,
                                     &length, values.data());
  }));
  return values;
}

Result<double> Booster::predict(std::span<const double> row) const {
  HOTSET_CHECK(check_width(row.size(), columns_));
  std::int64_t length = 0;
  double value = 0;
  HOTSET_CHECK(checked("predict", [&] {
    return LGBM_BoosterPredictForMatSingleRowFast(handles_->fast.get(), row.data(), &length, &value);
  }));
  return value;
}

Result<double> Booster::predict_plain(std::span<const double> row) const {
  HOTSET_CHECK(check_width(row.size(), columns_));
  std::int64_t length = 0;
  double value = 0;
  HOTSET_CHECK(checked("predict", [&] {
    return LGBM_BoosterPredictForMat(handles_->booster.get(), row.data(), C_API_DTYPE_FLOAT64, 1,
                                     static_cast<std::int32_t>(columns_), 1, C_API_PREDICT_NORMAL, 0, -1, kOneThread,
                                     &length, &value);
  }));
  return value;
}

} // namespace hotset

#else

namespace hotset {
namespace {

std::unexpected<Error> unavailable() {
  return fail(ErrorCode::unsupported, "use a model", "", "this build has no LightGBM",
              "run ./run setup and build again");
}

} // namespace

bool lightgbm_available() {
  return false;
}

std::string_view lightgbm_version() {
  return "none";
}

struct Booster::Handles {};
Booster::Booster(std::unique_ptr<Handles> handles, std::size_t columns)
    : handles_(std::move(handles)), columns_(columns) {}
Booster::Booster(Booster&&) noexcept = default;
Booster& Booster::operator=(Booster&&) noexcept = default;
Booster::~Booster() = default;

Result<Booster> Booster::train(const Matrix&, std::span<const double>, ColumnNames, const std::string&, std::size_t) {
  return unavailable();
}
Result<Booster> Booster::from_text(const std::string&) {
  return unavailable();
}
Result<std::string> Booster::text() const {
  return unavailable();
}
Result<std::vector<double>> Booster::predict(const Matrix&) const {
  return unavailable();
}
Result<double> Booster::predict(std::span<const double>) const {
  return unavailable();
}
Result<double> Booster::predict_plain(std::span<const double>) const {
  return unavailable();
}

} // namespace hotset

#endif
