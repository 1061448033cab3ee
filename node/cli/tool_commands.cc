#include "node/cli/tool_commands.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/cli/ask.h"
#include "node/cli/fetch_once.h"
#include "node/cli/setting_flags.h"
#include "node/config/settings_table.h"
#include "node/process/metrics.h"
#include "node/process/ring_key.h"
#include "node/settings/settings.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/tools/links_command.h"
#include "node/tools/robots_command.h"
#include "node/tools/sitemap_command.h"
#include "node/tools/url_command.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

namespace {

using nlohmann::json;

void print(const json& value) { say_json(value); }

bool is_url(const std::string& text) { return text.starts_with("http://") || text.starts_with("https://"); }

struct ToolOptions {
  std::vector<std::string> sources;
  std::string base;
  std::string content_type;
  std::string parser = "stream";
  std::string agent = "orbweaver";
  std::vector<std::string> allow_private;
  bool batch = false;
  bool as_json = false;
  SettingFlags flags;
  PeerTarget target;
};

// All settings except `wanted`: a tool needs only the wanted ones, and the others have no effect there.
std::vector<std::string> settings_but(const std::vector<std::string>& wanted) {
  std::vector<std::string> others;
  for (const SettingRow& row : setting_rows())
    if (std::find(wanted.begin(), wanted.end(), row.name) == wanted.end()) others.push_back(row.name);
  return others;
}

const std::vector<std::string> canonical_settings = {"strip_tracking", "strip_parameters", "sort_parameters",
                                                     "strip_sessions", "strip_index",      "trailing_slash",
                                                     "join_www",       "join_schemes",     "hash_bang"};

int links(const ToolOptions& options) {
  const ParserKind parser = options.parser == "tidy" ? ParserKind::tidy : ParserKind::stream;
  if (options.batch) return links_batch(std::cin, std::cout, parser);
  const Result<LoadedSettings> settings = options.flags.load();
  if (!settings) return failed(settings.error());
  const LinkRules rules{Canonicaliser(settings->values), LinkChoice::from(settings->values.extra_links),
                        settings->values.page_requisites};
  if (options.sources.size() != 1)
    return failed({ErrorCode::invalid_input, "name one HTML file (- for standard input) or URL, or use --batch"});
  const std::string& source = options.sources.front();
  if (is_url(source)) {
    const Result<FetchedPage> page = fetch_once(source, options.allow_private);
    if (!page) return failed(page.error());
    json report = links_report(page->body, options.base.empty() ? source : options.base, page->content_type, parser,
                               rules, page->link_fields);
    report["status"] = page->status;
    if (!page->location.empty()) report["location"] = page->location;
    print(report);
    return 0;
  }
  const Result<std::string> html = read_file(source);
  if (!html) return failed(html.error());
  if (options.base.empty())
    return failed({ErrorCode::invalid_input, "a file's links need the URL that it came from: --base URL"});
  print(links_report(*html, options.base, options.content_type, parser, rules));
  return 0;
}

int url(const ToolOptions& options) {
  if (options.batch) return url_batch(std::cin, std::cout);
  if (options.sources.empty()) return failed({ErrorCode::invalid_input, "name a URL, or use --batch"});
  const Result<LoadedSettings> settings = options.flags.load();
  if (!settings) return failed(settings.error());
  const Canonicaliser canonicaliser(settings->values);
  const bool ask = !options.target.peer.empty() || !options.target.directory.empty();
  int code = 0;
  for (const std::string& text : options.sources) {
    const auto base = options.base.empty() ? std::nullopt : std::optional<std::string_view>(options.base);
    Result<json> report = url_report(text, base, canonicaliser);
    if (report && ask) {
      const Result<json> explained = ask_peer(options.target, "explain", {{"url", (*report)["href"]}}, true);
      if (!explained) return failed(explained.error());
      add_owner(*report, *explained);
    }
    if (report) {
      print(*report);
    } else {
      code = failed(report.error());
    }
  }
  return code;
}

int robots(const ToolOptions& options) {
  if (options.batch) return robots_batch(std::cin, std::cout);
  if (options.sources.size() < 2)
    return failed(
        {ErrorCode::invalid_input, "name a robots.txt (a file, - or a URL) and the URLs to judge, or use --batch"});
  std::string body;
  if (is_url(options.sources.front())) {
    const Result<FetchedPage> page = fetch_once(options.sources.front(), options.allow_private);
    if (!page) return failed(page.error());
    if (page->status != 200)
      return failed({ErrorCode::unreachable, options.sources.front() + " answered " + std::to_string(page->status)});
    body = page->body;
  } else {
    Result<std::string> file = read_file(options.sources.front());
    if (!file) return failed(file.error());
    body = std::move(*file);
  }
  json reports = json::array();
  for (std::size_t i = 1; i < options.sources.size(); ++i) {
    json report = robots_report(body, options.agent, options.sources[i]);
    report["url"] = options.sources[i];
    reports.push_back(std::move(report));
  }
  if (options.as_json) {
    print(reports);
  } else {
    say_text(robots_text(reports));
  }
  return 0;
}

int sitemap(const ToolOptions& options) {
  if (options.sources.size() != 1)
    return failed({ErrorCode::invalid_input, "name one sitemap: a file, - for standard input, or a URL"});
  const std::string& source = options.sources.front();
  std::string body;
  std::string content_type = options.content_type;
  if (is_url(source)) {
    Result<FetchedPage> page = fetch_once(source, options.allow_private);
    if (!page) return failed(page.error());
    if (page->status != 200)
      return failed({ErrorCode::unreachable, source + " answered " + std::to_string(page->status) +
                                                 (page->location.empty() ? "" : ", see " + page->location)});
    body = std::move(page->body);
    if (content_type.empty()) content_type = page->content_type;
  } else {
    Result<std::string> file = read_file(source);
    if (!file) return failed(file.error());
    body = std::move(*file);
  }
  const json report = sitemap_report(body, content_type,
                                     !options.base.empty() ? options.base
                                     : is_url(source)      ? source
                                                           : std::string());
  if (options.as_json) {
    print(report);
  } else {
    say_text(sitemap_text(report));
  }
  return report.at("kind") == "unknown" ? static_cast<int>(ErrorCode::invalid_input) : 0;
}

int settings(bool markdown, bool metrics) {
  if (markdown) {
    say_text(metrics ? metrics_markdown() : settings_markdown());
    return 0;
  }
  if (metrics) {
    for (const MetricRow& row : metric_rows())
      say("orbweaver_%-28s %s\n", std::string(row.name).c_str(), std::string(row.help).c_str());
    return 0;
  }
  for (const SettingRow& row : setting_rows())
    say("%-24s %-10s %-14s %s\n", row.name.c_str(), row.ring_wide ? "ring-wide" : "own", row.default_text.c_str(),
        row.sentence.c_str());
  return 0;
}

}  // namespace

