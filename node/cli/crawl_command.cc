#include "node/cli/crawl_command.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "node/cli/ask.h"
#include "node/cli/contact_check.h"
#include "node/cli/crawl_reasons.h"
#include "node/cli/crawl_summary.h"
#include "node/cli/handed_settings.h"
#include "node/cli/seed_schemes.h"
#include "node/errors/storage_error.h"
#include "node/process/directory_lock.h"
#include "node/process/peer_file.h"
#include "node/process/peer_process.h"
#include "node/process/ring_key.h"
#include "node/settings/memory_plan.h"
#include "node/settings/units.h"
#include "node/system/clock.h"
#include "node/system/denied.h"
#include "node/system/memory_available.h"
#include "node/system/private_file.h"
#include "node/system/run_as.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/tools/seed_file.h"
#include "storage/append_directory.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// Exit code of a crawl that ended without fetching a page.
constexpr int nothing_fetched = 12;
constexpr Duration poll_every = std::chrono::milliseconds{100};
constexpr Duration progress_every = std::chrono::seconds{1};
// How long a peer may take to end after a request; then it is killed (which loses nothing).
constexpr Duration max_stop_wait = std::chrono::seconds{20};
// A peer that dies more often than this within restart_window is not restarted.
constexpr std::size_t max_restarts = 5;
constexpr Duration restart_window = std::chrono::seconds{30};
// From the first peer's end to the last's.
constexpr Duration max_end_wait = std::chrono::seconds{15};
constexpr Duration max_start_wait = std::chrono::seconds{60};

struct Child {
  std::string directory;
  pid_t pid = -1;
  std::vector<Time> starts;
  std::optional<int> ended;  // exit code, if it ended by itself
  bool finished = false;     // it ended because the crawl was finished
  bool started = false;      // it was started at least once
};

class Crawl {
 public:
  explicit Crawl(const CrawlOptions& options) : options_(options) {}
  int run();

 private:
  Result<void> prepare();
  Result<void> prepare_key(const Settings& settings);
  Result<void> start(Child& child, const std::string& join);
  Result<std::string> wait_for_address(Child& child);
  Result<void> reap();
  void stop_all(int signal);
  bool any_running() const;
  void show_progress(Time now, bool last);
  json summary() const;

  const CrawlOptions& options_;
  Settings settings_;
  std::optional<Time> recrawl_before_;
  std::vector<std::pair<std::string, std::string>> more_flags_;  // settings that this command adds
  Clock clock_;
  std::optional<DirectoryLock> lock_;
  std::vector<Child> children_;
  std::string seed_path_;
  Time begun_{};
  Time next_progress_{};
  std::uint64_t last_pages_ = 0;
  Time last_time_{};
  std::uint64_t pages_before_ = 0;  // fetched by earlier runs in this directory
  bool pages_before_known_ = false;
  bool interrupted_ = false;
  sigset_t signals_{};
};

Result<void> check(const std::vector<std::string>& seeds, const Settings& settings) {
  if (Result<void> checked = check_seeds(seeds); !checked) return checked;
  if (Result<void> checked = check_contact(settings, seeds); !checked) return checked;
  return check_reachable(settings, seeds);
}

