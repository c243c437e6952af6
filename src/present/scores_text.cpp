// SPDX-License-Identifier: Apache-2.0
#include "present/scores_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "present/json.h"

namespace hotset {
namespace {

constexpr std::size_t kNameColumns = 16;
constexpr std::size_t kCountColumns = 8;
constexpr std::size_t kValueColumns = 8;
constexpr double kMib = 0x1p20;

// Three digits that count, in a column.
std::string three_digits(double value) {
  if (value >= 99999.5) return fmt::format("{:.1e}", value);
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 || value == 0 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string cell(const ErrorMetric& metric, const Metrics& measured) {
  const std::optional<double> value = metric.value(measured);
  if (!value) return "–";
  switch (metric.scale) {
    case Scale::mib:
      return three_digits(*value / kMib);
    case Scale::percent:
      return three_digits(*value * 100);
    case Scale::plain:
      return *value < -99 ? "< -99" : fmt::format("{:.3f}", *value);
  }
  return {};
}

} // namespace

std::string scores_heading(const Style& style) {
  std::string over = pad_right("error in", kNameColumns + kCountColumns);
  std::string names = pad_right("", kNameColumns) + pad_left("windows", kCountColumns);
  std::string_view last;
  for (const ErrorMetric& metric : error_metrics()) {
    over += metric.over == last ? pad_left("", kValueColumns)
                                : pad_left(metric.over.empty() ? "" : metric.over, kValueColumns);
    names += pad_left(metric.heading, kValueColumns);
    last = metric.over;
  }
  while (over.ends_with(' '))
    over.pop_back();
  return style.dim(over) + "\n" + style.dim(names) + "\n";
}

std::string scores_line(std::string_view name, const Metrics& measured) {
  std::string line = pad_right(name, kNameColumns) + pad_left(fmt::format("{}", measured.n), kCountColumns);
  for (const ErrorMetric& metric : error_metrics())
    line += pad_left(cell(metric, measured), kValueColumns);
  return line + "\n";
}

std::string scores_block(std::string_view title, std::span<const Metrics> scores, const Style& style) {
  std::string block = title.empty() ? std::string() : style.bold(title) + "\n";
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i].n > 0) block += scores_line("  " + std::string(predictors()[i].heading), scores[i]);
  return block;
}

Json metrics_json(const Metrics& measured) {
  Json json{{"n", measured.n}};
  for (const ErrorMetric& metric : error_metrics()) {
    const std::optional<double> value = metric.value(measured);
    json[std::string(metric.name)] = value && std::isfinite(*value) ? Json(*value) : Json();
  }
  return json;
}

Json scores_json(std::span<const Metrics> scores) {
  Json json = Json::object();
  for (std::size_t i = 0; i < scores.size(); ++i)
    json[std::string(predictors()[i].name)] = scores[i].n > 0 ? metrics_json(scores[i]) : Json();
  return json;
}

} // namespace hotset