void add_tool_commands(CLI::App& app, int& code) {
  const auto options = std::make_shared<ToolOptions>();
  CLI::App* command = app.add_subcommand("links", "prints the links of an HTML page, as the crawler finds them (JSON)");
  command->add_option("source", options->sources, "an HTML file, - for standard input, or a URL");
  command->add_option("--base", options->base, "the URL that the page came from")->type_name("URL");
  command->add_option("--content-type", options->content_type, "the Content-Type it came with")->type_name("TYPE");
  command->add_option("--parser", options->parser, "stream (the crawl's tokenizer) or tidy (its tree)")
      ->check(CLI::IsMember({"stream", "tidy"}))
      ->capture_default_str();
  command->add_option("--allow-private", options->allow_private, "private address range that may be asked")
      ->type_name("CIDR");
  command->add_flag("--batch", options->batch, R"(JSON lines: {"base_url", "html_b64", "charset"} in, {"links"} out)");
  std::vector<std::string> link_settings = canonical_settings;
  link_settings.insert(link_settings.end(), {"extra_links", "page_requisites"});
  add_setting_flags(*command, options->flags, settings_but(link_settings));
  command->callback([options, &code] { code = links(*options); });

  command = app.add_subcommand(
      "url", "prints a URL as the crawler reads it: WHATWG form, canonical form, host, partition (JSON)");
  command->add_option("url", options->sources, "URLs")->type_name("URL");
  command->add_option("--base", options->base, "resolve against this")->type_name("URL");
  command->add_flag("--batch", options->batch, R"(JSON lines: {"input", "base"} in, {"href"} out)");
  command
      ->add_option("--peer", options->target.peer, "a peer of a ring: that ring's canonical form, and the URL's owner")
      ->type_name("ADDR:PORT");
  command->add_option("--dir", options->target.directory, "the same, by the directory of a peer or of a crawl")
      ->type_name("DIR");
  command->add_option("--ring-key-file", options->target.ring_key_file, "the ring's key")->type_name("FILE");
  add_setting_flags(*command, options->flags, settings_but(canonical_settings));
  command->callback([options, &code] { code = url(*options); });

  command = app.add_subcommand("robots", "says what a robots.txt allows, and which line decides");
  command->add_option("source", options->sources, "robots.txt (a file, - or a URL), then the URLs to judge");
  command->add_option("--agent", options->agent, "for whom")->capture_default_str();
  command->add_option("--allow-private", options->allow_private, "private address range that may be asked")
      ->type_name("CIDR");
  command->add_flag("--batch", options->batch, R"(JSON lines: {"robots_b64", "agent", "url"} in, {"allowed"} out)");
  command->add_flag("--json", options->as_json, "as JSON");
  command->callback([options, &code] { code = robots(*options); });

  command = app.add_subcommand("sitemap", "prints what the crawler reads in a sitemap or feed");
  command->add_option("source", options->sources, "a file, - for standard input, or a URL");
  command->add_option("--base", options->base, "the URL that the sitemap came from")->type_name("URL");
  command->add_option("--content-type", options->content_type, "the Content-Type it came with")->type_name("TYPE");
  command->add_option("--allow-private", options->allow_private, "private address range that may be asked")
      ->type_name("CIDR");
  command->add_flag("--json", options->as_json, "as JSON");
  command->callback([options, &code] { code = sitemap(*options); });

  const auto markdown = std::make_shared<bool>(false);
  const auto metrics = std::make_shared<bool>(false);
  command = app.add_subcommand("settings", "prints every setting, its default and what it does");
  command->add_flag("--markdown", *markdown, "print it as docs/reference/settings.md");
  command->add_flag("--metrics", *metrics, "print the metrics instead");
  command->callback([markdown, metrics, &code] { code = settings(*markdown, *metrics); });

  const auto key_file = std::make_shared<std::string>();
  command = app.add_subcommand("ring-key", "makes a new secret key for a ring, for --ring-key-file");
  command->add_option("file", *key_file, "a new file for it, readable by its owner only; none: standard output")
      ->type_name("FILE");
  command->callback([key_file, &code] {
    if (!key_file->empty()) {
      const Result<void> made = make_ring_key_file(*key_file, Durability::power);  // peers will rely on it
      code = made ? 0 : failed(made.error());
      return;
    }
    const std::string key = ring::make_ring_secret();
    if (key.empty()) {
      code = failed({ErrorCode::unsupported, "this build of libzmq has no CURVE; install Debian's libzmq5"});
      return;
    }
    say("%s\n", key.c_str());
  });
}

}  // namespace orbweaver
