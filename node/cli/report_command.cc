#include "node/cli/report_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "node/charset/charset.h"
#include "node/cli/archived_pages.h"
#include "node/cli/crawl_summary.h"
#include "node/cli/export_command.h"
#include "node/cli/order_commands.h"
#include "node/cli/ring_commands.h"
#include "node/cli/stopped_orders.h"
#include "node/cli/url_source.h"
#include "node/crawl/outside_json.h"
#include "node/html/script_shell.h"
#include "node/http/http_message.h"
#include "node/links/recrawl_walk.h"
#include "node/system/clock.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

namespace {

using nlohmann::json;
using storage::UrlState;

struct Options {
  PeerTarget target;
  std::string kind;
  RecordFilter filter;
  std::string format = "text";
  std::string by = "url";
  bool quiet = false;
  bool as_json = false;
};

// The columns of CSV and text, in order.
constexpr const char* columns[] = {"url",   "host",  "state", "reason",     "status", "attempts",
                                   "depth", "visit", "when",  "not_before", "why"};

std::string text_of(const json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// RFC 4180, with a line feed alone. A cell that a spreadsheet would take for a formula gets a quote before it.
std::string csv_cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + csv_cell(cell);
  return line + "\n";
}

// "http_status 404", "robots", "-": a URL that waits has none.
std::string cause_of(const json& url) {
  const std::string reason = url.value("reason", "");
  const std::uint64_t status = url.value("status", std::uint64_t{0});
  if (reason.empty()) return status == 0 ? "-" : std::to_string(status);
  return reason + (status == 0 ? "" : " " + std::to_string(status));
}

// One URL for each line.
class UrlPrinter {
 public:
  explicit UrlPrinter(const std::string& format) : format_(format) {
    if (format_ == "csv") say_text(csv_line({std::begin(columns), std::end(columns)}));
    if (format_ == "browsertrix") say_text("seeds:\n");
  }
  void print(const json& url) const {
    if (format_ == "jsonl") return say_json(url, -1);
    // JSON is YAML too.
    if (format_ == "browsertrix")
      return say_text("  - " + json_text({{"url", url.value("url", "")}, {"scopeType", "page"}}) + "\n");
    std::vector<std::string> cells;
    for (const char* name : columns) cells.push_back(text_of(url.value(name, json())));
    if (format_ == "csv") return say_text(csv_line(cells));
    say("%-20s %-24s %s\n", url.value("when", "-").c_str(), cause_of(url).c_str(), cells.front().c_str());
  }

 private:
  std::string format_;
};

// Sums for each host, printed when all URLs are known, the host with the most first.
class HostTable {
 public:
  void add(const json& url) {
    Host& host = hosts_[url.value("host", "")];
    ++host.urls;
    Cause& cause = host.causes[cause_of(url)];
    if (++cause.urls == 1) cause.example = url.value("url", "");
    const std::string when = url.value("when", "");
    if (!when.empty()) {
      host.first = host.first.empty() ? when : std::min(host.first, when);
      host.last = std::max(host.last, when);
    }
  }
  void print(const std::string& format) const {
    std::vector<const std::pair<const std::string, Host>*> order;
    order.reserve(hosts_.size());
    for (const auto& entry : hosts_) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->second.urls > b->second.urls; });
    if (format == "csv") say_text(csv_line({"host", "urls", "causes", "first", "last"}));
    for (const auto* entry : order) print(format, entry->first, entry->second);
  }

 private:
  struct Cause {
    std::uint64_t urls = 0;
    std::string example;
  };
  struct Host {
    std::uint64_t urls = 0;
    std::map<std::string, Cause> causes{};
    std::string first{}, last{};
  };
  static void print(const std::string& format, const std::string& name, const Host& host) {
    if (format == "jsonl") {
      json causes = json::array();
      for (const auto& [cause, found] : host.causes)
        causes.push_back({{"cause", cause}, {"urls", found.urls}, {"example", found.example}});
      json line = {{"host", name}, {"urls", host.urls}, {"causes", std::move(causes)}};
      if (!host.first.empty()) line.update({{"first", host.first}, {"last", host.last}});
      return say_json(line, -1);
    }
    std::string causes;
    for (const auto& [cause, found] : host.causes)
      causes += (causes.empty() ? "" : ", ") + cause + ": " + std::to_string(found.urls);
    if (format == "csv") return say_text(csv_line({name, std::to_string(host.urls), causes, host.first, host.last}));
    say("%9llu %-32s %s\n", static_cast<unsigned long long>(host.urls), name.c_str(), causes.c_str());
  }

  std::map<std::string, Host> hosts_;
};

