#include "node/lab/partition_lab.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "node/lab/assigners.h"
#include "node/lab/progress.h"
#include "node/url/registrable_domain.h"

namespace orbweaver {

namespace {

enum class Scheme : std::uint8_t { host, domain, url };
constexpr std::pair<Scheme, const char*> schemes[] = {
    {Scheme::host, "host"}, {Scheme::domain, "domain"}, {Scheme::url, "url"}};

// The assigned keys: by URL number, the 64 bits that decide.
std::vector<std::uint64_t> keys_of(const LinkStreams& traces, Scheme scheme) {
  std::vector<std::uint64_t> keys;
  keys.reserve(traces.digests.size());
  if (scheme == Scheme::url) {
    for (const ring::Md5& digest : traces.digests) keys.push_back(ring::leading_bits(digest));
    return keys;
  }
  std::vector<std::uint64_t> of_host;
  for (const std::string& host : traces.hosts)
    of_host.push_back(ring::leading_bits(ring::md5(scheme == Scheme::host ? host : registrable_domain(host))));
  for (const std::uint32_t host : traces.host_of) keys.push_back(of_host[host]);
  return keys;
}

double over_mean(const std::vector<std::uint64_t>& shares) {
  const auto sum = static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}));
  const auto most = static_cast<double>(*std::max_element(shares.begin(), shares.end()));
  return sum == 0 ? 0 : most * static_cast<double>(shares.size()) / sum;
}

double part(std::uint64_t of, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(of) / static_cast<double>(all);
}

struct Costs {
  double cross = 0;                        // share of links that lead to another peer
  double hosts = 0, pages = 0, links = 0;  // the largest share over the mean
  std::uint64_t robots_again = 0;          // robots.txt fetches beyond one for each host
  std::uint64_t hosts_shared = 0;          // hosts with pages on more than one peer
  double handed = 0;                       // share of a host's pages requested by another peer than the page before
  std::uint64_t hosts_with_pages = 0;
};

