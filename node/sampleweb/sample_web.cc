#include "node/sampleweb/sample_web.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "node/sampleweb/sample_extras.h"
#include "node/sampleweb/sample_page.h"
#include "node/sampleweb/sample_random.h"
#include "node/sampleweb/sample_text.h"

namespace orbweaver::sample {

namespace {

constexpr unsigned features = 10;
constexpr unsigned tree_arity = 8;  // pages under a page, at most
constexpr unsigned host_arity = 4;  // hosts under a host
constexpr double links_median = 20;
constexpr double links_sigma = 1.35;  // mean = median * exp(sigma^2 / 2) = 50
constexpr double max_links = 2000;
constexpr double topic_kept = 0.85;   // from a page to one below it
constexpr double topic_linked = 0.7;  // of a page's drawn links
constexpr int topic_tries = 12;
constexpr unsigned max_patient_pages = 8;  // on a host with Crawl-delay: 1, so that a crawl of it takes seconds

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return lower(x) == lower(y);
  });
}

std::string digits(unsigned number) {
  std::string text = std::to_string(number);
  return text.size() < 3 ? std::string(3 - text.size(), '0') + text : text;
}

}  // namespace

SampleWeb::SampleWeb(const SampleWebShape& shape) : shape_(shape) {
  shape_.hosts = std::clamp(shape_.hosts, 1U, max_hosts);
  shape_.pages = std::clamp(shape_.pages, shape_.hosts, max_pages);
  const unsigned hosts = shape_.hosts;

  // The size of each host: drawn, but the slow and the patient ones come last.
  std::vector<unsigned> by_rank(hosts);
  std::iota(by_rank.begin(), by_rank.end(), 0U);
  std::sort(by_rank.begin(), by_rank.end(), [this](unsigned a, unsigned b) {
    const auto key = [this](unsigned host) {
      const bool last = has(host, Feature::slow) || has(host, Feature::crawl_delay);
      return std::pair(last, mix(shape_.seed, host));
    };
    return key(a) < key(b);
  });
  double weights = 0;
  for (unsigned rank = 0; rank < hosts; ++rank) weights += 1.0 / (rank + 1);
  page_counts_.assign(hosts, 1);
  unsigned left = shape_.pages - hosts;
  for (unsigned rank = hosts; rank-- > 0;) {
    const unsigned host = by_rank[rank];
    const double share = std::floor((shape_.pages - hosts) / weights / (rank + 1));
    unsigned more = rank == 0 ? left : std::min(left, static_cast<unsigned>(share));
    if (rank != 0 && has(host, Feature::crawl_delay)) more = std::min(more, max_patient_pages - 1);
    page_counts_[host] += more;
    left -= more;
  }
  popularity_.resize(hosts);
  std::partial_sum(page_counts_.begin(), page_counts_.end(), popularity_.begin(), std::plus<std::uint64_t>());
}

std::string SampleWeb::host_name(unsigned host) const { return "host-" + digits(host) + ".sample.test"; }

std::optional<unsigned> SampleWeb::host_of(std::string_view name) const {
  constexpr std::size_t prefix = 5;  // "host-"
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.size() < prefix) return std::nullopt;
  unsigned host = 0;
  const auto [end, error] = std::from_chars(name.data() + prefix, name.data() + name.size(), host);
  if (error != std::errc{} || host >= shape_.hosts || !same_ignoring_case(name, host_name(host))) return std::nullopt;
  return host;
}

bool SampleWeb::has(unsigned host, Feature feature) const {
  if (shape_.calm) return false;
  // On a small web everything is on few hosts: a wait there would delay most of its pages.
  if (shape_.hosts < features && (feature == Feature::slow || feature == Feature::crawl_delay)) return false;
  const unsigned modulus = std::min(shape_.hosts, features);
  return static_cast<unsigned>(feature) % modulus == host % modulus;
}

unsigned SampleWeb::host_with(Feature feature) const {
  return static_cast<unsigned>(feature) % std::min(shape_.hosts, features);
}

