#include "node/lab/report.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "node/terminal/say.h"

namespace orbweaver {

namespace {

std::string shown(const Cell& cell, int decimals) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::uint64_t>(&cell)) return std::to_string(*whole);
  char buffer[64];
  const double value = std::get<double>(cell);
  // A value that rounding would turn into zero keeps its first digits.
  const bool tiny = value != 0 && std::abs(value) < 0.5 * std::pow(10.0, -decimals);
  if (tiny)
    std::snprintf(buffer, sizeof buffer, "%.2e", value);
  else
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

std::size_t width_of(const std::string& text) {  // in characters, not bytes
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? space + text : text + space;
}

nlohmann::json cell_json(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      cell);
}

nlohmann::json table_json(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& cells : table.rows) {
    nlohmann::json row = nlohmann::json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) row[table.columns[i].name] = cell_json(cells[i]);
    rows.push_back(std::move(row));
  }
  return {{"title", table.title}, {"rows", std::move(rows)}, {"notes", table.notes}};
}

}  // namespace

std::string to_text(const Table& table) {
  std::vector<std::size_t> widths;
  std::vector<bool> numbers;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t width = width_of(table.columns[i].name);
    bool number = true;
    for (const auto& row : table.rows) {
      width = std::max(width, width_of(shown(row[i], table.columns[i].decimals)));
      number = number && !std::holds_alternative<std::string>(row[i]);
    }
    widths.push_back(width);
    numbers.push_back(number);
  }
  std::string out = table.title + "\n\n";
  const auto line = [&](const auto& text_of) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += (i == 0 ? "" : "  ") + padded(text_of(i), widths[i], numbers[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t i) { return table.columns[i].name; });
  line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : table.rows) line([&](std::size_t i) { return shown(row[i], table.columns[i].decimals); });
  if (!table.notes.empty()) out += "\n";
  for (const std::string& note : table.notes) out += note + "\n";
  return out;
}

std::string to_markdown(const Table& table) {
  std::string out = "**" + table.title + "**\n\n|";
  for (const Column& column : table.columns) out += " " + column.name + " |";
  out += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool text = std::any_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return std::holds_alternative<std::string>(row[i]); });
    out += text ? " --- |" : " ---: |";
  }
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = shown(row[i], table.columns[i].decimals);
      for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
      out += " " + text + " |";
    }
    out += "\n";
  }
  if (!table.notes.empty()) out += "\n";
  for (const std::string& note : table.notes) out += note + "\n";
  return out;
}

nlohmann::json to_json(const Report& report) {
  nlohmann::json tables = nlohmann::json::array();
  for (const Table& table : report.tables) tables.push_back(table_json(table));
  return {{"experiment", report.experiment}, {"facts", report.facts}, {"tables", std::move(tables)}};
}

Result<void> give_out(const Report& report, const ReportOutput& output) {
  if (!output.plot_file.empty()) {
    std::ofstream file(output.plot_file, std::ios::binary | std::ios::trunc);
    file << to_svg(report.plots);
    file.close();
    if (!file)
      return fail(ErrorCode::io, "the plot " + output.plot_file + " cannot be written: " + std::strerror(errno));
  }
  if (output.as_json) {
    say_json(to_json(report));
  } else {
    for (std::size_t i = 0; i < report.tables.size(); ++i)
      say_text((i == 0 ? "" : "\n") + (output.as_markdown ? to_markdown(report.tables[i]) : to_text(report.tables[i])));
  }
  if (!all_said()) return fail(ErrorCode::io, "standard output could not be written");
  return {};
}

}  // namespace orbweaver