Costs costs_of(const LinkStreams& traces, const std::vector<std::uint64_t>& keys, std::uint32_t peers) {
  std::vector<std::uint64_t> names(peers);
  std::iota(names.begin(), names.end(), 1);
  const auto ring = make_assigner({AssignerKind::Method::ring, 0}, names);
  std::vector<std::uint32_t> owner(keys.size());
  for (std::size_t url = 0; url < keys.size(); ++url) owner[url] = ring->owner(keys[url]);
  std::vector<std::uint64_t> hosts(peers), pages(peers), links(peers);
  std::vector<std::set<std::uint32_t>> askers(traces.hosts.size());
  std::vector<std::pair<Time, std::uint32_t>> reads;  // URLs of pages, in the order of time over all peers
  Costs costs;
  std::uint64_t all = 0;
  std::uint64_t cross = 0;
  for (const PeerStream& peer : traces.peers) {
    for (std::size_t p = 0; p < peer.pages.size(); ++p) {
      const StreamPage& page = peer.pages[p];
      const std::uint32_t at = owner[page.url];
      ++pages[at];
      askers[traces.host_of[page.url]].insert(at);
      reads.emplace_back(page.at, page.url);
      const std::uint64_t end = p + 1 < peer.pages.size() ? peer.pages[p + 1].links_begin : peer.targets.size();
      for (std::uint64_t i = page.links_begin; i < end; ++i) {
        const std::uint32_t to = owner[peer.targets[i]];
        ++links[to];
        cross += to == at ? 0 : 1;
      }
      all += end - page.links_begin;
    }
  }
  for (const auto& host : askers) {
    for (const std::uint32_t peer : host) ++hosts[peer];
    if (host.empty()) continue;
    ++costs.hosts_with_pages;
    costs.robots_again += host.size() - 1;
    costs.hosts_shared += host.size() > 1 ? 1 : 0;
  }
  std::stable_sort(reads.begin(), reads.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::uint32_t nobody = 0xffffffff;
  std::vector<std::uint32_t> last(traces.hosts.size(), nobody);
  std::uint64_t handed = 0;
  for (const auto& [at, url] : reads) {
    std::uint32_t& before = last[traces.host_of[url]];
    handed += before != nobody && before != owner[url] ? 1 : 0;
    before = owner[url];
  }
  costs.cross = part(cross, all);
  costs.hosts = over_mean(hosts);
  costs.pages = over_mean(pages);
  costs.links = over_mean(links);
  costs.handed = part(handed, reads.size());
  return costs;
}

void add_schemes(const LinkStreams& traces, const PartitionLabOptions& options, Report& report) {
  Table table;
  table.title = "Partitioning by host, domain and URL, on Orbweaver's ring";
  table.columns = {{"partition_by", 0},
                   {"peers", 0},
                   {"cross-peer links (%)", 1},
                   {"hosts, largest / mean", 2},
                   {"pages, largest / mean", 2},
                   {"links, largest / mean", 2},
                   {"robots.txt fetched again", 0},
                   {"hosts on several peers (%)", 1},
                   {"turns between peers (% of pages)", 1}};
  Plot cross{"Links that lead to another peer", {"peers", true}, {"% of links"}, {}};
  Plot balance{"Pages, the largest share over the mean", {"peers", true}, {"times the mean"}, {}};
  Progress progress("schemes", std::size(schemes) * options.peers.size());
  std::uint64_t done = 0;
  for (const auto& [scheme, name] : schemes) {
    const std::vector<std::uint64_t> keys = keys_of(traces, scheme);
    Series links{name, {}};
    Series pages{name, {}};
    for (const std::uint32_t peers : options.peers) {
      const Costs costs = costs_of(traces, keys, peers);
      table.rows.push_back({std::string(name), std::uint64_t{peers}, 100 * costs.cross, costs.hosts, costs.pages,
                            costs.links, costs.robots_again, 100 * part(costs.hosts_shared, costs.hosts_with_pages),
                            100 * costs.handed});
      links.points.emplace_back(peers, 100 * costs.cross);
      pages.points.emplace_back(peers, costs.pages);
      progress.at(++done);
    }
    cross.series.push_back(std::move(links));
    balance.series.push_back(std::move(pages));
  }
  table.notes = {"Mercator, by host on four machines: 18.5 % of links were for another machine.",
                 "Links, largest / mean: of those that a peer is sent or keeps. robots.txt fetched again: beyond one "
                 "for each host, "
                 "when every peer that asks a host reads it once.",
                 "Politeness conflicts: a host on several peers is one that they could ask at the same time or too "
                 "soon after each "
                 "other; turns between peers is how often a page's host was last asked by another peer, in the "
                 "recorded order: each "
                 "needs word between them, or breaks the delay."};
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(cross));
  report.plots.push_back(std::move(balance));
}

// --- assigners

std::vector<std::uint64_t> host_keys(const LinkStreams& traces) {
  std::vector<std::uint64_t> keys;
  for (const std::string& host : traces.hosts) keys.push_back(ring::leading_bits(ring::md5(host)));
  return keys;
}

// The share of hosts with another peer, by the peers' names: `before` and `after` are the lists of names.
double moved(const std::vector<std::uint64_t>& keys, const AssignerKind& kind, const std::vector<std::uint64_t>& before,
             const std::vector<std::uint64_t>& after) {
  const auto first = make_assigner(kind, before);
  const auto second = make_assigner(kind, after);
  std::uint64_t others = 0;
  for (const std::uint64_t key : keys) others += before[first->owner(key)] == after[second->owner(key)] ? 0 : 1;
  return part(others, keys.size());
}

