#include "node/lab/order.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "node/graph/rank.h"
#include "node/lab/progress.h"
#include "node/sampleweb/sample_server.h"
#include "node/sampleweb/sample_text.h"
#include "node/system/program_beside.h"
#include "node/system/scratch_directory.h"

extern char** environ;

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::size_t plot_points = 200;
constexpr double looks[] = {0.1, 0.25, 0.5};  // when results are compared: shares of all pages

struct JudgedWeb {
  std::vector<JudgedPage> pages;
  std::unordered_map<std::string, std::size_t> number_of;  // by URL
  double links = 0;
};

Result<JudgedWeb> judge(const sample::SampleWeb& web, const std::string& directory) {
  JudgedWeb judged;
  for (unsigned host = 0; host < web.hosts(); ++host) {
    for (unsigned page = 0; page < web.pages(host); ++page) {
      judged.number_of.emplace(web.url(host, web.page_path(host, page)), judged.pages.size());
      judged.pages.push_back({web.topic(host, page) == 0, 0});
    }
  }
  const auto graph = LinkGraph::make(directory, 64u << 20, false, [&](const TakeEdge& take) -> Result<void> {
    for (unsigned host = 0; host < web.hosts(); ++host) {
      for (unsigned page = 0; page < web.pages(host); ++page) {
        const std::string from = web.url(host, web.page_path(host, page));
        for (const sample::SampleLink& link : web.page_links(host, page))
          if (Result<void> taken = take(from, link.url); !taken) return taken;
      }
    }
    return {};
  });
  if (!graph) return tl::make_unexpected(graph.error());
  judged.links = static_cast<double>((*graph)->edges());
  if (const auto done = page_rank(**graph, {}); !done) return tl::make_unexpected(done.error());
  const Result<void> read = each_by_rank(**graph, (*graph)->file("rank"), {}, UINT64_MAX,
                                         [&](std::string_view name, double score, double) -> Result<void> {
                                           const auto page = judged.number_of.find(std::string(name));
                                           if (page != judged.number_of.end()) judged.pages[page->second].rank = score;
                                           return {};
                                         });
  if (!read) return tl::make_unexpected(read.error());
  return judged;
}

struct CrawlRun {
  double seconds = 0;
  double cpu_seconds = 0;  // of the peers and the processes that started them
};

// Runs the crawler with `arguments`; its output goes to `output`.
Result<CrawlRun> run_crawler(std::vector<std::string> arguments, const std::string& output) {
  const Result<std::string> program = program_beside(crawler_program);
  if (!program) return tl::make_unexpected(program.error());
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {1, 2})
    posix_spawn_file_actions_addopen(&actions, descriptor, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const auto begun = std::chrono::steady_clock::now();
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, program->c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return fail(ErrorCode::io, std::string("cannot start a crawl: ") + std::strerror(failed));
  int status = 0;
  rusage used{};
  while (::wait4(pid, &status, 0, &used) < 0)
    if (errno != EINTR) return fail(ErrorCode::io, std::string("cannot wait for a crawl: ") + std::strerror(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::ifstream in(output);
    return fail(ErrorCode::internal, "the crawl failed: " + std::string(std::istreambuf_iterator<char>(in), {}));
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return CrawlRun{std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(),
                  seconds(used.ru_utime) + seconds(used.ru_stime)};
}

std::vector<std::string> crawl_arguments(const OrderOptions& options, const std::string& order,
                                         const sample::SampleServer& server, const std::string& directory) {
  std::vector<std::string> arguments = {"orbweaver", "crawl"};
  for (const std::string& seed : server.seeds()) arguments.push_back(seed);
  const std::string port = std::to_string(server.port());
  for (const std::string& flag :
       {"--out=" + directory, "--peers=" + std::to_string(options.peers), "--resolve=*:" + port + ":127.0.0.1",
        "--max-fetches=" + std::to_string(options.fetches)})
    arguments.push_back(flag);
  for (const char* flag :
       {"--quiet", "--allow-private=127.0.0.0/8", "--delay=0s", "--address-delay=0s", "--delay-factor=0",
        "--archive=off", "--scope=any", "--robots=no", "--sitemaps=off", "--network=local"})
    arguments.emplace_back(flag);
  const bool by_score = order != "breadth" && order != "depth";
  arguments.push_back("--order=" + (by_score ? std::string("best") : order));
  if (by_score) arguments.push_back("--best-by=" + order);
  if (order == "topic") {
    std::string words;
    for (unsigned word = 0; word < options.topic_words; ++word) words += sample::topic_word(0, word) + " ";
    arguments.push_back("--topic=" + words);
  }
  return arguments;
}

Series series_of(const std::string& name, const std::vector<double>& values) {
  Series series{name, {}};
  for (std::size_t i = 1; i <= plot_points; ++i) {
    const std::size_t at = values.size() * i / plot_points;
    if (at > 0) series.points.emplace_back(static_cast<double>(at), values[at - 1]);
  }
  return series;
}

Cell at_share(const std::vector<double>& values, double share, std::size_t pages) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(pages));
  if (at == 0 || at > values.size()) return {};
  return values[at - 1] * 100;
}

// The best harvest of an order that knows everything from the start.
Harvest best_possible(const std::vector<JudgedPage>& pages, bool by_topic) {
  std::vector<std::size_t> sorted(pages.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return by_topic ? pages[a].on_topic > pages[b].on_topic : pages[a].rank > pages[b].rank;
  });
  return harvest_of(pages, sorted);
}

