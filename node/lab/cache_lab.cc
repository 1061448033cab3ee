#include "node/lab/cache_lab.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>

#include "node/frontier/link_cache.h"
#include "node/lab/cache_replay.h"
#include "node/lab/eviction.h"
#include "node/lab/progress.h"
#include "node/system/memory_available.h"

namespace orbweaver {

namespace {

constexpr std::uint32_t paper_size = 50'000;  // where the paper's knee is
constexpr double static_part = 0.1;           // of the stream: the part that the second STATIC knows

// The streams of all peers, each through its own cache; the counts are added up.
struct Streams {
  std::string name;
  std::vector<UrlStream> of_peer;
  std::vector<std::vector<std::uint32_t>> next;  // by peer, for MIN
  std::uint64_t links = 0;
  std::size_t max_distinct = 0;  // of any peer
};

enum Policy : std::size_t { infinite, min, lru, clock, random, statically, static_early, policies };
constexpr const char* policy_names[] = {"INFINITE", "MIN", "LRU", "CLOCK", "RANDOM", "STATIC", "STATIC, first tenth"};

using Misses = std::vector<std::vector<std::uint64_t>>;  // by policy, by size

Streams make_streams(const LinkStreams& traces, std::string name, bool foreign_only) {
  Streams streams;
  streams.name = std::move(name);
  for (const PeerStream& peer : traces.peers) {
    UrlStream stream;
    for (std::size_t i = 0; i < peer.targets.size(); ++i)
      if (!foreign_only || (peer.flags[i] & static_cast<std::uint8_t>(storage::LinkFlag::foreign)) != 0)
        stream.push_back(peer.targets[i]);
    if (stream.empty()) continue;
    streams.links += stream.size();
    streams.max_distinct =
        std::max<std::size_t>(streams.max_distinct, misses_of_infinite(stream, traces.digests.size()));
    streams.next.push_back(next_places(stream, traces.digests.size()));
    streams.of_peer.push_back(std::move(stream));
  }
  return streams;
}

// Powers of two until one is large enough for all URLs of a peer.
std::vector<std::uint32_t> usual_sizes(std::size_t distinct) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t exponent = 0; exponent <= max_cache_exponent; ++exponent) {
    sizes.push_back(std::uint32_t{1} << exponent);
    if (sizes.back() >= distinct) break;
  }
  return sizes;
}

std::uint64_t misses_of_lru(const UrlStream& stream, const LinkStreams& traces, std::uint32_t size) {
  LinkCache cache(size);
  return misses_of(cache, stream, traces.digests);
}

std::uint64_t lru_misses(const Streams& streams, const LinkStreams& traces, std::uint32_t size) {
  std::uint64_t misses = 0;
  for (const UrlStream& stream : streams.of_peer) misses += misses_of_lru(stream, traces, size);
  return misses;
}

Misses replay(const Streams& streams, const LinkStreams& traces, const std::vector<std::uint32_t>& sizes,
              std::uint64_t seed) {
  const std::size_t urls = traces.digests.size();
  Misses misses(policies, std::vector<std::uint64_t>(sizes.size()));
  Progress progress(streams.name + " stream, replays", streams.of_peer.size() * sizes.size() * 4);
  std::uint64_t done = 0;
  for (std::size_t p = 0; p < streams.of_peer.size(); ++p) {
    const UrlStream& stream = streams.of_peer[p];
    const std::uint64_t all = misses_of_infinite(stream, urls);
    const auto whole = misses_of_static(stream, urls, stream.size(), sizes);
    const auto early = misses_of_static(
        stream, urls, static_cast<std::size_t>(static_part * static_cast<double>(stream.size())), sizes);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      misses[infinite][s] += all;
      misses[statically][s] += whole[s];
      misses[static_early][s] += early[s];
      misses[min][s] += misses_of_min(stream, streams.next[p], urls, sizes[s]);
      progress.at(++done);
      misses[lru][s] += misses_of_lru(stream, traces, sizes[s]);
      progress.at(++done);
      misses[clock][s] += misses_of(*make_clock_cache(sizes[s]), stream, traces.digests);
      progress.at(++done);
      misses[random][s] += misses_of(*make_random_cache(sizes[s], seed + p), stream, traces.digests);
      progress.at(++done);
    }
  }
  return misses;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string text(double value, int decimals) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
  return buffer;
}

std::string size_name(std::uint32_t size) {
  return std::has_single_bit(size) ? "2^" + std::to_string(std::countr_zero(size)) : std::to_string(size);
}