void add_assigners(const LinkStreams& traces, const PartitionLabOptions& options, Report& report) {
  // A trace may have too few hosts to measure shares: this many made-up ones are measured too.
  constexpr std::size_t made_up = 100'000;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < made_up; ++i)
    keys.push_back(ring::leading_bits(ring::md5("h" + std::to_string(i) + ".example")));
  std::vector<std::uint64_t> own = host_keys(traces);
  Table table;
  table.title = "Ways to give hosts to peers";
  table.columns = {{"method", 0},
                   {"peers", 0},
                   {"the trace's hosts, largest / mean", 2},
                   {"100,000 hosts, largest / mean", 2},
                   {"moved when one joins (%)", 1},
                   {"at least (%)", 1},
                   {"moved when one leaves (%)", 1},
                   {"at least (%)", 1}};
  Plot joins{"Hosts that move when a peer joins", {"peers before", true}, {"% of hosts", true}, {}};
  Plot balance{"Hosts, the largest share over the mean", {"peers", true}, {"times the mean"}, {}};
  Progress progress("methods", assigner_kinds().size() * options.peers.size() * options.repeats);
  std::uint64_t done = 0;
  for (const AssignerKind& kind : assigner_kinds()) {
    Series join{kind.name(), {}};
    Series even{kind.name(), {}};
    for (const std::uint32_t peers : options.peers) {
      double on_trace = 0, on_many = 0, joined = 0, left = 0;
      for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
        progress.at(++done);
        std::vector<std::uint64_t> names(peers);
        std::iota(names.begin(), names.end(), std::uint64_t{repeat} << 32);
        const auto assigner = make_assigner(kind, names);
        for (const auto& [all, sum] : {std::pair(&own, &on_trace), std::pair(&keys, &on_many)}) {
          std::vector<std::uint64_t> shares(peers);
          for (const std::uint64_t key : *all) ++shares[assigner->owner(key)];
          *sum += over_mean(shares) / options.repeats;
        }
        std::vector<std::uint64_t> more = names;
        more.push_back(names.back() + 1);
        std::vector<std::uint64_t> fewer = names;
        fewer.erase(fewer.begin() + peers / 2);
        joined += moved(keys, kind, names, more) / options.repeats;
        left += moved(keys, kind, names, fewer) / options.repeats;
      }
      table.rows.push_back({kind.name(), std::uint64_t{peers}, on_trace, on_many, 100 * joined, 100.0 / (peers + 1),
                            100 * left, 100.0 / peers});
      join.points.emplace_back(peers, 100 * joined);
      even.points.emplace_back(peers, on_many);
    }
    joins.series.push_back(std::move(join));
    balance.series.push_back(std::move(even));
  }
  table.notes = {"Means over " + std::to_string(options.repeats) +
                     " sets of peers; moved: of the 100,000 hosts. The one that leaves is the middle one of the list; "
                     "under modulo and jump, which know peers by their place, those behind it move up.",
                 "At least: what the joining peer must get, or the leaving one had, when shares are even."};
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(joins));
  report.plots.push_back(std::move(balance));
}

}  // namespace

Result<Report> run_partition_lab(const PartitionLabOptions& options) {
  if (options.peers.empty()) return fail(ErrorCode::invalid_setting, "--peers names no number of peers");
  for (const std::uint32_t peers : options.peers)
    if (peers < 2 || peers > max_lab_peers)
      return fail(ErrorCode::invalid_setting, "--peers holds " + std::to_string(peers) + "; 2 to " +
                                                  std::to_string(max_lab_peers) + " are allowed");
  if (options.repeats == 0) return fail(ErrorCode::invalid_setting, "--repeats is 0; at least one is measured");
  const auto traces = read_streams(options.traces, options.limits);
  if (!traces) return tl::make_unexpected(traces.error());
  Report report;
  report.experiment = "partition";
  add_schemes(*traces, options, report);
  add_assigners(*traces, options, report);
  std::set<std::string> domains;
  for (const std::string& host : traces->hosts) domains.insert(registrable_domain(host));
  report.facts = {{"traces", options.traces},       {"files", traces->files},
                  {"pages", traces->pages()},       {"links", traces->links()},
                  {"urls", traces->digests.size()}, {"hosts", traces->hosts.size()},
                  {"domains", domains.size()},      {"recorded_peers", traces->peers.size()}};
  report.tables.front().notes.push_back(std::to_string(traces->pages()) + " pages, " + std::to_string(traces->links()) +
                                        " links, " + std::to_string(traces->hosts.size()) +
                                        " hosts (those linked to counted) of " + std::to_string(domains.size()) +
                                        " domains.");
  return report;
}

}  // namespace orbweaver
