// A web made from a seed: hosts, pages, links, sizes and mishaps, every answer a pure function of (seed, port, URL,
// times asked).
//
// Shapes: pages a host by Zipf's law; links a page log-normal (median 20, mean about 50), four of five to the same
// host; page sizes log-normal (median 11 KB, mean about 14 KB). Every page is reached from the first page of host 0:
// page i of a host links pages 8i+1 … 8i+8 of it, and the hosts form such a tree of their own. Beside its pages a host
// has extras by its number (mishaps of one kind each; see sample_extras.h); a calm web has none. Every page also holds
// what only looks like a link (comments, scripts, styles, raw text): all of that names /fake/…. Memory: about 40 bytes
// a host, nothing for each page. Thread rule: immutable once made; share freely.
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

inline constexpr unsigned hosts_max = 1'000'000;
inline constexpr unsigned pages_max = 100'000'000;

struct SampleWebShape {
  std::uint64_t seed = 1;
  unsigned hosts = 20;          // 1 to hosts_max
  unsigned pages = 1000;        // in all; at least one a host
  std::uint16_t port = 80;      // written into links from host to host
  bool calm = false;            // pages only: no errors, slow hosts, traps, redirects, robots rules
  bool open_trap = false;       // the endless calendar is linked openly: a crawl without trap rules does not end
  bool forbidden_trap = false;  // robots.txt names /calendar/ too
  unsigned topics = 0;          // what pages are about; 0: nothing in particular
};

// What a host has beside pages. Feature f is on host h when f and h agree modulo min(hosts, 10).
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
  bool compress = false;              // gzip, when the client takes it
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
  std::string page_path(unsigned host, unsigned page) const;  // "/" for page 0; may hold a query
  std::optional<unsigned> page_of(unsigned host, std::string_view path_and_query) const;
  std::string url(unsigned host, std::string_view path_and_query) const;

  // Every link of a page that a crawler follows, extras and doubles too. The links of disallowed extras are among them.
  std::vector<SampleLink> page_links(unsigned host, unsigned page) const;

  // `times_asked`: how often this URL was asked before.
  SampleAnswer answer(unsigned host, std::string_view path_and_query, std::uint64_t times_asked) const;

  // With topics, what a page is about, from 0 on: mostly what the page above it is about (pages of a kind stand
  // together), and mostly it links pages of its own topic. Of its words one in five is of the topic.
  unsigned topic(unsigned host, unsigned page) const;

  std::vector<std::string> seeds() const;
  // What a right crawler fetches from the seeds when every host of the sample is in scope, robots.txt files aside.
  std::set<std::string> expected() const;
  // Those among them that answer only when asked a second time.
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
