#include "node/cli/graph_command.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/graph/rank.h"
#include "node/graph/trace_edges.h"
#include "node/settings/settings.h"
#include "node/settings/units.h"
#include "node/terminal/say.h"
#include "node/text/printable.h"

namespace orbweaver {

namespace {

using nlohmann::json;

struct GraphOptions {
  std::vector<std::string> files;
  std::string algorithm = "pagerank";
  RankOptions rank;
  std::string memory = "256MiB";
  std::string directory;
  std::uint64_t top = UINT64_MAX;
  bool as_json = false;
};

Result<std::uint64_t> memory_of(const std::string& text) {
  const Result<std::uint64_t> bytes = parse_size(text);
  if (!bytes) return fail(ErrorCode::invalid_setting, "--memory: " + bytes.error().message);
  const auto machine =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
  if (*bytes < graph_memory_min || *bytes > machine)
    return fail(ErrorCode::invalid_setting, "--memory " + text + " is out of bounds: allowed is " +
                                                size_text(graph_memory_min) + " to " + size_text(machine) +
                                                ", which this machine has");
  return *bytes;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Result<void> give_out(const LinkGraph& graph, const GraphOptions& options, const RankSummary& summary) {
  const bool is_hits = options.algorithm == "hits";
  const auto written = [] {
    return std::ferror(stdout) != 0 ? fail(ErrorCode::io, std::string("standard output: ") + std::strerror(errno))
                                    : Result<void>();
  };
  json head = {{"algorithm", options.algorithm}, {"nodes", graph.nodes()},
               {"edges", graph.edges()},         {"repeated_edges", graph.repeated()},
               {"dangling", summary.dangling},   {"iterations", summary.iterations},
               {"change", summary.change}};
  if (is_hits) head.erase("dangling");
  if (!is_hits) head["damping"] = options.rank.damping;
  bool first = true;
  if (options.as_json) {
    // Written line by line: the list may be larger than memory.
    const std::string text = head.dump();
    say("%s,\"ranks\":[", text.substr(0, text.size() - 1).c_str());
  }
  const Result<void> given = each_by_rank(
      graph, graph.file(is_hits ? "authority" : "rank"), is_hits ? graph.file("hub") : std::string(), options.top,
      [&](std::string_view name, double score, double hub) {
        if (options.as_json) {
          json line = {{"node", std::string(name)}, {is_hits ? "authority" : "score", score}};
          if (is_hits) line["hub"] = hub;
          say("%s\n%s", first ? "" : ",",
              printable_json(line.dump(-1, ' ', false, json::error_handler_t::replace)).c_str());
        } else if (is_hits) {
          say("%.*s\t%s\t%s\n", static_cast<int>(name.size()), name.data(), number(score).c_str(), number(hub).c_str());
        } else {
          say("%.*s\t%s\n", static_cast<int>(name.size()), name.data(), number(score).c_str());
        }
        first = false;
        return written();
      });
  if (!given) return tl::make_unexpected(given.error());
  if (options.as_json) say("\n]}\n");
  std::fflush(stdout);
  return written();
}

Result<void> rank(const GraphOptions& options) {
  const Result<std::uint64_t> memory = memory_of(options.memory);
  if (!memory) return tl::make_unexpected(memory.error());
  std::error_code error;
  const std::string directory =
      options.directory.empty() ? std::filesystem::temp_directory_path(error).string() : options.directory;
  const bool is_hits = options.algorithm == "hits";
  const auto read_all = [&](const TakeEdge& take) -> Result<void> {
    for (const std::string& file : options.files)
      if (Result<void> read = is_trace(file) ? read_trace_edges(file, take) : read_edge_file(file, take); !read)
        return read;
    return {};
  };
  const auto graph = LinkGraph::make(directory, *memory, is_hits, read_all);
  if (!graph) return tl::make_unexpected(graph.error());
  const Result<RankSummary> summary = is_hits ? hits(**graph, options.rank) : page_rank(**graph, options.rank);
  if (!summary) return tl::make_unexpected(summary.error());
  return give_out(**graph, options, *summary);
}

}  // namespace

void add_graph_commands(CLI::App& app, int& code) {
  CLI::App* graph = app.add_subcommand("graph", "ranks the pages of a link graph: docs/how-to/orders.md");
  graph->require_subcommand(1);
  const auto options = std::make_shared<GraphOptions>();
  CLI::App* command =
      graph->add_subcommand("rank", "PageRank or HITS of a graph, exactly, on disk where it does not fit in memory");
  command
      ->add_option(
          "files", options->files,
          "edges: one FROM<TAB>TO (or a space) per line, URLs or numbers; or a link trace, its file or directory")
      ->required()
      ->type_name("FILE");
  command->add_option("--algorithm", options->algorithm, "pagerank or hits")
      ->check(CLI::IsMember({"pagerank", "hits"}))
      ->capture_default_str();
  command->add_option("--damping", options->rank.damping, "PageRank: the share that follows links")
      ->check(CLI::Range(0.0, 0.999999))
      ->capture_default_str();
  command->add_option("--tolerance", options->rank.tolerance, "stop when the sum of all changes is below this")
      ->check(CLI::Range(1e-15, 1.0))
      ->capture_default_str();
  command->add_option("--iterations", options->rank.max_iterations, "fail after this many")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  command->add_option("--memory", options->memory, "for sorting and sums; the rest is on disk")
      ->type_name("SIZE")
      ->capture_default_str();
  command->add_option("--directory", options->directory, "directory for its files while it runs [the system's]")
      ->type_name("DIR");
  command->add_option("--top", options->top, "print only this many, the highest")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX))
      ->default_str("all");
  command->add_flag("--json", options->as_json, "as JSON, with the graph's size and the iterations");
  command->callback([options, &code] {
    const Result<void> done = rank(*options);
    if (done) return;
    complain("%s", done.error().message.c_str());
    code = static_cast<int>(done.error().code);
  });
}

}  // namespace orbweaver
