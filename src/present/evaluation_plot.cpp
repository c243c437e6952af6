// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "present/evaluation.h"
#include "present/svg_plot.h"

namespace hotset {
namespace {

constexpr double kMib = 0x1p20;
constexpr std::size_t kMostDots = 3000;  // more would only hide each other
constexpr std::size_t kMostSteps = 400;  // points of a line
constexpr std::size_t kMostDatasets = 5; // over time
constexpr std::size_t kHtmlColumns = 110;
constexpr double kWideRange = 30; // between values of which a logarithmic axis is easier to read

// Every k-th item, so that at most `most` are left.
std::size_t stride(std::size_t count, std::size_t most) {
  return std::max<std::size_t>(1, (count + most - 1) / most);
}

Chart against_label(const Evaluation& evaluation) {
  Chart chart{.title = "Estimate against label, one dot a window",
              .x_label = "label, MiB",
              .y_label = "estimate, MiB",
              .same_axes = true,
              .series = {}};
  std::map<std::string, std::vector<PlotPoint>> groups;
  double low = 0, high = 0;
  const std::size_t step = stride(evaluation.points.size(), kMostDots);
  for (std::size_t i = 0; i < evaluation.points.size(); i += step) {
    const Point& point = evaluation.points[i];
    groups[evaluation.data[point.dataset].group].push_back({point.label / kMib, point.model / kMib});
    if (point.label > 0) low = low > 0 ? std::min(low, point.label) : point.label;
    high = std::max(high, point.label);
  }
  if (low > 0 && high > kWideRange * low) chart.x_scale = chart.y_scale = AxisScale::logarithmic;
  std::size_t colour = 0;
  for (auto& [group, points] : groups)
    chart.series.push_back({.name = group.empty() ? "windows" : group,
                            .colour = kPlotColours[colour++ % std::size(kPlotColours)],
                            .mark = Mark::dots,
                            .points = std::move(points)});
  return chart;
}

Chart over_time(const Evaluation& evaluation, std::size_t dataset) {
  std::vector<const Point*> points;
  for (const Point& point : evaluation.points)
    if (point.dataset == dataset) points.push_back(&point);
  std::ranges::sort(points, {}, &Point::time_s);
  Series rss{.name = "resident", .colour = kPlotGrey, .mark = Mark::dashed, .points = {}};
  Series truth{.name = "own record", .colour = kPlotColours[2], .mark = Mark::line, .points = {}};
  Series label{.name = "label", .colour = kPlotBlack, .mark = Mark::line, .points = {}};
  Series model{.name = "estimate", .colour = kPlotColours[1], .mark = Mark::line, .points = {}};
  const std::size_t step = stride(points.size(), kMostSteps);
  for (std::size_t i = 0; i < points.size(); i += step) {
    const Point& point = *points[i];
    rss.points.push_back({point.time_s, point.rss / kMib});
    label.points.push_back({point.time_s, point.label / kMib});
    model.points.push_back({point.time_s, point.model / kMib});
    if (point.truth) truth.points.push_back({point.time_s, *point.truth / kMib});
  }
  if (truth.points.empty()) truth.name.clear();
  return {.title = std::filesystem::path(evaluation.data[dataset].path).filename().string(),
          .x_label = "time, s",
          .y_label = "MiB",
          .series = {std::move(rss), std::move(truth), std::move(label), std::move(model)}};
}

// From small to large working sets, evenly.
std::vector<std::size_t> shown_datasets(const Evaluation& evaluation) {
  std::map<std::size_t, double> largest; // label of each data set that has points
  for (const Point& point : evaluation.points)
    largest[point.dataset] = std::max(largest[point.dataset], point.label);
  std::vector<std::size_t> with_points;
  for (const auto& [dataset, label] : largest)
    with_points.push_back(dataset);
  std::ranges::stable_sort(with_points, {}, [&](std::size_t dataset) { return largest[dataset]; });
  if (with_points.size() <= kMostDatasets) return with_points;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < kMostDatasets; ++i)
    shown.push_back(with_points[i * (with_points.size() - 1) / (kMostDatasets - 1)]);
  return shown;
}

} // namespace

std::string evaluation_svg(const Evaluation& evaluation) {
  std::vector<Chart> charts{against_label(evaluation)};
  for (std::size_t dataset : shown_datasets(evaluation))
    charts.push_back(over_time(evaluation, dataset));
  const std::string when =
      evaluation.model.horizon == 0 ? std::string() : fmt::format(", {} windows ahead", evaluation.model.horizon);
  return plot_svg(fmt::format("Working set: {}{}", setting_text(evaluation.pictured).heading, when), charts, 2);
}

std::string evaluation_html(const Evaluation& evaluation) {
  // xml_text would show line feeds as \\x0a, so each line goes through it alone.
  std::string tables;
  const std::string text = evaluation_text(evaluation, Style(false), kHtmlColumns);
  for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
    tables += xml_text(std::string_view(text).substr(from, to - from)) + "\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>hotset evaluation</title>\n"
      "<style>body{{margin:24px;font-family:system-ui,sans-serif}}pre{{overflow:auto}}"
      "svg{{max-width:100%;height:auto}}</style>\n<h1>hotset evaluation</h1>\n<pre>{}</pre>\n{}</html>\n",
      tables, evaluation_svg(evaluation));
}

} // namespace hotset