// The knee of LRU's hit rate; sizes with room for every URL are one point, the last.
std::string knee_note(const Streams& streams, const Misses& misses, const std::vector<std::uint32_t>& sizes) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    points.emplace_back(std::log2(sizes[s]), 100 - percent(misses[lru][s], streams.links));
  const std::size_t knee = knee_of(points);
  return "Knee (the size at which LRU's hit rate, over the logarithm of the size, lies the farthest above the line "
         "from its first to its last point): " +
         std::to_string(sizes[knee]) + " entries, hit rate " + text(points[knee].second, 1) + " %.";
}

Table miss_table(const Streams& streams, const Misses& misses, const std::vector<std::uint32_t>& sizes) {
  Table table;
  table.title = "Miss rate, " + streams.name + " stream (% of links)";
  table.columns = {{"entries", 0}, {"size", 0}};
  for (std::size_t policy = 0; policy < policies; ++policy) table.columns.push_back({policy_names[policy], 2});
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<Cell> row = {std::uint64_t{sizes[s]}, size_name(sizes[s])};
    for (std::size_t policy = 0; policy < policies; ++policy)
      row.emplace_back(percent(misses[policy][s], streams.links));
    table.rows.push_back(std::move(row));
  }
  table.notes.push_back(std::to_string(streams.links) + " links of " + std::to_string(streams.of_peer.size()) +
                        " peers, each with a cache of its own; at most " + std::to_string(streams.max_distinct) +
                        " URLs a peer.");
  table.notes.emplace_back(
      "STATIC is filled before the first link with the most frequent URLs of the whole stream, or of its first tenth, "
      "and never changes: it need not miss a URL once to hold it, so it can be below INFINITE and MIN.");
  if (sizes.back() >= streams.max_distinct && sizes.back() < std::uint32_t{1} << max_cache_exponent)
    table.notes.emplace_back("Larger caches, up to 2^25, hold every URL of a peer too: they miss as INFINITE does.");
  return table;
}

