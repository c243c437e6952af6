// SPDX-License-Identifier: Apache-2.0
#include "present/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/units.h"

namespace hotset {
namespace {

constexpr double kWidth = 460, kHeight = 330;                      // of one chart
constexpr double kLeft = 62, kRight = 14, kTop = 30, kBottom = 66; // its margins
constexpr double kHeading = 40;                                    // above the charts
constexpr std::size_t kTicks = 6;
constexpr double kDecadeFloor = 1e-6; // a logarithmic axis spans at most so much of its top value

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

// From values to places: a range, linear or logarithmic, onto pixels.
class Axis {
 public:
  Axis(AxisScale scale, double low, double high) : logarithmic_(scale == AxisScale::logarithmic && high > 0) {
    if (logarithmic_) {
      low_ = std::floor(std::log10(std::max(low, high * kDecadeFloor)));
      high_ = std::max(std::ceil(std::log10(high)), low_ + 1);
    } else {
      low_ = std::min(low, 0.0);
      high_ = high > low_ ? low_ + (high - low_) * 1.05 : low_ + 1;
    }
  }

  // 0 at the low end, 1 at the high one.
  [[nodiscard]] double place(double value) const {
    if (logarithmic_) value = value > 0 ? std::log10(value) : low_;
    return std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    if (!logarithmic_) return round_ticks(low_, high_, kTicks);
    std::vector<double> decades;
    for (double decade = low_; decade <= high_; decade += 1)
      decades.push_back(std::pow(10, decade));
    return decades;
  }
  [[nodiscard]] double low() const { return logarithmic_ ? std::pow(10, low_) : low_; }
  [[nodiscard]] double high() const { return logarithmic_ ? std::pow(10, high_) : high_; }

 private:
  bool logarithmic_;
  double low_, high_; // exponents when logarithmic
};

bool drawable(const PlotPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y);
}

Axis axis_over(const Chart& chart, AxisScale scale, bool with_x, bool with_y) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  auto widen = [&](double value) {
    if (scale == AxisScale::logarithmic && value <= 0) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const Series& series : chart.series)
    for (const PlotPoint& point : series.points) {
      if (!drawable(point)) continue;
      if (with_x) widen(point.x);
      if (with_y) widen(point.y);
    }
  return low <= high ? Axis(scale, low, high) : Axis(AxisScale::linear, 0, 1);
}

// One chart at a place of the picture.
class Canvas {
 public:
  Canvas(const Chart& chart, double x, double y)
      : chart_(chart),
        x_(x),
        y_(y),
        across_(axis_over(chart, chart.x_scale, true, chart.same_axes)),
        up_(axis_over(chart, chart.y_scale, chart.same_axes, true)) {}

  std::string draw() {
    text(x_ + kLeft, y_ + 20, "start", "t", chart_.title);
    grid();
    if (chart_.same_axes) diagonal();
    for (const Series& series : chart_.series)
      draw_series(series);
    text(x_ + (kLeft + kWidth - kRight) / 2, y_ + kHeight - kBottom + 34, "middle", "l", chart_.x_label);
    emit("<text class=\"l\" text-anchor=\"middle\" transform=\"translate({:.1f},{:.1f}) rotate(-90)\">{}</text>\n",
         x_ + 14, y_ + (kTop + kHeight - kBottom) / 2, xml_text(chart_.y_label));
    legend();
    return std::move(out_);
  }

 private:
  template <class... Arguments>
  void emit(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }
  void text(double x, double y, std::string_view anchor, std::string_view style, std::string_view words) {
    emit("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y, anchor,
         xml_text(words));
  }
  void segment(double x1, double y1, double x2, double y2, std::string_view style) {
    emit("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1, y1, x2, y2);
  }
  [[nodiscard]] double px(double x) const { return x_ + kLeft + across_.place(x) * (kWidth - kLeft - kRight); }
  [[nodiscard]] double py(double y) const { return y_ + kHeight - kBottom - up_.place(y) * (kHeight - kTop - kBottom); }

  void grid() {
    const double left = x_ + kLeft, right = x_ + kWidth - kRight, top = y_ + kTop, bottom = y_ + kHeight - kBottom;
    for (double tick : up_.ticks()) {
      segment(left, py(tick), right, py(tick), "g");
      text(left - 6, py(tick) + 4, "end", "n", number(tick));
    }
    for (double tick : across_.ticks()) {
      segment(px(tick), top, px(tick), bottom, "g");
      text(px(tick), bottom + 16, "middle", "n", number(tick));
    }
    segment(left, bottom, right, bottom, "a");
    segment(left, top, left, bottom, "a");
  }

  void diagonal() { segment(px(across_.low()), py(up_.low()), px(across_.high()), py(up_.high()), "d"); }

  void draw_series(const Series& series) {
    if (series.mark == Mark::dots) {
      emit("<g fill=\"{}\" fill-opacity=\"0.45\">\n", series.colour);
      for (const PlotPoint& point : series.points)
        if (drawable(point)) emit("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>\n", px(point.x), py(point.y));
      out_ += "</g>\n";
      return;
    }
    std::string places;
    for (const PlotPoint& point : series.points)
      if (drawable(point))
        places += fmt::format("{}{:.1f},{:.1f}", places.empty() ? "" : " ", px(point.x), py(point.y));
    if (places.empty()) return;
    emit("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"{} points=\"{}\"/>\n", series.colour,
         series.mark == Mark::dashed ? " stroke-dasharray=\"5 3\"" : "", places);
  }

  void legend() {
    constexpr double kCharacter = 6.4; // about the width of one at this size
    double x = x_ + kLeft;
    const double y = y_ + kHeight - 14;
    for (const Series& series : chart_.series) {
      if (series.name.empty()) continue;
      emit("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"4\" fill=\"{}\"/>\n", x, y - 6, series.colour);
      text(x + 16, y, "start", "n", series.name);
      x += 30 + kCharacter * static_cast<double>(series.name.size());
    }
  }

  const Chart& chart_;
  double x_, y_;
  Axis across_, up_;
  std::string out_;
};

constexpr std::string_view kStyle =
    "<style>text{font-family:system-ui,sans-serif;fill:#222}.h{font-size:16px;font-weight:600}"
    ".t{font-size:13px;font-weight:600}.l{font-size:12px}.n{font-size:11px;fill:#444}"
    ".g{stroke:#e4e4e4}.a{stroke:#444}.d{stroke:#999;stroke-dasharray:4 4}</style>\n";

} // namespace

std::vector<double> round_ticks(double low, double high, std::size_t count) {
  const double rough = (high - low) / static_cast<double>(count);
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (double factor : {5.0, 2.0, 1.0})
    if (factor * decade >= rough) step = factor * decade;
  std::vector<double> ticks;
  for (double i = std::ceil(low / step); i * step <= high; i += 1)
    ticks.push_back(i == 0 ? 0 : i * step);
  return ticks;
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (char c : printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string plot_svg(std::string_view title, std::span<const Chart> charts, std::size_t columns) {
  const std::size_t rows = (charts.size() + columns - 1) / columns;
  const double width = kWidth * static_cast<double>(std::min(columns, std::max<std::size_t>(1, charts.size())));
  const double height = kHeading + kHeight * static_cast<double>(rows);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n{3}<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text class=\"h\" x=\"16\" y=\"26\">{2}</text>\n",
      width, height, xml_text(title), kStyle);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    svg +=
        Canvas(charts[i], kWidth * static_cast<double>(column), kHeading + kHeight * static_cast<double>(row)).draw();
  }
  return svg + "</svg>\n";
}

} // namespace hotset
