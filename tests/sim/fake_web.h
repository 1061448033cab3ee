// A web made from a seed. What a URL is (page, redirect, gone, failing, flaky) and where its links go is a hash of the
// URL. So nothing is stored, and any part can be asked for in any order (after BUbiNG's RandomNamedGraphServer). Pure.
// Thread rule: immutable once made.
//
// Hosts h0.sim.example, h1..., or of several domains, each with pages /p0... and /private/p...; robots.txt of several
// kinds; slow, dead and flaky hosts. The last hosts may be mirrors of the first ones: the pages are the same, but each
// mirror links to itself where its original links to itself. Some pages are served only at another form of their URL
// (?v=1, ?v=2…), some kill the process that reads them, and page 0 of a host may list thousands of links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/fetch/fetcher.h"

namespace orbweaver::sim {

struct WebConfig {
  std::uint64_t seed = 1;
  std::uint32_t hosts = 8;
  std::uint32_t pages_per_host = 20;  // at most; each host has its own number
  std::uint32_t links_per_page = 4;   // at most, apart from those of the tree that makes most pages reachable
  std::uint32_t away = 300;           // per mille of those links that go to another host
  bool chain = false;                 // a page's only link is page 0 of the next host, and the last host has none
  std::uint32_t redirects = 60;       // per mille of pages
  std::uint32_t gone = 40;            // per mille: 404
  std::uint32_t failing = 20;         // per mille: 500 or broken forever
  std::uint32_t flaky = 60;           // per mille: fail at first, then answer
  std::uint32_t flaky_tries =
      2;  // flaky pages and robots.txt files fail at most this often; not above Settings::max_retries
  std::uint32_t slow_hosts = 100;  // per mille
  std::uint32_t dead_hosts = 50;   // per mille
  std::uint32_t drip_hosts = 0;    // the first N hosts; each of their answers takes `drip`
  bool drip_one_domain = true;     // they are of one registered domain; else they share a network
  std::uint32_t domains = 0;       // number of registered domains of the other hosts; 0: one
  std::uint32_t addresses = 0;     // number of addresses that the hosts share; 0: each has its own
  bool robots_redirects = false;   // some robots.txt files are elsewhere on their host:
  std::uint32_t moved_robots = 1;  // of so many in 16 hosts, at most 7
  bool robots_elsewhere = false;   // these are on the next host that answers
  bool sitemaps = false;      // some robots.txt files name a sitemap, on the next host, of pages that nothing links
  std::uint32_t mirrors = 0;  // the last N hosts are mirrors of the first ones; at most half of all hosts
  std::uint32_t copies = 0;   // per mille of pages have the same body as others of their host
  std::uint32_t canonical_redirects = 0;  // per mille of pages are redirected to another form of their own URL
  std::uint32_t killers = 0;              // per mille of pages kill the process that reads them
  std::uint32_t long_pages = 0;           // page 0 of the first N hosts lists far more links than a commit takes
  std::uint32_t validators = 0;           // per mille of pages have one, and never change
  Duration answer_min{std::chrono::milliseconds{2}};
  Duration max_answer{std::chrono::milliseconds{150}};
  Duration max_slow{std::chrono::seconds{4}};
  Duration drip{std::chrono::seconds{30}};
};

// Size of every answer.
inline constexpr std::uint64_t answer_bytes = 1000;

struct Answer {
  FetchError error = FetchError::none;
  int status = 0;
  Duration takes{};
  std::optional<Duration> retry_after;
  std::vector<std::string> links;
  std::optional<std::string> redirect;
  std::string robots_body;
  bool may_pass = false;                          // a crawler may try again
  std::optional<std::string> canonical_redirect;  // the form of the URL that the server wants instead
  std::uint64_t content = 0;                      // fingerprint of the body; 0: not needed
  std::string validator;
};

enum class RobotsFile : std::uint8_t { missing, rules, crawl_delay, disallow_all, unavailable, flaky, moved };

class FakeWeb {
 public:
  explicit FakeWeb(WebConfig config) : config_(config) {}

  const WebConfig& config() const { return config_; }
  std::string host_name(std::uint32_t host) const;
  bool drips(std::string_view host) const;
  // 4 bytes.
  std::string address_of(std::string_view host) const;
  std::string page_url(std::uint32_t host, std::uint32_t page) const;
  // `tries`: the number of earlier requests for this URL.
  Answer answer(const std::string& url, std::uint32_t tries) const;
  RobotsFile robots_of(std::string_view host) const;
  bool dead(std::string_view host) const;
  // The sitemap that the host's robots.txt names, when it can be fetched.
  std::optional<std::string> sitemap_of(std::string_view host) const;
  // The Crawl-delay of the host's robots.txt; zero: it has none.
  Duration crawl_delay(std::string_view host) const;
  // Whether robots.txt forbids the URL to a correct crawler that obeys it.
  bool disallowed(std::string_view url) const;
  // The page, answered with 200, kills the process that reads it.
  bool kills(const std::string& url) const;
  // A sitemap names the URL.
  bool listed(std::string_view url) const;
  // A URL that nothing links to: the `number`th such page of the host.
  std::string unlinked_url(std::uint32_t host, std::uint32_t number) const;
  // For a mirror, the host that it mirrors; for another host, itself.
  std::uint32_t original_of(std::uint32_t host) const;
  // The host is a mirror, or has one.
  bool mirrored(std::string_view host) const;

 private:
  std::uint32_t pages_of(std::uint32_t host) const;
  // The same page on the original host, when the URL's host is a mirror.
  std::string original_url(const std::string& url) const;
  std::uint32_t forms_of(const std::string& url) const;
  std::vector<std::string> links_of(const std::string& url) const;
  void add_many_links(const std::string& url, std::vector<std::string>& links) const;
  std::string host_of_moved_robots(std::string_view host) const;
  void robots_answer(std::string_view host, std::string_view path, std::uint32_t tries, Answer& answer) const;
  void page_answer(const std::string& url, std::uint32_t tries, Answer& answer) const;

  WebConfig config_;
};

// The slow obvious twin of the ring: one walker, no delays, no peers. It gives the outcome of each URL that a correct
// crawler learns.
struct Walk {
  std::set<std::string> fetched;
  std::set<std::string> not_fetched;  // failed for good, or excluded by robots.txt
};
// `hosts_in_scope`: names of hosts; empty: any. `robots`: obey robots.txt.
Walk walk(const FakeWeb& web, const std::vector<std::string>& seeds, const std::set<std::string>& hosts_in_scope,
          bool robots);

// The final answer for a crawler that tries again and asks for the form of the URL that the server wants. When such
// redirects never end, `canonical_redirect` is set.
Answer last_answer(const FakeWeb& web, const std::string& url);

std::string_view host_in(std::string_view url);  // without its port
std::string_view path_in(std::string_view url);
// The URL in its base form by the crawl's rules (strip_parameters = v).
std::string base_of(std::string_view url);
// No crawler connects to this URL's port.
bool has_bad_port(std::string_view url);

}  // namespace orbweaver::sim
