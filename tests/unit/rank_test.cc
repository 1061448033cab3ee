// PageRank and HITS on disk, against a dense solution in memory and against networkx (rank_vectors.py).
#include "node/graph/rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "node/graph/trace_edges.h"
#include "storage/link_trace.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using Edges = std::vector<std::pair<unsigned, unsigned>>;

struct Vector {
  unsigned node;
  double rank, half, authority, hub;
};
constexpr Vector vectors[] = {
#include "tests/unit/rank_vectors.inc"
};

// The same edges as in rank_vectors.py.
Edges drawn_edges() {
  std::uint64_t state = 5;
  Edges edges;
  for (int i = 0; i < 240; ++i) {
    std::uint64_t pair[2];
    for (std::uint64_t& part : pair) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      part = (state >> 33) % 60;
    }
    if (pair[0] % 5 != 0)
      edges.emplace_back(static_cast<unsigned>(pair[0]), static_cast<unsigned>(pair[1] * pair[1] / 60));
  }
  return edges;
}

std::unique_ptr<LinkGraph> graph_of(const test::TempDir& directory, const Edges& edges,
                                    std::uint64_t memory = 4 << 20) {
  auto graph = LinkGraph::make(directory.path(), memory, true, [&](const TakeEdge& take) -> Result<void> {
    for (const auto& [from, to] : edges)
      if (Result<void> taken = take(std::to_string(from), std::to_string(to)); !taken) return taken;
    return {};
  });
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : nullptr;
}

std::map<unsigned, std::pair<double, double>> ranks_of(const LinkGraph& graph, const std::string& file,
                                                       const std::string& second = "") {
  std::map<unsigned, std::pair<double, double>> ranks;
  double last = INFINITY;
  EXPECT_TRUE(each_by_rank(graph, graph.file(file), second.empty() ? second : graph.file(second), UINT64_MAX,
                           [&](std::string_view name, double score, double other) -> Result<void> {
                             EXPECT_LE(score, last) << "the highest first";
                             last = score;
                             ranks[static_cast<unsigned>(std::stoul(std::string(name)))] = {score, other};
                             return {};
                           }));
  return ranks;
}

// The slow obvious twin: the whole matrix, by the definition.
std::map<unsigned, double> dense_page_rank(const Edges& edges, double damping) {
  std::set<unsigned> nodes;
  std::set<std::pair<unsigned, unsigned>> once(edges.begin(), edges.end());
  std::map<unsigned, double> degree;
  for (const auto& [from, to] : once) nodes.insert({from, to}), ++degree[from];
  const double n = static_cast<double>(nodes.size());
  std::map<unsigned, double> rank;
  for (const unsigned node : nodes) rank[node] = 1 / n;
  for (int round = 0; round < 500; ++round) {
    std::map<unsigned, double> next;
    for (const unsigned to : nodes) {
      double sum = 0;
      for (const unsigned from : nodes)
        sum += rank[from] * (degree[from] == 0 ? 1 / n : once.contains({from, to}) ? 1 / degree[from] : 0);
      next[to] = (1 - damping) / n + damping * sum;
    }
    rank = next;
  }
  return rank;
}