std::string SampleWeb::page_path(unsigned host, unsigned page) const {
  if (page == 0) return "/";
  Random random(mix(mix(shape_.seed, 0x70617468), mix(host, page)));
  const std::string number = std::to_string(page);
  std::string path = "/";
  switch (random.below(4)) {
    case 0:
      path.append("docs/").append(word(random.next())).append("/").append(word(random.next()));
      return path.append("-").append(number).append(".html");
    case 1:
      return path.append(word(random.next())).append("/").append(number).append("/");
    case 2:
      return path.append("view?id=").append(number).append(random.chance(0.5) ? "&lang=en" : "&lang=de");
    default:
      path.append("articles/").append(word(random.next())).append("/").append(word(random.next()));
      return path.append("-").append(word(random.next())).append(".").append(number);
  }
}

std::optional<unsigned> SampleWeb::page_of(unsigned host, std::string_view path_and_query) const {
  if (path_and_query == "/") return 0U;
  const std::size_t first = path_and_query.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  unsigned page = 0;
  const char* end = path_and_query.data() + path_and_query.size();
  if (std::from_chars(path_and_query.data() + first, end, page).ec != std::errc{}) return std::nullopt;
  if (page == 0 || page >= pages(host) || page_path(host, page) != path_and_query) return std::nullopt;
  return page;
}

std::string SampleWeb::url(unsigned host, std::string_view path_and_query) const {
  std::string out = "http://" + host_name(host);
  if (shape_.port != 80) out.append(":").append(std::to_string(shape_.port));
  return out.append(path_and_query);
}

std::string SampleWeb::spell(unsigned from_host, std::string_view base_path, unsigned to_host, const std::string& path,
                             std::uint64_t draw) const {
  std::string out;
  if (from_host != to_host) {
    out = url(to_host, path);
    if (draw % 8 == 0) out.erase(0, 5);  // "//host/path"
  } else if (draw % 16 == 0) {
    out = url(to_host, path);
  } else if (draw % 4 == 1) {
    const std::string_view directory = base_path.substr(0, base_path.find('?'));
    const auto depth = std::count(directory.begin(), directory.end(), '/') - 1;
    for (auto i = depth; i > 0; --i) out.append("../");
    if (out.empty()) out = "./";
    out.append(path, 1);
  } else {
    out = path;
  }
  if (draw % 5 == 2) out.append("#part-").append(std::to_string(draw % 7));
  return out;
}

void SampleWeb::add_drawn_links(std::vector<SampleLink>& links, unsigned host, unsigned page) const {
  Random random(mix(mix(shape_.seed, 0x6c696e6b), mix(host, page)));
  const auto count = static_cast<std::size_t>(std::min(max_links, random.log_normal(links_median, links_sigma)));
  const std::string base = page_base(*this, host, page);
  while (links.size() < count) {
    unsigned to_host = host;
    if (shape_.hosts > 1 && random.chance(0.2)) {
      const std::uint64_t draw = random.below(popularity_.back());
      to_host =
          static_cast<unsigned>(std::upper_bound(popularity_.begin(), popularity_.end(), draw) - popularity_.begin());
    }
    // The square makes a host's early pages the popular ones.
    const double skewed = random.unit() * random.unit();
    auto to_page = static_cast<unsigned>(skewed * pages(to_host));
    if (shape_.topics > 0 && random.chance(topic_linked)) {
      for (int tries = 0; tries < topic_tries && topic(to_host, to_page) != topic(host, page); ++tries)
        to_page = static_cast<unsigned>(random.unit() * random.unit() * pages(to_host));
    }
    const std::string path = page_path(to_host, to_page);
    links.push_back({url(to_host, path), spell(host, base, to_host, path, random.next()), LinkKind::anchor,
                     topic(to_host, to_page)});
  }
}

unsigned SampleWeb::topic(unsigned host, unsigned page) const {
  if (shape_.topics == 0) return 0;
  for (;; page = (page - 1) / tree_arity) {
    Random random(mix(mix(shape_.seed, 0x746f7069), mix(host, page)));
    if (page == 0 || !random.chance(topic_kept)) return static_cast<unsigned>(random.below(shape_.topics));
  }
}

