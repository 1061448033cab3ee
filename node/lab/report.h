// The results of an experiment of `orbweaver lab`: tables and plots, and the ways to print them: text for a terminal,
// Markdown for docs/, JSON for machines, SVG to look at. Thread rule: values and free functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// An empty cell means "was not measured": "-" in a table, null in JSON. Text says why.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, double>;

struct Column {
  std::string name;  // "check p99 (us)": the unit belongs to it
  int decimals = 2;  // of doubles
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as columns
  std::vector<std::string> notes;       // sentences below the table
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // in the order they are joined
};

struct Axis {
  std::string label;
  bool logarithmic = false;  // then points that are not above 0 are left out
};

struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

struct Report {
  std::string experiment;  // "dedup"
  std::vector<Table> tables;
  std::vector<Plot> plots;
  nlohmann::json facts = nlohmann::json::object();  // the conditions of the run: sizes, seeds, files; for JSON only
};

std::string to_text(const Table& table);      // columns aligned, numbers to the right
std::string to_markdown(const Table& table);  // a pipe table under its title
nlohmann::json to_json(const Report& report);
// One picture with all plots, one below the other, self-contained, readable on light and dark pages.
std::string to_svg(const std::vector<Plot>& plots);

// How a report is printed; every experiment has the same three flags.
struct ReportOutput {
  bool as_json = false;
  bool as_markdown = false;
  std::string plot_file;  // empty: none
};
// Prints the tables (or JSON) to standard output and writes the plots. An error names the file.
Result<void> give_out(const Report& report, const ReportOutput& output);

}  // namespace orbweaver
