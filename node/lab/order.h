// `orbweaver lab order`: which order of crawling finds pages of a topic, and important pages, first
// (docs/inside/lab-order.md). A sample web with topics is served in this process and crawled by real peers, child
// processes of the program `orbweaver`, once for each order. It judges the requests to the server in the order of their
// arrival. Memory: about 300 bytes per page. Thread rule: main thread; the server runs its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/lab/report.h"

namespace orbweaver {

struct OrderOptions {
  std::uint64_t seed = 1;
  unsigned hosts = 40;
  unsigned pages = 4000;
  unsigned topics = 10;
  unsigned topic_words = 4;  // of the twelve words of a topic
  unsigned fetches = 4;      // in flight together: fewer than hosts, so that the order between hosts matters
  unsigned peers = 1;
  std::vector<std::string> orders = {"breadth", "depth", "topic", "opic", "inlinks"};
  std::string directory;  // for the crawls; empty: the system's directory for temporary files
};

Result<Report> lab_order(const OrderOptions& options);

// --- for tests ---

// For one crawl, by pages fetched: [i] is after i + 1 pages.
struct Harvest {
  std::vector<double> on_topic;  // share of the pages fetched
  std::vector<double> recall;    // share of all pages on topic
  std::vector<double> mass;      // share of the PageRank of all pages
};
struct JudgedPage {
  bool on_topic = false;
  double rank = 0;
};
// `fetched`: indexes into `pages`, in order; a repeated one counts once.
Harvest harvest_of(const std::vector<JudgedPage>& pages, const std::vector<std::size_t>& fetched);

}  // namespace orbweaver