TEST(PageRank, NetworkX_GivesTheSame) {
  const test::TempDir directory;
  const auto graph = graph_of(directory, drawn_edges());
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->nodes(), std::size(vectors));
  EXPECT_GT(graph->repeated(), 0u);
  for (const double damping : {0.85, 0.5}) {
    const auto summary = page_rank(*graph, {damping, 1e-14, 10'000});
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_GT(summary->dangling, 5u);
    const auto ranks = ranks_of(*graph, "rank");
    double sum = 0;
    for (const Vector& expected : vectors) {
      const double rank = ranks.at(expected.node).first;
      EXPECT_NEAR(rank, damping == 0.5 ? expected.half : expected.rank, 1e-12) << expected.node;
      sum += rank;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Hits, NetworkX_GivesTheSame) {
  const test::TempDir directory;
  const auto graph = graph_of(directory, drawn_edges());
  ASSERT_NE(graph, nullptr);
  const auto summary = hits(*graph, {0, 1e-14, 10'000});
  ASSERT_TRUE(summary) << summary.error().message;
  const auto ranks = ranks_of(*graph, "authority", "hub");
  for (const Vector& expected : vectors) {
    EXPECT_NEAR(ranks.at(expected.node).first, expected.authority, 1e-11) << expected.node;
    EXPECT_NEAR(ranks.at(expected.node).second, expected.hub, 1e-11) << expected.node;
  }
}

TEST(PageRank, Definition_ADenseSolutionGivesTheSame) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const unsigned nodes = 2 + static_cast<unsigned>(random() % 20);
    Edges edges;
    for (std::size_t i = 0; i < 1 + random() % 60; ++i)
      edges.emplace_back(static_cast<unsigned>(random() % nodes), static_cast<unsigned>(random() % nodes));
    const test::TempDir directory;
    const auto graph = graph_of(directory, edges);
    ASSERT_NE(graph, nullptr);
    ASSERT_TRUE(page_rank(*graph, {0.85, 1e-13, 10'000}));
    const auto ranks = ranks_of(*graph, "rank");
    const auto expected = dense_page_rank(edges, 0.85);
    ASSERT_EQ(ranks.size(), expected.size());
    for (const auto& [node, rank] : expected) ASSERT_NEAR(ranks.at(node).first, rank, 1e-11) << round;
  }
}

// 100,000 nodes in blocks of 65,536, sorted in 256 KiB: many blocks and runs give the same as one of each.
TEST(LinkGraph, OutOfCore_LittleMemoryGivesTheSameRanks) {
  std::mt19937_64 random(4);
  Edges edges;
  for (int i = 0; i < 200'000; ++i)
    edges.emplace_back(static_cast<unsigned>(random() % 150'000),
                       static_cast<unsigned>(random() % 150'000 * (random() % 1000) / 1000));
  std::vector<std::map<unsigned, std::pair<double, double>>> found;
  for (const std::uint64_t memory : {graph_memory_min, std::uint64_t{256} << 20}) {
    const test::TempDir directory;
    const auto graph = graph_of(directory, edges, memory);
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(graph->block_nodes() < graph->nodes(), memory == graph_memory_min);
    ASSERT_TRUE(page_rank(*graph, {0.85, 1e-6, 1000}));
    found.push_back(ranks_of(*graph, "rank"));
  }
  ASSERT_EQ(found[0].size(), found[1].size());
  EXPECT_EQ(found[0], found[1]) << "to the last bit: the sums are in the same order";
}

TEST(LinkGraph, LeavesNothingBehind) {
  const test::TempDir directory;
  { ASSERT_NE(graph_of(directory, drawn_edges()), nullptr); }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(PageRank, BadInput_AToleranceThatIsNotReachedIsAnError) {
  const test::TempDir directory;
  const auto graph = graph_of(directory, drawn_edges());
  const auto summary = page_rank(*graph, {0.85, 1e-14, 3});
  ASSERT_FALSE(summary);
  EXPECT_NE(summary.error().message.find("after 3 iterations"), std::string::npos) << summary.error().message;
}

TEST(ExternalSort, Definition_GivesWhatASortInMemoryGives) {
  std::mt19937_64 random(5);
  for (const bool unique : {false, true}) {
    for (const std::size_t count : {0u, 1u, 50u, 60'000u}) {
      const test::TempDir directory;
      ExternalSort sort(directory.path(), "s", sort_memory_min, unique);
      std::vector<std::string> expected;
      for (std::size_t i = 0; i < count; ++i) {
        std::string record(random() % 40, static_cast<char>(random()));
        for (char& c : record) c = static_cast<char>(random() % 3 + 254);
        ASSERT_TRUE(sort.add(record));
        expected.push_back(std::move(record));
      }
      std::sort(expected.begin(), expected.end());
      if (unique) expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      ASSERT_TRUE(sort.finish());
      if (count > 1000) {
        EXPECT_GT(sort.runs_written(), 64u) << "runs are merged on the way";
      }
      std::string_view record;
      for (const std::string& wanted : expected) {
        const auto more = sort.next(record);
        ASSERT_TRUE(more && *more);
        ASSERT_EQ(record, wanted);
      }
      EXPECT_FALSE(*sort.next(record));
    }
  }
}

class EdgeFile : public testing::Test {
 protected:
  // The error's text; "" when all was read.
  std::string read(const std::string& text) {
    std::ofstream(directory_.file("edges.tsv")) << text;
    edges_.clear();
    const auto done = read_edge_file(directory_.file("edges.tsv"), [this](auto from, auto to) -> Result<void> {
      edges_.emplace_back(from, to);
      return {};
    });
    return done ? "" : done.error().message;
  }
  test::TempDir directory_;
  std::vector<std::pair<std::string, std::string>> edges_;
};

TEST_F(EdgeFile, Format_UrlsOrNumbersByTabOrSpacesWithComments) {
  EXPECT_EQ(read("# of a crawl\n\nhttp://a/\thttps://b/x?y=1\r\nhttp://b/\thttp://a/"), "");
  EXPECT_EQ(edges_, (std::vector<std::pair<std::string, std::string>>{{"http://a/", "https://b/x?y=1"},
                                                                      {"http://b/", "http://a/"}}));
  EXPECT_EQ(read("1\t2\n2  3 \n"), "");
  EXPECT_EQ(edges_.back(), (std::pair<std::string, std::string>{"2", "3"}));
}

TEST_F(EdgeFile, BadInput_NamesFileAndLine) {
  const std::pair<std::string, std::string> bad[] = {
      {"http://a/\thttp://b/\nhttp://a/\n", "line 2: is not FROM<TAB>TO"},
      {"\thttp://b/\n", "line 1: is not FROM<TAB>TO"},
      {"# x\n1\t2\t3\n", "line 2: has more than FROM<TAB>TO"},
      {"1\t2\nhttp://a/\thttp://b/\n", "line 2: has URLs, where the lines before have numbers"},
      {"1\thttp://b/\n", "line 1: has a URL and a number"},
      {"a\tb\n", "line 1: 'a' is neither an http(s) URL nor a number"},
      {"1\t-2\n", "line 1: '-2' is neither"},
      {"1\t2\n" + std::string(max_edge_line + 1, '3') + "\t4\n", "line 2: is longer than"},
      {"", "has no edge in it"},
      {"# only this\n", "has no edge in it"},
  };
  for (const auto& [text, message] : bad) {
    const std::string reported = read(text);
    EXPECT_NE(reported.find(message), std::string::npos) << reported;
    EXPECT_NE(reported.find("edges.tsv"), std::string::npos) << reported;
  }
  EXPECT_FALSE(read_edge_file(directory_.file("none"), [](auto, auto) -> Result<void> { return {}; }));
}

TEST(TraceEdges, Format_EveryLinkOfATraceButRequisites) {
  const test::TempDir directory;
  {
    auto writer = storage::LinkTraceWriter::open({directory.path(), "peer", storage::trace_bytes_least, {}});
    ASSERT_TRUE(writer) << writer.error().message;
    storage::TracePage page;
    page.url = "http://a.test/";
    page.links = {{"http://b.test/", 0},
                  {"http://a.test/x.png", static_cast<std::uint8_t>(storage::LinkFlag::requisite)},
                  {"http://c.test/", static_cast<std::uint8_t>(storage::LinkFlag::redirect)}};
    ASSERT_TRUE(writer->add(page));
    ASSERT_TRUE(writer->close());
  }
  std::vector<std::string> edges;
  const auto take = [&](std::string_view from, std::string_view to) -> Result<void> {
    edges.push_back(std::string(from) + " " + std::string(to));
    return {};
  };
  ASSERT_TRUE(is_trace(directory.path()));
  const auto read = read_trace_edges(directory.path(), take);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(edges, (std::vector<std::string>{"http://a.test/ http://b.test/", "http://a.test/ http://c.test/"}));
  std::ofstream(directory.file("foreign.links")) << "not a trace";
  const auto foreign = read_trace_edges(directory.file("foreign.links"), take);
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find("foreign.links"), std::string::npos) << foreign.error().message;
}

}  // namespace
}  // namespace orbweaver