// A line about once a second, on a terminal.
class Progress {
 public:
  explicit Progress(bool quiet)
      : on_(!quiet && ::isatty(STDERR_FILENO) != 0), next_(std::chrono::steady_clock::now() + every) {}
  ~Progress() {
    if (shown_) end_progress();
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::uint64_t looked_at, std::uint64_t found) {
    if (!on_ || std::chrono::steady_clock::now() < next_) return;
    next_ = std::chrono::steady_clock::now() + every;
    shown_ = true;
    say_progress("looked at " + std::to_string(looked_at) + " URLs, found " + std::to_string(found));
  }

 private:
  static constexpr std::chrono::seconds every{1};
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

// What can be reported, and what it means in the records.
constexpr std::pair<std::string_view, UrlState> kinds[] = {{"failed", UrlState::failed},
                                                           {"excluded", UrlState::excluded},
                                                           {"queued", UrlState::queued},
                                                           {"fetched", UrlState::fetched}};

// A page whose content scripts make has its reason here alone: its record says that it was fetched.
constexpr std::string_view needs_browser = "needs-browser";

// Of a crawl that does not run.
std::string end_words(const Options& options) {
  if (any_runs(options.target).value_or(true)) return {};
  const std::string why = why_it_stopped(options.target.directory);
  return why.empty() ? "" : "; " + why;
}

// What is found, as the options want it.
class Found {
 public:
  explicit Found(const Options& options)
      : by_host_(options.by == "host"), printer_(by_host_ ? "" : options.format), format_(options.format) {}
  // False: there is no one to print for.
  bool take(const json& url) {
    ++urls_;
    if (by_host_) {
      hosts_.add(url);
      return true;
    }
    printer_.print(url);
    return can_say();
  }
  void end() const {
    if (by_host_) hosts_.print(format_);
  }
  std::uint64_t urls() const { return urls_; }

