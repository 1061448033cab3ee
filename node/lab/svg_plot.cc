// The picture of a report: axes with marks at round numbers, a line and a colour for each series, a legend beside it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "node/lab/report.h"

namespace orbweaver {

namespace {

// Pixels.
constexpr double width = 860, height = 380;
constexpr double left = 76, right = 210, top = 44, bottom = 56;
constexpr double inner_width = width - left - right, inner_height = height - top - bottom;
constexpr double legend_line = 18;
constexpr std::size_t max_points = 2000;  // of a series; of a longer one every nth is drawn

// Most colour-blind readers can distinguish them (Okabe and Ito's set, darker where it is pale).
constexpr std::array<const char*, 10> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                                 "#56b4e9", "#7a5195", "#8c6d31", "#637939", "#666666"};
constexpr std::array<const char*, 3> dashes = {"", " stroke-dasharray='7 4'", " stroke-dasharray='2 3'"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  return buffer;
}

std::string mark_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 3> sizes = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  char buffer[32];
  for (const auto& [size, suffix] : sizes) {
    if (std::abs(value) < size) continue;
    std::snprintf(buffer, sizeof buffer, "%.4g%s", value / size, suffix);
    return buffer;
  }
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}

// One axis: the position of a value on it, from 0 to 1, and its marks.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<double> marks;

  double place(double value) const {
    if (logarithmic) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
  }
};

Scale logarithmic_scale(double low, double high) {
  Scale scale{.logarithmic = true, .marks = {}};
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  scale.low = std::pow(10, first);
  scale.high = std::pow(10, last > first ? last : first + 1);
  for (double e = first; std::pow(10, e) <= scale.high * 1.0001; ++e) scale.marks.push_back(std::pow(10, e));
  return scale;
}

Scale linear_scale(double low, double high) {
  if (low > 0 && low < 0.5 * high) low = 0;
  if (!(high > low)) high = low + 1;
  double step = std::pow(10, std::floor(std::log10(high - low)));
  for (const double part : {5.0, 2.0, 1.0}) {
    if ((high - low) / (step / part) > 8) continue;
    step /= part;
    break;
  }
  Scale scale{.low = std::floor(low / step) * step, .high = std::ceil(high / step - 1e-9) * step, .marks = {}};
  const int count = static_cast<int>(std::lround((scale.high - scale.low) / step));
  for (int i = 0; i <= count; ++i) scale.marks.push_back(scale.low + i * step);
  return scale;
}

bool drawable(const Plot& plot, const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second) && (!plot.x.logarithmic || point.first > 0) &&
         (!plot.y.logarithmic || point.second > 0);
}

Scale scale_of(const Plot& plot, bool of_x) {
  double low = INFINITY, high = -INFINITY;
  for (const Series& series : plot.series) {
    for (const auto& point : series.points) {
      if (!drawable(plot, point)) continue;
      const double value = of_x ? point.first : point.second;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const bool logarithmic = of_x ? plot.x.logarithmic : plot.y.logarithmic;
  if (low > high) return logarithmic ? logarithmic_scale(1, 10) : linear_scale(0, 1);
  return logarithmic ? logarithmic_scale(low, high) : linear_scale(low, high);
}

std::string text_at(double x, double y, const char* more, const std::string& text) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' " + more + ">" + escaped(text) + "</text>\n";
}

std::string axes(const Plot& plot, const Scale& x, const Scale& y) {
  std::string out;
  for (const double mark : x.marks) {
    const double at = left + x.place(mark) * inner_width;
    out += "<path d='M" + number(at) + " " + number(top) + "v" + number(inner_height) + "' stroke='#ddd'/>\n";
    out += text_at(at, top + inner_height + 16, "text-anchor='middle' font-size='11'", mark_text(mark));
  }
  for (const double mark : y.marks) {
    const double at = top + (1 - y.place(mark)) * inner_height;
    out += "<path d='M" + number(left) + " " + number(at) + "h" + number(inner_width) + "' stroke='#ddd'/>\n";
    out += text_at(left - 6, at + 4, "text-anchor='end' font-size='11'", mark_text(mark));
  }
  out += text_at(left + inner_width / 2, height - 14, "text-anchor='middle' font-size='12'", plot.x.label);
  const std::string middle = number(top + inner_height / 2);
  out += "<text transform='translate(18 " + middle + ") rotate(-90)' text-anchor='middle' font-size='12'>" +
         escaped(plot.y.label) + "</text>\n";
  return out;
}

std::string line_of(const Plot& plot, const Series& series, std::size_t index, const Scale& x, const Scale& y) {
  const std::string colour = colours[index % colours.size()];
  const std::string dash = dashes[index / colours.size() % dashes.size()];
  std::string path, dots;
  const std::size_t step = series.points.size() / max_points + 1;
  const bool few = series.points.size() <= 40;
  for (std::size_t i = 0; i < series.points.size(); i += step) {
    if (!drawable(plot, series.points[i])) continue;
    const std::string at_x = number(left + x.place(series.points[i].first) * inner_width);
    const std::string at_y = number(top + (1 - y.place(series.points[i].second)) * inner_height);
    path += (path.empty() ? "M" : "L") + at_x + " " + at_y;
    if (few) dots += "<circle cx='" + at_x + "' cy='" + at_y + "' r='2.5' fill='" + colour + "'/>\n";
  }
  std::string out =
      "<path d='" + path + "' fill='none' stroke-width='1.8' stroke='" + colour + "'" + dash + "/>\n" + dots;
  const double at = top + 6 + legend_line * static_cast<double>(index);
  out += "<path d='M" + number(width - right + 14) + " " + number(at) + "h22' stroke-width='2.5' stroke='" + colour +
         "'" + dash + "/>\n";
  return out + text_at(width - right + 42, at + 4, "font-size='11'", series.name);
}

std::string drawn(const Plot& plot, double height_of_it) {
  const Scale x = scale_of(plot, true), y = scale_of(plot, false);
  std::string out = "<rect width='" + number(width) + "' height='" + number(height_of_it) + "' fill='#fff'/>\n";
  out += text_at(left, 24, "font-size='15' font-weight='bold'", plot.title) + axes(plot, x, y);
  for (std::size_t i = 0; i < plot.series.size(); ++i) out += line_of(plot, plot.series[i], i, x, y);
  return out;
}

double height_of(const Plot& plot) {
  return std::max(height, top + legend_line * static_cast<double>(plot.series.size()) + 16);
}

}  // namespace

std::string to_svg(const std::vector<Plot>& plots) {
  double all = 0;
  for (const Plot& plot : plots) all += height_of(plot);
  std::string out = "<svg xmlns='http://www.w3.org/2000/svg' width='" + number(width) + "' height='" + number(all) +
                    "' viewBox='0 0 " + number(width) + " " + number(all) + "' font-family='sans-serif' fill='#222'>\n";
  double at = 0;
  for (const Plot& plot : plots) {
    out += "<g transform='translate(0 " + number(at) + ")'>\n" + drawn(plot, height_of(plot)) + "</g>\n";
    at += height_of(plot);
  }
  return out + "</svg>\n";
}

}  // namespace orbweaver