// Checks seeds, settings and the directory: all errors are reported before a process is started.
Result<void> Crawl::prepare() {
  std::vector<std::string> seeds = options_.urls;
  if (!options_.seeds_file.empty()) {
    auto more = read_seed_file(options_.seeds_file);
    if (!more) return tl::make_unexpected(more.error());
    seeds.insert(seeds.end(), more->begin(), more->end());
  }
  const Result<QuerySeeds> queries = query_seeds(options_.queries);
  if (!queries) return tl::make_unexpected(queries.error());
  seeds.insert(seeds.end(), queries->urls.begin(), queries->urls.end());
  auto settings = options_.flags.load();
  if (!settings) return tl::make_unexpected(settings.error());
  if (!queries->urls.empty() && settings->values.result_pages.empty()) {
    for (const std::string& entry : usual_result_pages(*queries)) more_flags_.emplace_back("result_pages", entry);
    SettingFlags with = options_.flags;
    with.given.insert(with.given.end(), more_flags_.begin(), more_flags_.end());
    with.quiet = true;  // the first load() has reported them
    settings = with.load();
    if (!settings) return tl::make_unexpected(settings.error());
  }
  // The peers share this machine.
  if (settings->values.max_memory == 0)
    more_flags_.emplace_back("max_memory", size_text(automatic_memory(memory_of_machine(), options_.peers)));
  if (Result<void> checked = check(by_https(seeds), settings->values); !checked) return checked;
  if (Result<void> ran = run_as(options_.user, options_.out, settings->values.data_access); !ran) return ran;
  settings_ = settings->values;
  const std::string plan_path = options_.out + "/crawl.json";
  const Result<bool> resumed = is_there(plan_path);
  if (!resumed) return tl::make_unexpected(resumed.error());
  if (seeds.empty() && !*resumed)
    return fail(ErrorCode::invalid_input, "no URL to start from; name some, or a file of them with --seeds");
  auto lock = DirectoryLock::take(options_.out, settings->values.data_access);
  if (!lock) return tl::make_unexpected(lock.error());
  lock_.emplace(std::move(*lock));
  if (settings_.durability == Durability::power)
    if (const auto synced = storage::sync_directories_to(options_.out); !synced)
      return tl::make_unexpected(error_of(synced.error()));
  if (Result<void> keyed = prepare_key(settings->values); !keyed) return keyed;
  if (*resumed) {
    std::ifstream in(plan_path);
    const json plan = json::parse(in, nullptr, false);
    const auto before = plan.is_object() ? plan.value("peers", 0u) : 0u;
    if (before == 0)
      return fail(ErrorCode::io, plan_path + " cannot be read; is " + options_.out + " a crawl's directory?");
    if (before > options_.peers)
      return fail(ErrorCode::mismatch, "the crawl in " + options_.out + " has " + std::to_string(before) +
                                           " peers; with --peers " + std::to_string(options_.peers) +
                                           " the queues of the others would wait unfetched. Use --peers " +
                                           std::to_string(before) + ", or let peers leave first (orbweaver leave)");
  }
  // The first requests to other hosts: only now, under the right user and after all other checks.
  Result<std::vector<std::string>> whole = with_schemes(std::move(seeds), settings->values);
  if (!whole) return tl::make_unexpected(whole.error());
  seeds = std::move(*whole);
  if (Result<void> checked = check(seeds, settings->values); !checked) return checked;
  const std::string plan = json{{"peers", options_.peers}}.dump() + "\n";
  if (Result<void> written = write_whole(plan_path, plan, settings_.durability); !written) return written;
  seed_path_ = options_.out + "/seeds.txt";
  std::string lines;
  for (const std::string& seed : seeds) lines += seed + "\n";
  if (Result<void> written = write_whole(seed_path_, lines, settings_.durability); !written) return written;
  for (std::uint32_t i = 1; i <= options_.peers; ++i) {
    Child child;
    child.directory = options_.out + "/peer-" + std::to_string(i);
    children_.push_back(std::move(child));
  }
  return {};
}

// Without a key every user of this machine could command the ring. So it gets its own, unless the user gave it one.
Result<void> Crawl::prepare_key(const Settings& settings) {
  std::string path = settings.ring_key_file;
  if (path.empty()) {
    path = options_.out + "/ring.key";
    const Result<bool> made_before = is_there(path);
    if (!made_before) return tl::make_unexpected(made_before.error());
    if (!*made_before)
      if (Result<void> made = make_ring_key_file(path, settings.durability); !made) return made;
    more_flags_.emplace_back("ring_key_file", path);
  }
  const Result<std::string> key = read_ring_key(path);
  if (!key) return tl::make_unexpected(key.error());
  return {};
}