 private:
  bool by_host_;
  UrlPrinter printer_;
  HostTable hosts_;
  std::string format_;
  std::uint64_t urls_ = 0;
};

// Of one page in the archive; null: it needs none, or is not wanted.
json shell_of(const ArchivedPage& page, const RecordFilter& filter) {
  storage::UrlRecord record;
  record.url = page.url;
  record.state = UrlState::fetched;
  record.status = static_cast<std::uint16_t>(page.status);
  const std::string type = content_type_of(page.head);
  if (page.status != 200 || media_type(type) != "text/html" || !filter.takes(record)) return nullptr;
  DecodedText text;
  decode_html(page.body, type, text);
  const html::ScriptShell shell = html::look_for_shell(text.utf8);
  if (!shell.is_shell()) return nullptr;
  return {{"url", page.url},       {"host", CanonicalUrl::host_in(page.url)},
          {"state", "fetched"},    {"reason", "needs_browser"},
          {"status", page.status}, {"when", page.date},
          {"why", shell.why()}};
}

// From the archives: the records do not say what a page has.
int report_needs_browser(const Options& options) {
  constexpr std::size_t max_page_bytes = 4u << 20;
  if (options.target.directory.empty())
    return failed({ErrorCode::invalid_input, "the archives are read: name the crawl's directory with --dir"});
  const auto files = archive_files(options.target.directory);
  if (!files) return failed(files.error());
  if (files->empty())
    return failed({ErrorCode::invalid_input,
                   "there is no archive in " + options.target.directory + "; the crawl ran with archive = off?"});
  Found found(options);
  PagesRead all;
  {
    Progress progress(options.quiet);
    std::set<std::string> told;
    for (const std::string& file : *files) {
      const auto read = for_each_archived_page(file, max_page_bytes, [&](const ArchivedPage& page) {
        ++all.pages;
        progress.show(all.pages, found.urls());
        const json shell = shell_of(page, options.filter);
        return shell.is_null() || !told.insert(page.url).second || found.take(shell);
      });
      if (!read) return failed(read.error());
      all.damaged += read->damaged;
      if (read->gone) complain("%s was taken away: its pages are missing here", file.c_str());
      if (!can_say()) break;
    }
  }
  found.end();
  if (!options.quiet)
    say_aside(std::to_string(found.urls()) + " URLs of " + std::to_string(all.pages) + " responses in the archives" +
              (all.damaged > 0 ? "; " + std::to_string(all.damaged) + " records cannot be read" : "") + "\n");
  return 0;
}

int report(const Options& options) {
  if (options.by == "host" && options.format == "browsertrix")
    return failed({ErrorCode::invalid_setting, "--format browsertrix is a list of URLs: leave out --by host"});
  if (options.kind == needs_browser) return report_needs_browser(options);
  Found found(options);
  Result<UrlsRead> read = UrlsRead();
  {
    Progress progress(options.quiet);
    read = for_each_url(
        options.target, options.filter, [&](const json& url) { return found.take(url); },
        [&](std::uint64_t looked_at) { progress.show(looked_at, found.urls()); });
  }
  if (!read) return failed(read.error());
  found.end();
  if (!options.quiet) say_aside(std::to_string(found.urls()) + " URLs" + end_words(options) + "\n");
  for (const json& silent : read->unreachable)
    complain("peer %s at %s does not answer: URLs that it alone has are missing here",
             silent.value("id", "").substr(0, 8).c_str(), silent.value("address", "").c_str());
  return read->unreachable.empty() ? 0 : static_cast<int>(ErrorCode::unreachable);
}

// Written into the stores: how many URLs it concerns is counted first.
int retry_stopped(const Options& options) {
  std::uint64_t found = 0;
  const bool excluded = options.kind == "excluded";
  const auto count = [&](const storage::UrlRecord& record) {
    if (options.filter.takes(record) && visited_again(record, excluded)) ++found;
    return true;
  };
  if (const Result<void> read = for_each_record(options.target.directory, count); !read) return failed(read.error());
  std::size_t peers = 0;
  if (found > 0) {
    json question = json::object();
    options.filter.write(question);
    const auto ordered = order_stopped(options.target.directory, "retry", question);
    if (!ordered) return failed(ordered.error());
    peers = *ordered;
  }
  if (options.as_json) {
    say_json({{"urls", found}, {"peers_stopped", peers}});
  } else if (found == 0) {
    say("no URL is to be asked for again\n");
  } else {
    say("%llu URLs will be asked for again when the crawl goes on; its peers do not run now\n",
        static_cast<unsigned long long>(found));
  }
  return 0;
}

int retry(const Options& options) {
  const Result<bool> live = any_runs(options.target);
  if (!live) return failed(live.error());
  if (!*live) return retry_stopped(options);
  json question = json::object();
  options.filter.write(question);
  return tell_order(give_order(options.target, "retry", question),
                    options.kind == "failed" ? "what failed is asked for again" : "what was excluded is judged again",
                    options.as_json);
}

// The kinds and filters that both commands take. A filter is read when the command line is.
void add_choice(CLI::App& command, Options& options, const std::vector<std::string>& names) {
  add_target_options(command, options.target);
  command.add_option("kind", options.kind, "which URLs")->required()->check(CLI::IsMember(names))->type_name("KIND");
  command.add_option("--host", options.filter.host, "only of this host")->type_name("HOST");
  command.add_option("--reason", options.filter.reason, "only with this reason, as the report names it")
      ->type_name("REASON");
  command.add_option("--status", options.filter.status, "only with this HTTP status")->type_name("STATUS");
  command.add_option("--match", options.filter.match, "only URLs in which this RE2 expression matches")
      ->type_name("RE2");
}

bool is_reason(std::string_view name) {
  const std::string_view unknown = storage::reason_name(storage::Reason{255});
  for (int number = 1; number < 255; ++number)
    if (storage::reason_name(static_cast<storage::Reason>(number)) == name) return name != unknown;
  return false;
}

Result<void> complete(Options& options) {
  for (const auto& [name, state] : kinds)
    if (options.kind == name) options.filter.states = {state};
  const std::string& reason = options.filter.reason;
  if (!reason.empty() && !is_reason(reason))
    return fail(ErrorCode::invalid_setting,
                "--reason: there is no reason '" + reason + "'; docs/reference/formats.md " + "lists them");
  json fields = json::object();
  options.filter.write(fields);
  Result<RecordFilter> filter = RecordFilter::read(fields);
  if (!filter) return fail(ErrorCode::invalid_setting, "--match: " + filter.error().message);
  options.filter = std::move(*filter);
  return {};
}

void add(CLI::App& command, const std::shared_ptr<Options>& options, int& code, int (*run)(const Options&)) {
  command.callback([options, run, &code] {
    const Result<void> completed = complete(*options);
    code = completed ? run(*options) : failed(completed.error());
  });
}

}  // namespace

void add_report_commands(CLI::App& app, int& code) {
  const auto reported = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("report", "lists the URLs that failed, were excluded, wait or need a browser, and why");
  add_choice(*command, *reported, {"failed", "excluded", "queued", "fetched", std::string(needs_browser)});
  command
      ->add_option("--format", reported->format,
                   "text, csv, jsonl (one JSON object on a line), or browsertrix (seeds for that crawler)")
      ->check(CLI::IsMember({"text", "csv", "jsonl", "browsertrix"}))
      ->capture_default_str();
  command->add_option("--by", reported->by, "a line for each URL, or one for each host with its sums")
      ->check(CLI::IsMember({"url", "host"}))
      ->capture_default_str();
  command->add_flag("--quiet", reported->quiet, "nothing on standard error but errors");
  add(*command, reported, code, report);

  const auto retried = std::make_shared<Options>();
  command = app.add_subcommand("retry", "asks again for the URLs that failed or were excluded");
  add_choice(*command, *retried, {"failed", "excluded"});
  command->add_flag("--json", retried->as_json, "the answer as JSON");
  add(*command, retried, code, retry);
}

}  // namespace orbweaver