Table ratio_table(const Streams& streams, const Misses& misses, const std::vector<std::uint32_t>& sizes) {
  Table table;
  table.title = "Miss rate relative to MIN, " + streams.name + " stream";
  table.columns = {{"entries", 0}, {"size", 0}};
  for (std::size_t policy = lru; policy < policies; ++policy) table.columns.push_back({policy_names[policy], 3});
  table.columns.push_back({"CLOCK / LRU", 3});
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    std::vector<Cell> row = {std::uint64_t{sizes[s]}, size_name(sizes[s])};
    const auto of_min = static_cast<double>(misses[min][s]);
    for (std::size_t policy = lru; policy < policies; ++policy)
      row.emplace_back(static_cast<double>(misses[policy][s]) / of_min);
    row.emplace_back(static_cast<double>(misses[clock][s]) / static_cast<double>(misses[lru][s]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_plots(const Streams& streams, const Misses& misses, const std::vector<std::uint32_t>& sizes, Report& report) {
  Plot rates{"Miss rate, " + streams.name + " stream", {"entries", true}, {"misses (% of links)"}, {}};
  Plot ratios{"Miss rate relative to MIN, " + streams.name + " stream", {"entries", true}, {"times MIN"}, {}};
  for (std::size_t policy = 0; policy < policies; ++policy) {
    Series rate{policy_names[policy], {}};
    Series ratio{policy_names[policy], {}};
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      rate.points.emplace_back(sizes[s], percent(misses[policy][s], streams.links));
      ratio.points.emplace_back(sizes[s], static_cast<double>(misses[policy][s]) / static_cast<double>(misses[min][s]));
    }
    rates.series.push_back(std::move(rate));
    if (policy >= lru) ratios.series.push_back(std::move(ratio));
  }
  report.plots.push_back(std::move(rates));
  report.plots.push_back(std::move(ratios));
}

// --- one cache per worker

// Which of `count` workers takes a page: by the hash of its host, as Mercator assigned hosts to its threads.
std::uint32_t worker_by_host(const ring::Md5& digest, std::uint32_t count) {
  return (std::uint32_t{digest[12]} << 8 | digest[13]) % count;
}

struct Split {
  std::string name;
  std::size_t count = 1;  // of caches, the maximum of any peer
  std::function<std::uint32_t(const StreamPage&)> worker;
};

std::uint64_t split_misses(const LinkStreams& traces, const Split& split, std::uint32_t size) {
  std::uint64_t misses = 0;
  for (const PeerStream& peer : traces.peers) {
    std::vector<LinkCache> caches(split.count, LinkCache(size / static_cast<std::uint32_t>(split.count)));
    for (std::size_t p = 0; p < peer.pages.size(); ++p) {
      LinkCache& cache = caches[split.worker(peer.pages[p])];
      const std::uint64_t end = p + 1 < peer.pages.size() ? peer.pages[p + 1].links_begin : peer.targets.size();
      for (std::uint64_t i = peer.pages[p].links_begin; i < end; ++i) {
        const ring::Md5& url = traces.digests[peer.targets[i]];
        if (!cache.hit(url, 0)) cache.insert(url, 0);
      }
    }
    for (const LinkCache& cache : caches) misses += cache.misses();
  }
  return misses;
}

constexpr std::uint32_t worker_size_least = 64;  // entries in total

Table worker_table(const LinkStreams& traces, const Streams& full, const std::vector<std::uint32_t>& sizes,
                   const std::vector<std::uint32_t>& counts) {
  std::uint32_t recorded = 0;
  for (const PeerStream& peer : traces.peers)
    for (const StreamPage& page : peer.pages) recorded = std::max<std::uint32_t>(recorded, page.worker);
  ++recorded;
  std::vector<ring::Md5> hosts;
  for (const std::string& host : traces.hosts) hosts.push_back(ring::md5(host));
  std::vector<Split> splits = {{"one cache", 1, [](const StreamPage&) { return 0U; }}};
  if (recorded > 1)
    splits.push_back({std::to_string(recorded) + " (recorded workers)", recorded,
                      [](const StreamPage& page) { return std::uint32_t{page.worker}; }});
  for (const std::uint32_t count : counts)
    splits.push_back({std::to_string(count) + " (by host)", count, [&, count](const StreamPage& page) {
                        return worker_by_host(hosts[traces.host_of[page.url]], count);
                      }});
  Table table;
  table.title = "One cache a peer, or one for each of its fetch workers: LRU, full stream, misses (% of links)";
  table.columns = {{"entries in all", 0}};
  for (const Split& split : splits) table.columns.push_back({split.name, 2});
  std::vector<std::uint32_t> some;
  for (const std::uint32_t size : sizes)
    if (size >= worker_size_least) some.push_back(size);
  Progress progress("caches of workers", some.size() * splits.size());
  std::uint64_t done = 0;
  for (const std::uint32_t size : some) {
    std::vector<Cell> row = {std::uint64_t{size}};
    for (const Split& split : splits) {
      progress.at(done++);
      if (size < split.count) {
        row.emplace_back("less than one each");
      } else {
        row.emplace_back(percent(split_misses(traces, split, size), full.links));
      }
    }
    table.rows.push_back(std::move(row));
  }
  table.notes.emplace_back(
      "The paper's first open question. Caches of the same total size. By host: each worker reads the pages of its "
      "hosts, by a hash, as Mercator's threads did.");
  return table;
}

// --- other crawls

std::string order_of(const LinkStreams& traces) {
  std::set<std::string> orders;
  for (const PeerStream& peer : traces.peers) {
    const auto order = peer.facts.find("order");
    orders.insert(order == peer.facts.end() ? "breadth" : order->second);
  }
  std::string all;
  for (const std::string& order : orders) all += (all.empty() ? "" : ", ") + order;
  return all;
}

Result<void> compare(const CacheLabOptions& options, const LinkStreams& traces, const Streams& full,
                     const std::vector<std::uint32_t>& sizes, Report& report) {
  Table table;
  table.title = "Crawls side by side: LRU and MIN, full stream, misses (% of links)";
  table.columns = {{"entries", 0}};
  Plot plot{"LRU in crawls of other orders", {"entries", true}, {"misses (% of links)"}, {}};
  table.rows.resize(sizes.size());
  for (std::size_t s = 0; s < sizes.size(); ++s) table.rows[s].emplace_back(std::uint64_t{sizes[s]});
  const auto add = [&](const std::string& name, const LinkStreams& crawl, const Streams& streams) {
    table.columns.push_back({name + ", LRU", 2});
    table.columns.push_back({name + ", MIN", 2});
    Series series{name, {}};
    Progress progress(name + ", replays", sizes.size());
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      progress.at(s);
      std::uint64_t of_min = 0;
      for (std::size_t p = 0; p < streams.of_peer.size(); ++p)
        of_min += misses_of_min(streams.of_peer[p], streams.next[p], crawl.digests.size(), sizes[s]);
      const double of_lru = percent(lru_misses(streams, crawl, sizes[s]), streams.links);
      table.rows[s].emplace_back(of_lru);
      table.rows[s].emplace_back(percent(of_min, streams.links));
      series.points.emplace_back(sizes[s], of_lru);
    }
    plot.series.push_back(std::move(series));
    table.notes.push_back(name + ": " + std::to_string(crawl.pages()) + " pages, " + std::to_string(streams.links) +
                          " links, " + std::to_string(crawl.digests.size()) + " URLs, order " + order_of(crawl) + ".");
  };
  add("first", traces, full);
  for (std::size_t i = 0; i < options.compared.size(); ++i) {
    const auto other = read_streams({options.compared[i]}, options.limits);
    if (!other) return tl::make_unexpected(other.error());
    add(options.compared[i], *other, make_streams(*other, "full", false));
  }
  table.notes.emplace_back(
      "The paper's second open question. Each is a crawl that was made in its order: the same pages sorted again would "
      "not be the stream of such a crawl, for what is fetched next depends on what was found.");
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return {};
}

Result<void> check(const CacheLabOptions& options) {
  const std::uint64_t memory = options.limits.memory_bytes > 0 ? options.limits.memory_bytes : machine_memory() / 4 * 3;
  for (const std::uint64_t size : options.sizes) {
    if (size == 0) return fail(ErrorCode::invalid_setting, "--sizes holds 0: a cache of no entries misses every link");
    const std::uint64_t bytes = size * LinkCache::entry_bytes;
    if (size > UINT32_MAX || bytes > memory)
      return fail(ErrorCode::invalid_setting, "a cache of " + std::to_string(size) + " entries takes " +
                                                  bytes_text(bytes) + ", more than the " + bytes_text(memory) +
                                                  " of memory that may be used");
  }
  for (const std::uint32_t count : options.workers)
    if (count == 0) return fail(ErrorCode::invalid_setting, "--workers has 0: a worker must read the pages");
  return {};
}

}  // namespace