Result<void> Crawl::start(Child& child, const std::string& join) {
  std::error_code ignored;
  std::filesystem::create_directories(child.directory, ignored);
  std::filesystem::remove(child.directory + "/ended.json", ignored);
  std::vector<std::string> arguments = {"orbweaver",        "node", "--quiet", "--dir", child.directory,
                                        "--stop-when-done", "yes"};
  if (!options_.flags.config.empty()) arguments.insert(arguments.end(), {"--config", options_.flags.config});
  std::vector<std::pair<std::string, std::string>> given = options_.flags.given;
  given.insert(given.end(), more_flags_.begin(), more_flags_.end());
  const Result<int> handed = hand_over(given);
  if (!handed) return tl::make_unexpected(handed.error());
  arguments.insert(arguments.end(), {"--settings-fd", std::to_string(*handed)});
  // Not at a restart after a crash: the walk it began is on its disk. All peers get the same time.
  if (recrawl_before_ && !std::exchange(child.started, true))
    arguments.insert(arguments.end(),
                     {"--recrawl-before", std::to_string(recrawl_before_->time_since_epoch().count())});
  if (!join.empty()) arguments.insert(arguments.end(), {"--join", join});
  if (&child == &children_.front())
    arguments.insert(arguments.end(), {"--seeds", seed_path_, "--wait-for-peers", std::to_string(options_.peers)});
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) ::close(*handed);
  if (pid < 0) return fail(ErrorCode::io, std::string("cannot start a process: ") + std::strerror(errno));
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGINT);  // ends without leaving; SIGTERM would make it leave
    if (::getppid() != parent) ::_exit(0);
    ::setpgid(0, 0);  // Ctrl-C goes to the parent, which forwards it
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv("/proc/self/exe", argv.data());
    complain("cannot run itself: %s", std::strerror(errno));
    ::_exit(static_cast<int>(ErrorCode::internal));
  }
  child.pid = pid;
  child.ended.reset();
  child.starts.push_back(clock_.now());
  return {};
}

// The address that a started peer writes into its directory; if the peer dies instead, reaps it and returns an error.
Result<std::string> Crawl::wait_for_address(Child& child) {
  const Time until = clock_.now() + max_start_wait;
  while (clock_.now() < until) {
    if (const Result<PeerFile> file = read_peer_file(child.directory); file && file->pid == child.pid)
      return file->address;
    int status = 0;
    if (::waitpid(child.pid, &status, WNOHANG) == child.pid) {
      child.pid = -1;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ErrorCode::internal);
      return fail(static_cast<ErrorCode>(code == 0 ? static_cast<int>(ErrorCode::internal) : code),
                  "the peer in " + child.directory + " did not start (see above)");
    }
    const timespec wait{0, 10'000'000};
    siginfo_t info;
    const int signal = sigtimedwait(&signals_, &info, &wait);
    if (signal == SIGINT || signal == SIGTERM) {
      interrupted_ = true;
      return fail(ErrorCode::internal, "interrupted");
    }
  }
  return fail(ErrorCode::unreachable, "the peer in " + child.directory + " did not come up; see its log/peer.log");
}

bool Crawl::any_running() const {
  return std::any_of(children_.begin(), children_.end(), [](const Child& child) { return child.pid > 0; });
}

