#include "node/lab/scaling.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "node/lab/child.h"
#include "node/lab/progress.h"
#include "node/sampleweb/sample_server.h"

namespace orbweaver {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Instant = std::chrono::steady_clock::time_point;

constexpr milliseconds look_every{100};
constexpr seconds max_warm_up{60};
constexpr seconds max_stop_wait{60};
// Hosts for each transfer that may be in flight:
// a host gets one request at a time, and the ring gives no peer exactly its share of the hosts.
constexpr std::uint32_t hosts_a_fetch = 4;
constexpr std::uint32_t hosts_a_fetch_of_many = 2;
constexpr std::uint32_t many_fetches = 200;
// Connections in addition to one per host: a crawl opens them before it closes others.
constexpr std::size_t connections_spare = 64;
// Pages of a host on average: more than a crawl can request from it.
constexpr std::uint32_t pages_spare = 40;
constexpr std::uint32_t paper_threads = 20;
// Of a thousand pages, this many fail at first: the paper's share (102 of 6,501).
constexpr unsigned failing = 16;

struct Setup {
  std::string name;
  std::uint32_t fetches = paper_threads;
  std::uint32_t peers = 1;
  std::uint32_t hosts = 10;
  bool calm = false;  // else some hosts are slow, some fail, some require a second between requests
  seconds period{20};
};

double since(Instant begun) { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); }

struct Seen {
  std::uint64_t pages = 0;
  std::uint64_t most_at_once = 0;
  std::size_t hosts_known = 0;  // hosts whose robots.txt was requested
  std::map<std::string, std::uint64_t> by_host;
};

