// SPDX-License-Identifier: Apache-2.0
// Charts as self-contained SVG: axes with round ticks, lines or dots, a legend. No scripts, no fonts and nothing else
// from elsewhere, so a picture can be mailed and still be looked at years later. All text is escaped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hotset {

struct PlotPoint {
  double x = 0, y = 0; // finite; others are left out
};

enum class Mark { line, dashed, dots };

struct Series {
  std::string name;        // in the legend; none when empty
  std::string_view colour; // one of kPlotColours, kPlotGrey
  Mark mark = Mark::line;
  std::vector<PlotPoint> points;
};

// Told apart by people who see colours differently, too (Okabe and Ito, 2008).
inline constexpr std::string_view kPlotColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
inline constexpr std::string_view kPlotGrey = "#999999";
inline constexpr std::string_view kPlotBlack = "#222222";

enum class AxisScale {
  linear,      // from 0 when nothing is below
  logarithmic, // values that are not positive are drawn at the low end
};

struct Chart {
  std::string title, x_label, y_label;
  AxisScale x_scale = AxisScale::linear, y_scale = AxisScale::linear;
  bool same_axes = false; // both axes have one range, and the diagonal is drawn
  std::vector<Series> series;
};

// The charts below each other in `columns` columns under one title. Ends with a line feed.
std::string plot_svg(std::string_view title, std::span<const Chart> charts, std::size_t columns);

// Values of an axis that people like to read: at most about `count` of them within [low, high].
std::vector<double> round_ticks(double low, double high, std::size_t count);
// `text` as the content of an XML element or attribute.
std::string xml_text(std::string_view text);

} // namespace hotset