// Records peers that ended, and restarts those that died.
Result<void> Crawl::reap() {
  for (Child& child : children_) {
    int status = 0;
    if (child.pid <= 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = -1;
    const bool by_itself = WIFEXITED(status);
    const int code = by_itself ? WEXITSTATUS(status) : 0;
    if (by_itself && code == 0) {
      child.ended = 0;
      // A peer that left says nothing about the others.
      std::ifstream in(child.directory + "/ended.json");
      const json ended = json::parse(in, nullptr, false);
      child.finished = ended.is_object() && ended.value("finished", false);
      continue;
    }
    // Causes that a restart does not fix: disk full, directory of another ring…
    if (by_itself && code <= static_cast<int>(ErrorCode::internal)) {
      child.ended = code;
      return fail(static_cast<ErrorCode>(code),
                  "the peer in " + child.directory +
                      " could not continue (see above); the others are stopped, nothing is lost");
    }
    // A peer that dies after another one finished the crawl has nothing left to do.
    const bool over =
        std::any_of(children_.begin(), children_.end(), [](const Child& other) { return other.finished; });
    if (interrupted_ || over) continue;
    const Time now = clock_.now();
    std::erase_if(child.starts, [&](Time at) { return now - at > restart_window; });
    if (child.starts.size() > max_restarts)
      return fail(ErrorCode::internal, "the peer in " + child.directory + " died " +
                                           std::to_string(child.starts.size()) +
                                           " times in a row; see its log/peer.log");
    if (!options_.quiet)
      complain("the peer in %s died (%s); starting it again", child.directory.c_str(),
               by_itself ? ("exit code " + std::to_string(code)).c_str() : strsignal(WTERMSIG(status)));
    std::string join;
    for (const Child& other : children_)
      if (other.pid > 0)
        if (const Result<PeerFile> file = read_peer_file(other.directory)) join = file->address;
    if (Result<void> started = start(child, join); !started) return started;
  }
  return {};
}

void Crawl::stop_all(int signal) {
  for (const Child& child : children_)
    if (child.pid > 0) ::kill(child.pid, signal);
}

void Crawl::show_progress(Time now, bool last) {
  if (options_.quiet || (now < next_progress_ && !last)) return;
  next_progress_ = now + progress_every;
  const Result<json> answer = ask_peer({{}, options_.out, {}}, "status", json::object(), true, std::chrono::seconds{1});
  if (!answer) return;
  const json& totals = (*answer)["totals"];
  const auto count = [&](const char* name) {
    return static_cast<unsigned long long>(totals.value(name, std::uint64_t{0}));
  };
  const std::uint64_t pages = count("fetched");
  if (!pages_before_known_) {
    pages_before_known_ = true;
    last_pages_ = pages_before_ = pages;
    last_time_ = now;
  }
  const double seconds = std::chrono::duration<double>(now - last_time_).count();
  const double rate =
      seconds > 0.1 ? static_cast<double>(pages - std::min<std::uint64_t>(last_pages_, pages)) / seconds : 0;
  last_pages_ = pages;
  last_time_ = now;
  char line[256];
  std::snprintf(line, sizeof line, "%llu pages  %.0f pages/s  %llu queued  %llu forwarded  %llu failed  %zu/%u peers",
                static_cast<unsigned long long>(pages), rate, count("queued"), count("forwarded"), count("failed"),
                (*answer)["peers"].size(), options_.peers);
  say_progress(line);
}

json Crawl::summary() const {
  json totals = json::object();
  json peers = json::array();
  json redirects_out = json::array();
  json ring = json::object();  // ring-wide totals; every peer that finished has them
  std::string reason;
  bool finished = false;
  std::optional<double> missed;  // by Bloom filters, as expected
  for (const Child& child : children_) {
    std::ifstream in(child.directory + "/ended.json");
    const json ended = json::parse(in, nullptr, false);
    if (!ended.is_object()) continue;
    if (ended.value("finished", false)) {
      finished = true;
      ring = ended.value("totals", json::object());
    }
    if (reason.empty() || ended.value("finished", false)) reason = ended.value("reason", "");
    const json status = ended.value("status", json::object());
    const json counts = status.value("counts", json::object());
    for (const auto& [name, value] : counts.items())
      if (value.is_number_unsigned()) totals[name] = totals.value(name, std::uint64_t{0}) + value.get<std::uint64_t>();
    if (const json filter = status.value("seen_filter", json::object()); filter.contains("missed"))
      missed = missed.value_or(0) + filter.value("missed", 0.0);
    for (const json& redirect : status.value("redirects_out", json::array())) redirects_out.push_back(redirect);
    peers.push_back({{"directory", child.directory}, {"id", status.value("id", "")}, {"counts", counts}});
  }
  const double seconds = std::chrono::duration<double>(clock_.now() - begun_).count();
  const auto number = [&](const char* name) { return (finished ? ring : totals).value(name, std::uint64_t{0}); };
  json summary = {{"finished", finished},
                  {"reason", interrupted_ ? "interrupted" : reason},
                  {"pages", number("fetched")},
                  {"failed", number("failed")},
                  {"excluded", number("excluded")},
                  {"queued", number("queued")},
                  {"seconds", seconds},
                  {"archive_dirs",
                   [&] {
                     json dirs = json::array();
                     for (const Child& child : children_)
                       if (is_there(child.directory + "/archive").value_or(false))
                         dirs.push_back(child.directory + "/archive");
                     return dirs;
                   }()},
                  {"out", options_.out},
                  {"totals", totals},
                  {"peers", peers},
                  {"reasons", json::array()}};
  // Counted in the stores, so it is exact even after restarts and hand-overs.
  if (number("failed") + number("excluded") > 0) {
    const Result<std::vector<CrawlReason>> reasons = crawl_reasons(options_.out);
    if (reasons) {
      summary["reasons"] = reasons_json(*reasons, settings_);
    } else {
      summary["reasons_unknown"] = reasons.error().message;
    }
  }
  if (missed) summary["missed"] = *missed;
  if (!redirects_out.empty()) summary["redirects_out"] = with_fixes(std::move(redirects_out), settings_);
  if (finished && number("fetched") > 0) {
    const Result<bool> redirects = only_redirects(options_.out);
    if (!redirects) summary["reasons_unknown"] = redirects.error().message;
    if (redirects && *redirects) summary["only_redirects"] = true;
  }
  return summary;
}

int Crawl::run() {
  if (Result<void> prepared = prepare(); !prepared) return failed(prepared.error());
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, nullptr);
  begun_ = clock_.now();
  if (!options_.recrawl.empty()) {
    const Result<Duration> age = parse_duration(options_.recrawl);
    if (!age) return failed({ErrorCode::invalid_setting, "--recrawl: " + age.error().message});
    recrawl_before_ = begun_ - *age;
  }
  if (!options_.quiet)
    say_aside("starting " + std::to_string(options_.peers) + (options_.peers == 1 ? " peer" : " peers") + " in " +
              options_.out + "; then one line per second with the ring's progress\n");
  std::error_code ignored;  // of an earlier run's account
  for (const char* name : {"/summary.json", "/summary.html"}) std::filesystem::remove(options_.out + name, ignored);
  std::optional<Error> trouble;
  std::string join;
  for (Child& child : children_) {
    Result<void> started = start(child, join);
    if (started && join.empty()) {
      const Result<std::string> address = wait_for_address(child);
      if (address) {
        join = *address;
      } else {
        started = tl::make_unexpected(address.error());
      }
    }
    if (!started) {
      if (!interrupted_) trouble = started.error();
      break;
    }
  }
  bool stopping = trouble.has_value() || interrupted_;
  Time kill_at = clock_.now() + max_stop_wait;
  std::optional<Time> over_at;
  if (stopping) stop_all(SIGINT);
  while (any_running()) {
    const timespec wait{0, std::chrono::nanoseconds(poll_every).count()};
    siginfo_t info;
    const int signal = sigtimedwait(&signals_, &info, &wait);
    if (signal == SIGINT || signal == SIGTERM) {
      interrupted_ = stopping = true;
      kill_at = clock_.now() + max_stop_wait;
      stop_all(SIGINT);
    }
    if (Result<void> reaped = reap(); !reaped && !stopping) {
      trouble = reaped.error();
      stopping = true;
      kill_at = clock_.now() + max_stop_wait;
      stop_all(SIGINT);
    }
    const Time now = clock_.now();
    // Once one peer has ended the crawl, all have been notified. A peer that died just then and was restarted would
    // wait for the others forever.
    const bool over =
        std::any_of(children_.begin(), children_.end(), [](const Child& child) { return child.finished; });
    if (over && !over_at) over_at = now;
    if (over_at && !stopping && now - *over_at > max_end_wait) {
      stopping = true;
      kill_at = now + max_stop_wait;
      stop_all(SIGINT);
    }
    if (stopping && now > kill_at) stop_all(SIGKILL);
    if (!stopping) show_progress(now, false);
  }
  if (!options_.quiet) end_progress();
  json result = summary();
  if (trouble) {
    result["finished"] = false;
    result["reason"] = trouble->message;
    static_cast<void>(write_summary(options_.out, result, settings_.durability));  // there may be no room for it
    return failed(*trouble);
  }
  if (options_.as_json) {
    say_json(result);
  } else {
    say_text(summary_text(result));
  }
  if (const Result<void> written = write_summary(options_.out, result, settings_.durability); !written)
    return failed(written.error());
  const bool only_redirected = result.value("only_redirects", false);
  if (!result.value("finished", false) || (result.value("pages", std::uint64_t{0}) > 0 && !only_redirected)) return 0;
  complain(only_redirected ? "only redirects were fetched" : "nothing was fetched");
  return nothing_fetched;
}

}  // namespace

int run_crawl(const CrawlOptions& options) { return Crawl(options).run(); }

}  // namespace orbweaver