Seen look(const sample::SampleServer& server) {
  Seen seen;
  const json stats = json::parse(server.stats_json());
  for (const auto& [host, counts] : stats["hosts"].items()) {
    const std::uint64_t robots = counts.value("robots_requests", std::uint64_t{0});
    const std::uint64_t pages = counts.value("requests", std::uint64_t{0}) - robots;
    seen.pages += pages;
    seen.by_host[host] = pages;
    seen.hosts_known += robots > 0 ? 1 : 0;
    seen.most_at_once = std::max(seen.most_at_once, counts.value("most_at_once", std::uint64_t{0}));
  }
  return seen;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Scaling {
 public:
  explicit Scaling(const ScalingOptions& options) : options_(options) {}
  Result<Report> run();

 private:
  Result<ScalingRun> crawl(const Setup& setup);
  Result<std::vector<std::string>> arguments(const Setup& setup, const sample::SampleServer& server,
                                             const std::string& directory) const;
  Result<void> fetches_table(Report& report);
  Result<void> peers_table(Report& report);
  Result<void> hosts_table(Report& report);
  Result<void> time_table(Report& report);
  Result<ScalingRun> of_web(std::uint32_t fetches, std::uint32_t peers, seconds period);

  const ScalingOptions& options_;
  Progress progress_{"scaling"};
  std::optional<ScalingRun> twenty_;  // 20 fetches, one peer
  std::optional<ScalingRun> two_;     // two peers
  json facts_ = json::array();
};

Result<std::vector<std::string>> Scaling::arguments(const Setup& setup, const sample::SampleServer& server,
                                                    const std::string& directory) const {
  const std::string port = std::to_string(server.port());
  const sample::SampleWeb web({.seed = options_.seed, .hosts = setup.hosts, .port = server.port()});
  const std::string seeds = directory + "/hosts.txt";
  std::ofstream file(seeds);
  for (unsigned host = 0; host < setup.hosts; ++host) file << web.url(host, "/") << "\n";
  file.close();
  if (!file) return fail(ErrorCode::io, "cannot write " + seeds);
  return std::vector<std::string>{"crawl",
                                  "--seeds",
                                  seeds,
                                  "--out",
                                  directory + "/crawl",
                                  "--peers",
                                  std::to_string(setup.peers),
                                  "--max-fetches",
                                  std::to_string(setup.fetches),
                                  "--scope",
                                  "domain",
                                  "--delay",
                                  "0s",
                                  "--address-delay",
                                  "0s",
                                  "--archive",
                                  "off",
                                  "--resolve",
                                  "*:" + port + ":127.0.0.1",
                                  "--allow-private",
                                  "127.0.0.1/32",
                                  "--json",
                                  "--quiet"};
}

Result<ScalingRun> Scaling::crawl(const Setup& setup) {
  progress_.next(setup.name);
  Result<WorkDirectory> directory = WorkDirectory::make(options_.directory);
  if (!directory) return tl::make_unexpected(directory.error());
  sample::SampleServerOptions served;
  served.shape.seed = options_.seed;
  served.shape.hosts = setup.hosts;
  const double paced = 1000.0 / static_cast<double>(std::max<milliseconds::rep>(options_.latency.count(), 1));
  const double wanted = static_cast<double>(setup.period.count()) * (paced + 10) * pages_spare * setup.hosts;
  served.shape.pages = static_cast<unsigned>(std::min<double>(wanted, sample::max_pages));
  served.shape.calm = setup.calm;
  served.latency = options_.latency;
  served.failing = setup.calm ? 0 : failing;
  served.max_connections = setup.hosts * std::size_t{2} + connections_spare;
  const auto server = sample::SampleServer::start(served);
  if (!server) return tl::make_unexpected(server.error());
  const auto arguments_of = arguments(setup, **server, directory->path());
  if (!arguments_of) return tl::make_unexpected(arguments_of.error());
  const std::string out = directory->path() + "/summary.json";
  const std::string err = directory->path() + "/errors.txt";
  Result<Child> child = Child::start(*arguments_of, out, err);
  if (!child) return tl::make_unexpected(child.error());
  const auto died = [&]() -> tl::unexpected<Error> {
    return fail(ErrorCode::internal, "the crawl of '" + setup.name + "' ended before its time: " + text_of(err));
  };

  ScalingRun run;
  run.fetches = setup.fetches;
  run.peers = setup.peers;
  const Instant started = std::chrono::steady_clock::now();
  Seen before;
  do {
    std::this_thread::sleep_for(look_every);
    if (!child->running()) return died();
    before = look(**server);
  } while (before.hosts_known < setup.hosts && since(started) < static_cast<double>(max_warm_up.count()));
  run.until_even = since(started);
  if (before.hosts_known < setup.hosts)
    return fail(ErrorCode::internal, "after " + std::to_string(max_warm_up.count()) + " s only " +
                                         std::to_string(before.hosts_known) + " of " + std::to_string(setup.hosts) +
                                         " hosts had been asked; more fetches, or less latency");
  const Instant begun = std::chrono::steady_clock::now();
  while (since(begun) < static_cast<double>(setup.period.count())) {
    std::this_thread::sleep_for(look_every);
    if (!child->running()) return died();
  }
  const Seen after = look(**server);
  run.seconds = since(begun);
  child->interrupt();
  const std::optional<int> code = child->wait(max_stop_wait);
  if (!code || *code != 0) return died();
  run.cpu_seconds = child->cpu_seconds();
  const json summary = json::parse(text_of(out), nullptr, false);
  if (!summary.is_object()) return died();
  const json& totals = summary["totals"];
  run.urls = totals.value("discovered", std::uint64_t{0});
  run.failures = totals.value("failed", std::uint64_t{0}) + totals.value("retries", std::uint64_t{0});
  run.pages = after.pages - before.pages;
  run.most_at_once = after.most_at_once;
  for (const auto& [host, pages] : after.by_host) {
    const auto at = before.by_host.find(host);
    run.hosts.push_back(pages - (at == before.by_host.end() ? 0 : at->second));
  }
  facts_.push_back({{"run", setup.name},
                    {"hosts", setup.hosts},
                    {"calm", setup.calm},
                    {"fetches", setup.fetches},
                    {"peers", setup.peers},
                    {"seconds", run.seconds},
                    {"seconds_before", run.until_even},
                    {"pages", run.pages},
                    {"cpu_seconds", run.cpu_seconds}});
  return run;
}

Result<ScalingRun> Scaling::of_web(std::uint32_t fetches, std::uint32_t peers, seconds period) {
  const std::string name = std::to_string(fetches) + " fetches, " + std::to_string(peers) +
                           (peers == 1 ? " peer, " : " peers, ") + std::to_string(period.count()) + " s";
  const std::uint32_t hosts = fetches * peers * (fetches < many_fetches ? hosts_a_fetch : hosts_a_fetch_of_many);
  return crawl({name, fetches, peers, std::max(40U, hosts), false, period});
}

double rate(const ScalingRun& run) { return static_cast<double>(run.pages) / run.seconds; }

struct PaperRow {
  std::uint64_t pages, urls, failures;
};

Result<void> Scaling::fetches_table(Report& report) {
  const std::map<std::uint32_t, PaperRow> paper = {
      {10, {3808, 62955, 63}}, {20, {6501, 97456, 102}}, {30, {7522, 98948, 167}}};
  Table table;
  table.title = "Fetches in flight at one peer (the paper: threads of one worker, 30 minutes)";
  table.columns = {
      {"fetches"},     {"pages"},          {"pages a second", 1}, {"against the first"}, {"of what waiting allows", 2},
      {"URLs found"},  {"failed tries"},   {"CPU seconds", 1},    {"paper: pages"},      {"paper: against the first"},
      {"paper: URLs"}, {"paper: failures"}};
  Plot plot{
      "Pages per second over fetches in flight, against the first", {"fetches in flight", true}, {"times", true}, {}};
  Series ours{"Orbweaver", {}};
  Series theirs{"paper (threads)", {}};
  Series ideal{"in proportion", {}};
  double first = 0;
  for (const std::uint32_t fetches : options_.fetches) {
    Result<ScalingRun> run = of_web(fetches, 1, options_.period);
    if (!run) return tl::make_unexpected(run.error());
    if (first == 0) first = rate(*run);
    const double allowed = fetches / (static_cast<double>(options_.latency.count()) / 1000.0);
    std::vector<Cell> row = {std::uint64_t{fetches}, run->pages, rate(*run),    rate(*run) / first,
                             rate(*run) / allowed,   run->urls,  run->failures, run->cpu_seconds};
    if (const auto at = paper.find(fetches); at != paper.end()) {
      const double times = static_cast<double>(at->second.pages) / 3808.0;
      row.insert(row.end(), {at->second.pages, times, at->second.urls, at->second.failures});
      theirs.points.emplace_back(fetches, times);
    } else {
      row.resize(table.columns.size());
    }
    ours.points.emplace_back(fetches, rate(*run) / first);
    ideal.points.emplace_back(fetches, static_cast<double>(fetches) / options_.fetches.front());
    table.rows.push_back(std::move(row));
    if (fetches == paper_threads) twenty_ = *run;
  }
  table.notes = {
      "What waiting allows: fetches in flight over the latency. Slow hosts of the sample web take 150 to 300 ms "
      "more, one in ten asks for a second between requests, and 16 of a thousand pages fail at the first try."};
  plot.series = {std::move(ours), std::move(theirs), std::move(ideal)};
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return {};
}

Result<void> Scaling::peers_table(Report& report) {
  Table table;
  table.title = "Peers, each with 20 fetches in flight (the paper: workers with 20 threads, 30 minutes)";
  table.columns = {{"peers"},        {"pages"},          {"pages a second", 1}, {"against one"},       {"URLs found"},
                   {"failed tries"}, {"CPU seconds", 1}, {"paper: pages"},      {"paper: against one"}};
  Plot plot{"Pages per second over peers, against one", {"peers", false}, {"times", false}, {}};
  Series ours{"Orbweaver", {}};
  const Series theirs{"paper (workers)", {{1, 1}, {2, 11981.0 / 6501.0}}};
  Series ideal{"in proportion", {}};
  if (!twenty_) {
    Result<ScalingRun> run = of_web(paper_threads, 1, options_.period);
    if (!run) return tl::make_unexpected(run.error());
    twenty_ = *run;
  }
  for (std::uint32_t peers = 1; peers <= 3; ++peers) {
    Result<ScalingRun> run = peers == 1 ? Result<ScalingRun>(*twenty_) : of_web(paper_threads, peers, options_.period);
    if (!run) return tl::make_unexpected(run.error());
    const double times = rate(*run) / rate(*twenty_);
    std::vector<Cell> row = {std::uint64_t{peers}, run->pages,      rate(*run), times, run->urls,
                             run->failures,        run->cpu_seconds};
    if (peers == 1) row.insert(row.end(), {std::uint64_t{6501}, 1.0});
    if (peers == 2) row.insert(row.end(), {std::uint64_t{11981}, 11981.0 / 6501.0});
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
    ours.points.emplace_back(peers, times);
    ideal.points.emplace_back(peers, peers);
    if (peers == 2) two_ = *run;
  }
  plot.series = {std::move(ours), theirs, std::move(ideal)};
  report.tables.push_back(std::move(table));
  report.plots.push_back(std::move(plot));
  return {};
}

Result<void> Scaling::hosts_table(Report& report) {
  Table table;
  table.title = "Ten hosts, how evenly (the paper: ten hosts, 439 to 630 pages each)";
  table.columns = {{"fetches"},
                   {"pages"},
                   {"least of a host"},
                   {"most of a host"},
                   {"least over most", 3},
                   {"most at once at a host"}};
  for (const std::uint32_t fetches : {paper_threads, 5U}) {
    Result<ScalingRun> run =
        crawl({"ten hosts, " + std::to_string(fetches) + " fetches", fetches, 1, 10, true, options_.period});
    if (!run) return tl::make_unexpected(run.error());
    const auto [least, most] = std::minmax_element(run->hosts.begin(), run->hosts.end());
    table.rows.push_back({std::uint64_t{fetches}, run->pages, *least, *most,
                          static_cast<double>(*least) / static_cast<double>(std::max<std::uint64_t>(*most, 1)),
                          run->most_at_once});
  }
  table.rows.push_back({std::string("paper"), {}, std::uint64_t{439}, std::uint64_t{630}, 439.0 / 630.0, {}});
  table.notes = {
      "Hosts of one speed. With 20 fetches each host is asked without a pause, one request at a time; with 5 "
      "they take turns."};
  report.tables.push_back(std::move(table));
  return {};
}

Result<void> Scaling::time_table(Report& report) {
  Table table;
  table.title = "Twice the time, two peers with 20 fetches (the paper: 15 and 30 minutes, two workers)";
  table.columns = {{"seconds", 1}, {"pages"}, {"against the first"}, {"paper: pages"}, {"paper: against the first"}};
  Result<ScalingRun> twice = of_web(paper_threads, 2, options_.period * 2);
  if (!twice) return tl::make_unexpected(twice.error());
  const auto pages = [](const ScalingRun& run) { return static_cast<double>(run.pages); };
  table.rows.push_back({two_->seconds, two_->pages, 1.0, std::uint64_t{5651}, 1.0});
  table.rows.push_back(
      {twice->seconds, twice->pages, pages(*twice) / pages(*two_), std::uint64_t{11375}, 11375.0 / 5651.0});
  report.tables.push_back(std::move(table));
  return {};
}

Result<Report> Scaling::run() {
  Report report;
  report.experiment = "scaling";
  using Step = Result<void> (Scaling::*)(Report&);
  for (const Step step : {&Scaling::fetches_table, &Scaling::peers_table, &Scaling::hosts_table, &Scaling::time_table})
    if (Result<void> done = (this->*step)(report); !done) return tl::make_unexpected(done.error());
  report.tables.front().notes.push_back(
      "Periods of " + std::to_string(options_.period.count()) + " s instead of 30 minutes, each answer " +
      std::to_string(options_.latency.count()) + " ms late, no delay between requests, archives off, on " +
      std::to_string(std::max(1U, std::thread::hardware_concurrency())) + " processors for crawl and server together.");
  report.facts = {{"period_seconds", options_.period.count()},
                  {"latency_ms", options_.latency.count()},
                  {"seed", options_.seed},
                  {"processors", std::thread::hardware_concurrency()},
                  {"runs", facts_}};
  return report;
}

// For thousands of connections: raises the limit of descriptors for this process, and so for its children.
Result<void> allow_descriptors(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail(ErrorCode::io, std::string("cannot read the limit of open files: ") + std::strerror(errno));
  if (limit.rlim_cur >= wanted) return {};
  if (limit.rlim_max < wanted)
    return fail(ErrorCode::invalid_input, "these fetches take " + std::to_string(wanted) +
                                              " open files, and the limit is " + std::to_string(limit.rlim_max) +
                                              " (ulimit -Hn); ask for fewer with --fetches");
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail(ErrorCode::io, std::string("cannot raise the limit of open files: ") + std::strerror(errno));
  return {};
}

}  // namespace

Result<Report> run_scaling(const ScalingOptions& options) {
  const std::uint32_t most = *std::max_element(options.fetches.begin(), options.fetches.end());
  if (Result<void> allowed = allow_descriptors(most * std::uint64_t{5} + 1024); !allowed)
    return tl::make_unexpected(allowed.error());
  return Scaling(options).run();
}

}  // namespace orbweaver