void add_row(Table& table, const std::string& name, const Harvest& topic, const Harvest& mass, std::size_t pages,
             std::vector<Cell> rest) {
  std::vector<Cell> row = {name};
  for (const double look : looks) row.push_back(at_share(topic.on_topic, look, pages));
  for (const double look : looks) row.push_back(at_share(topic.recall, look, pages));
  for (const double look : looks) row.push_back(at_share(mass.mass, look, pages));
  row.insert(row.end(), rest.begin(), rest.end());
  table.rows.push_back(std::move(row));
}

}  // namespace

Harvest harvest_of(const std::vector<JudgedPage>& pages, const std::vector<std::size_t>& fetched) {
  double topic_pages = 0;
  double all_mass = 0;
  for (const JudgedPage& page : pages) {
    topic_pages += page.on_topic ? 1 : 0;
    all_mass += page.rank;
  }
  Harvest harvest;
  std::vector<bool> seen(pages.size());
  double on_topic = 0;
  double mass = 0;
  for (const std::size_t number : fetched) {
    if (seen[number]) continue;
    seen[number] = true;
    on_topic += pages[number].on_topic ? 1 : 0;
    mass += pages[number].rank;
    harvest.on_topic.push_back(on_topic / static_cast<double>(harvest.on_topic.size() + 1));
    harvest.recall.push_back(topic_pages > 0 ? on_topic / topic_pages : 0);
    harvest.mass.push_back(all_mass > 0 ? mass / all_mass : 0);
  }
  return harvest;
}

Result<Report> lab_order(const OrderOptions& options) {
  const auto scratch = ScratchDirectory::make(options.directory, "orbweaver-lab");
  if (!scratch) return tl::make_unexpected(scratch.error());
  std::mutex mutex;
  std::vector<std::string> asked;
  sample::SampleServerOptions served;
  served.shape.seed = options.seed;
  served.shape.hosts = options.hosts;
  served.shape.pages = options.pages;
  served.shape.topics = options.topics;
  served.shape.calm = true;
  served.on_request = [&](const std::string& url) {
    const std::lock_guard guard(mutex);
    asked.push_back(url);
  };
  const auto server = sample::SampleServer::start(served);
  if (!server) return tl::make_unexpected(server.error());
  served.shape.port = (*server)->port();
  const sample::SampleWeb web(served.shape);
  Progress progress("judging pages");
  const Result<JudgedWeb> judged = judge(web, (*scratch)->path());
  if (!judged) return tl::make_unexpected(judged.error());
  const std::vector<JudgedPage>& pages = judged->pages;

  Report report;
  report.experiment = "order";
  Table table{"Harvest by order of crawling", {{"order", 0}}, {}, {}};
  for (const char* what : {"on topic", "of the topic", "PageRank"})
    for (const double look : looks)
      table.columns.push_back(
          {std::string(what) + " at " + std::to_string(static_cast<int>(look * 100)) + " % (%)", 1});
  table.columns.insert(table.columns.end(), {{"pages", 0}, {"CPU per page (us)", 0}, {"seconds", 1}});
  Plot topic_plot{"Harvest rate: share of the pages fetched that are on topic", {"pages fetched"}, {"share"}, {}};
  Plot mass_plot{"Share of all PageRank collected", {"pages fetched"}, {"share"}, {}};
  for (const std::string& order : options.orders) {
    progress.next("crawling, " + order);
    const std::string directory = (*scratch)->path() + "/" + order;
    {
      const std::lock_guard guard(mutex);
      asked.clear();
    }
    const Result<CrawlRun> run =
        run_crawler(crawl_arguments(options, order, **server, directory), (*scratch)->path() + "/" + order + ".txt");
    if (!run) return tl::make_unexpected(run.error());
    std::vector<std::size_t> fetched;
    {
      const std::lock_guard guard(mutex);
      for (const std::string& url : asked)
        if (const auto page = judged->number_of.find(url); page != judged->number_of.end())
          fetched.push_back(page->second);
    }
    const Harvest harvest = harvest_of(pages, fetched);
    const auto count = static_cast<std::uint64_t>(harvest.mass.size());
    if (count == 0) return fail(ErrorCode::internal, "the crawl in order " + order + " asked for no page");
    add_row(table, order, harvest, harvest, pages.size(),
            {count, run->cpu_seconds * 1e6 / static_cast<double>(count), run->seconds});
    topic_plot.series.push_back(series_of(order, harvest.on_topic));
    mass_plot.series.push_back(series_of(order, harvest.mass));
  }
  add_row(table, "best possible", best_possible(pages, true), best_possible(pages, false), pages.size(),
          {static_cast<std::uint64_t>(pages.size()), {}, {}});
  const auto on_topic = static_cast<std::uint64_t>(
      std::count_if(pages.begin(), pages.end(), [](const JudgedPage& page) { return page.on_topic; }));
  table.notes = {
      "\"On topic at 10 %\": of the first tenth of all pages, how many are on topic; \"of the topic\": how many "
      "of all on topic are among them; \"PageRank\": their share of the PageRank of all.",
      "\"Best possible\" knows all pages from the start: one row, two orders."};
  report.tables.push_back(std::move(table));
  report.plots = {std::move(topic_plot), std::move(mass_plot)};
  report.facts = {{"seed", options.seed},
                  {"hosts", web.hosts()},
                  {"pages", pages.size()},
                  {"links", judged->links},
                  {"topics", options.topics},
                  {"pages_on_topic", on_topic},
                  {"topic_words", options.topic_words},
                  {"fetches", options.fetches},
                  {"peers", options.peers}};
  return report;
}

}  // namespace orbweaver