Result<Report> run_cache_lab(const CacheLabOptions& options) {
  if (Result<void> right = check(options); !right) return tl::make_unexpected(right.error());
  const auto begun = std::chrono::steady_clock::now();
  const auto traces = read_streams(options.traces, options.limits);
  if (!traces) return tl::make_unexpected(traces.error());
  Report report;
  report.experiment = "cache";
  const Streams full = make_streams(*traces, "full", false);
  std::vector<std::uint32_t> sizes(options.sizes.begin(), options.sizes.end());
  if (sizes.empty()) sizes = usual_sizes(full.max_distinct);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  const auto add = [&](const Streams& streams) {
    const Misses misses = replay(streams, *traces, sizes, options.seed);
    Table table = miss_table(streams, misses, sizes);
    if (sizes.size() >= 3) table.notes.push_back(knee_note(streams, misses, sizes));
    const std::uint64_t at_paper_size = lru_misses(streams, *traces, paper_size);
    table.notes.push_back("LRU with 50,000 entries: hit rate " + text(100 - percent(at_paper_size, streams.links), 1) +
                          " % (the paper: almost 80 %).");
    report.tables.push_back(std::move(table));
    report.tables.push_back(ratio_table(streams, misses, sizes));
    add_plots(streams, misses, sizes, report);
  };
  add(full);
  const Streams cross = make_streams(*traces, "cross-peer", true);
  if (cross.links > 0) {
    add(cross);
  } else {
    report.tables.back().notes.emplace_back("No link led to another peer: there is no cross-peer stream.");
  }
  if (!options.workers.empty() && sizes.back() >= worker_size_least)
    report.tables.push_back(worker_table(*traces, full, sizes, options.workers));
  if (!options.compared.empty())
    if (Result<void> compared = compare(options, *traces, full, sizes, report); !compared)
      return tl::make_unexpected(compared.error());
  report.facts = {{"traces", options.traces},
                  {"files", traces->files},
                  {"peers", traces->peers.size()},
                  {"pages", traces->pages()},
                  {"links", full.links},
                  {"cross_peer_links", cross.links},
                  {"cross_peer_share", percent(cross.links, full.links) / 100},
                  {"urls", traces->digests.size()},
                  {"hosts", traces->hosts.size()},
                  {"order", order_of(*traces)},
                  {"in_scope_only", options.limits.in_scope_only},
                  {"seed", options.seed},
                  {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()}};
  report.tables.front().notes.push_back(
      std::to_string(traces->pages()) + " pages of " + std::to_string(traces->hosts.size()) +
      " hosts (those linked to counted), " + std::to_string(traces->digests.size()) + " URLs; " +
      text(percent(cross.links, full.links), 1) + " % of links lead to another peer.");
  return report;
}

}  // namespace orbweaver