std::vector<SampleLink> SampleWeb::page_links(unsigned host, unsigned page) const {
  std::vector<SampleLink> links;
  const std::string base = page_base(*this, host, page);
  const auto add = [&](unsigned to_host, unsigned to_page, LinkKind kind) {
    const std::string path = page_path(to_host, to_page);
    const std::uint64_t draw = mix(mix(shape_.seed, mix(host, page)), mix(to_host, to_page));
    links.push_back({url(to_host, path), spell(host, base, to_host, path, draw), kind, topic(to_host, to_page)});
  };
  for (std::uint64_t child = std::uint64_t{page} * tree_arity + 1;
       child <= std::uint64_t{page} * tree_arity + tree_arity; ++child) {
    if (child >= pages(host)) break;
    const auto to_page = static_cast<unsigned>(child);
    // One page in fifty is linked by another element than <a>.
    const auto kind = to_page % 50 == 7    ? LinkKind::area
                      : to_page % 50 == 13 ? LinkKind::iframe
                      : to_page % 50 == 21 ? LinkKind::rel_next
                                           : LinkKind::anchor;
    add(host, to_page, kind);
  }
  for (std::uint64_t child = std::uint64_t{host} * host_arity + 1;
       child <= std::uint64_t{host} * host_arity + host_arity; ++child) {
    if (child >= shape_.hosts) break;
    if (mix(shape_.seed, child) % pages(host) == page) add(static_cast<unsigned>(child), 0, LinkKind::anchor);
  }
  for (Extra& extra : extras_of(*this, host)) {
    if (extra.spelling.empty() || mix(shape_.seed, extra.url) % pages(host) != page) continue;
    links.push_back({std::move(extra.url), std::move(extra.spelling), LinkKind::anchor, 0});
  }
  add_drawn_links(links, host, page);
  return links;
}

SampleAnswer SampleWeb::answer(unsigned host, std::string_view path_and_query, std::uint64_t times_asked) const {
  SampleAnswer out;
  if (auto extra = extra_answer(*this, host, path_and_query, times_asked)) {
    out = std::move(*extra);
  } else if (const auto page = page_of(host, path_and_query)) {
    out = page_answer(host, *page);
  } else {
    out.status = 404;
    out.content_type = "text/html; charset=utf-8";
    out.body = "<!DOCTYPE html><title>Not here</title><p>No such page. <a href=\"/\">Home</a>";
  }
  if (has(host, Feature::slow)) {
    out.wait = std::chrono::milliseconds(150 + mix(shape_.seed, path_and_query) % 150);
  }
  return out;
}

SampleAnswer SampleWeb::page_answer(unsigned host, unsigned page) const {
  const PageLook look = page_look(*this, host, page);
  SampleAnswer out;
  out.content_type = "text/html";
  if (look.charset_in_header) out.content_type.append("; charset=").append(encoding_label(look.encoding));
  out.body = page_html(*this, host, page);
  out.compress = host % 2 == 0;
  return out;
}

std::vector<std::string> SampleWeb::seeds() const { return {url(0, "/")}; }

std::set<std::string> SampleWeb::expected() const {
  std::set<std::string> urls;
  for (unsigned host = 0; host < shape_.hosts; ++host) {
    for (unsigned page = 0; page < pages(host); ++page) urls.insert(url(host, page_path(host, page)));
    for (Extra& extra : extras_of(*this, host)) {
      if (extra.fetched) urls.insert(std::move(extra.url));
    }
  }
  return urls;
}

std::set<std::string> SampleWeb::expected_twice() const {
  std::set<std::string> urls;
  for (unsigned host = 0; host < shape_.hosts; ++host) {
    for (Extra& extra : extras_of(*this, host)) {
      if (extra.fetched && extra.twice) urls.insert(std::move(extra.url));
    }
  }
  return urls;
}

}  // namespace orbweaver::sample
