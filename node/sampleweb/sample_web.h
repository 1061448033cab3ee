// A web made from a seed: hosts, pages, links, sizes and mishaps.
// Every answer is a pure function of (seed, port, URL, times requested).
//
// Shapes: pages per host by Zipf's law; links per page log-normal (median 20, mean about 50), four of five to the same
// host; page sizes log-normal (median 11 KB, mean about 14 KB). Every page is reached from the first page of host 0:
// page i of a host links its pages 8i+1 … 8i+8, and the hosts form such a tree of their own. In addition to pages a
// host has extras by its number (mishaps of one kind each; see sample_extras.h); a calm web has none. Every page also
// contains text that only looks like a link (comments, scripts, styles, raw text): all of it names /fake/…. Memory:
// about 40 bytes per host, nothing per page. Thread rule: immutable once made; share freely.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orbweaver::sample {

inline constexpr unsigned max_hosts = 1'000'000;
inline constexpr unsigned max_pages = 100'000'000;

struct SampleWebShape {
  std::uint64_t seed = 1;
  unsigned hosts = 20;          // 1 to max_hosts
  unsigned pages = 1000;        // in total; at least one per host
  std::uint16_t port = 80;      // written into links from host to host
  bool calm = false;            // pages only: no errors, slow hosts, traps, redirects, robots rules
  bool open_trap = false;       // the endless calendar is linked openly: a crawl without trap rules does not end
  bool forbidden_trap = false;  // robots.txt names /calendar/ too
  unsigned topics = 0;          // the number of topics of the pages; 0: pages have no topic
};

// What a host has in addition to pages. Feature f is on host h when f and h agree modulo min(hosts, 10).
enum class Feature : std::uint8_t {
  redirects,
  errors,
  healing,
  slow,
  files,
  spellings,
  forbidden,
  trap,
  crawl_delay,
  legacy
};

enum class LinkKind : std::uint8_t { anchor, area, iframe, rel_next };

struct SampleLink {
  std::string url;       // canonical and absolute
  std::string spelling;  // as the page writes it, before HTML escaping, in the page's encoding
  LinkKind kind = LinkKind::anchor;
  unsigned topic = 0;  // of the page that it leads to
};

struct SampleAnswer {
  int status = 200;
  std::string content_type;  // empty: no such header
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds wait{0};  // before the answer
  bool compress = false;              // gzip, when the client accepts it
};

class SampleWeb {
 public:
  explicit SampleWeb(const SampleWebShape& shape);

  const SampleWebShape& shape() const { return shape_; }
  unsigned hosts() const { return shape_.hosts; }
  std::string host_name(unsigned host) const;                    // "host-007.sample.test"
  std::optional<unsigned> host_of(std::string_view name) const;  // any case; no port
  bool has(unsigned host, Feature feature) const;
  unsigned host_with(Feature feature) const;  // the first such host

  unsigned pages(unsigned host) const { return page_counts_[host]; }
  std::string page_path(unsigned host, unsigned page) const;  // "/" for page 0; may have a query
  std::optional<unsigned> page_of(unsigned host, std::string_view path_and_query) const;
  std::string url(unsigned host, std::string_view path_and_query) const;

  // Every link of a page that a crawler follows, including extras, duplicates and the links of disallowed extras.
  std::vector<SampleLink> page_links(unsigned host, unsigned page) const;

  // `times_asked`: how often this URL was requested before.
  SampleAnswer answer(unsigned host, std::string_view path_and_query, std::uint64_t times_asked) const;

  // With topics: a page's topic, counted from 0. It is mostly the topic of the page above it (related pages are
  // together), and the page mostly links pages of its own topic. One in five of its words is of the topic.
  unsigned topic(unsigned host, unsigned page) const;

  std::vector<std::string> seeds() const;
  // What a correct crawler fetches from the seeds when every host of the sample is in scope, without robots.txt files.
  std::set<std::string> expected() const;
  // The URLs among them that answer only the second request.
  std::set<std::string> expected_twice() const;

 private:
  SampleAnswer page_answer(unsigned host, unsigned page) const;
  void add_drawn_links(std::vector<SampleLink>& links, unsigned host, unsigned page) const;
  std::string spell(unsigned from_host, std::string_view base_path, unsigned to_host, const std::string& path,
                    std::uint64_t draw) const;

  SampleWebShape shape_;
  std::vector<unsigned> page_counts_;      // for each host
  std::vector<std::uint64_t> popularity_;  // running sum of page_counts_: a host is linked in proportion to its size
};

}  // namespace orbweaver::sample
