#include "node/cli/ring_commands.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>

#include "node/cli/ask.h"
#include "node/cli/order_commands.h"
#include "node/cli/query_flags.h"
#include "node/cli/stopped_ring.h"
#include "node/config/setting_def.h"
#include "node/ring_view/ledger.h"
#include "node/scope/re2_patterns.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/tools/seed_file.h"

namespace orbweaver {

namespace {

using nlohmann::json;

struct Options {
  PeerTarget target;
  bool ledger = false;
  bool as_json = false;
  std::vector<std::string> urls;
  std::string seeds_file;
  QueryFlags queries;
  bool print = false;
  std::string url;
  bool one = false;
  bool readmit = false;
  std::string host;
  std::string rule;
  std::string match;
  std::string older_than = "0s";
};

void add_target(CLI::App& command, Options& options) {
  add_target_options(command, options.target);
  command.add_flag("--json", options.as_json, "the answer as JSON");
}

std::uint64_t number(const json& counts, const char* name) { return counts.value(name, std::uint64_t{0}); }

// For peers whose seen-set is, or was, a Bloom filter.
void print_seen(const json& answer) {
  std::uint64_t peers = 0, bytes = 0;
  double missed = 0, worst = 0;
  for (const json& peer : answer["peers"]) {
    const json filter = peer.value("seen_filter", json::object());
    missed += filter.value("missed", 0.0);
    if (!filter.contains("memory_bytes")) continue;
    ++peers;
    bytes += number(filter, "memory_bytes");
    worst = std::max(worst, filter.value("false_positives", 0.0));
    if (filter.value("overfull", false))
      say("%-10s its filter is overfull: %llu entries, planned for %llu; start it with a larger seen_urls\n",
          peer.value("id", "").substr(0, 8).c_str(), static_cast<unsigned long long>(number(filter, "entries")),
          static_cast<unsigned long long>(number(filter, "entries_planned")));
  }
  if (peers > 0)
    say("seen = bloom on %llu peers: %.1f MiB of filters; a new page is mistaken for a seen one with a probability of "
        "%.2g now\n",
        static_cast<unsigned long long>(peers), static_cast<double>(bytes) / (1 << 20), worst);
  if (peers > 0 || missed > 0) say("pages that the seen-set's filter may have missed: %.3g expected\n", missed);
}

// The peers' memory, by share.
void print_memory(const json& answer) {
  for (const json& peer : answer["peers"]) {
    const json memory = peer.value("memory", json::object());
    if (memory.empty()) continue;
    const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    say("%-10s memory: %.0f MiB resident (at most %.0f so far), max_memory %.0f MiB\n",
        peer.value("id", "").substr(0, 8).c_str(), mib(number(memory, "resident")),
        mib(number(memory, "resident_peak")), mib(number(memory, "max_memory")));
    const json shares = memory.value("shares", json::object());
    for (const auto& [name, share] : shares.items())
      if (number(share, "peak") > 0)
        say("%-10s   %-12s %8.1f MiB of %8.1f, at most %8.1f\n", "", name.c_str(), mib(number(share, "used")),
            mib(number(share, "bound")), mib(number(share, "peak")));
  }
}

void print_status(const json& answer) {
  const json& totals = answer["totals"];
  const bool stopped = answer.contains("read_from");
  say("ring %s: %zu peers%s\n", answer.value("ring", "").c_str(), answer["peers"].size(),
      stopped ? ", stopped" : " answer");
  say("%-10s %-22s %-9s %6s %9s %9s %7s %9s %9s %8s\n", "peer", "address", "state", "parts", "fetched", "queued",
      "failed", "excluded", "forwarded", "outbox");
  for (const json& peer : answer["peers"]) {
    const json& counts = peer["counts"];
    say("%-10s %-22s %-9s %6llu %9llu %9llu %7llu %9llu %9llu %8llu\n", peer.value("id", "").substr(0, 8).c_str(),
        peer.value("address", "").c_str(), peer.value("state", "").c_str(),
        static_cast<unsigned long long>(number(peer, "partitions")),
        static_cast<unsigned long long>(number(counts, "fetched")),
        static_cast<unsigned long long>(number(counts, "queued")),
        static_cast<unsigned long long>(number(counts, "failed")),
        static_cast<unsigned long long>(number(counts, "excluded")),
        static_cast<unsigned long long>(number(counts, "forwarded")),
        static_cast<unsigned long long>(number(counts, "outbox")));
  }
  for (const json& peer : answer["peers"]) {
    const json& counts = peer["counts"];
    std::string moves;
    for (const auto& [name, text] : {std::pair("partitions_to_gain", "to gain"),
                                     {"partitions_to_hand_over", "to hand over"},
                                     {"partitions_to_return", "to return"},
                                     {"copies_to_backfill", "copies to backfill"},
                                     {"copies_waiting", "copies in transit"}})
      if (const std::uint64_t left = number(counts, name); left > 0)
        moves += (moves.empty() ? "" : ", ") + std::to_string(left) + " " + text;
    if (!moves.empty())
      say("%-10s holds %llu partitions; %s\n", peer.value("id", "").substr(0, 8).c_str(),
          static_cast<unsigned long long>(number(counts, "partitions_held")), moves.c_str());
    for (const json& reason : peer.value("not_fetching_because", json::array()))
      say("%-10s asks for no page: %s\n", peer.value("id", "").substr(0, 8).c_str(), reason.get<std::string>().c_str());
  }
  for (const json& silent : answer["unreachable"])
    say("%-10s %-22s does not answer\n", silent.value("id", "").substr(0, 8).c_str(),
        silent.value("address", "").c_str());
  say("discovered %llu = fetched %llu + failed %llu + excluded %llu + queued %llu (in flight %llu); in transit to "
      "owners %llu\n",
      static_cast<unsigned long long>(number(totals, "discovered")),
      static_cast<unsigned long long>(number(totals, "fetched")),
      static_cast<unsigned long long>(number(totals, "failed")),
      static_cast<unsigned long long>(number(totals, "excluded")),
      static_cast<unsigned long long>(number(totals, "queued")),
      static_cast<unsigned long long>(number(totals, "in_flight")),
      static_cast<unsigned long long>(number(totals, "outbox")));
  print_seen(answer);
  print_memory(answer);
}

int ledger(const Options& options, const json& status) {
  const Ledger ledger = ledger_of(status);
  if (options.as_json) {
    say_json(to_json(ledger));
  } else {
    say_text(to_text(ledger));
  }
  return ledger.differences.empty() ? 0 : static_cast<int>(ErrorCode::internal);
}

int status(const Options& options) {
  const Result<json> answer = ask_or_read(options.target, "status", json::object());
  if (!answer) return failed(answer.error());
  if (options.ledger) return ledger(options, *answer);
  if (options.as_json) {
    say_json(*answer);
  } else {
    print_status(*answer);
  }
  return 0;
}

// Limits per question. The answer repeats the URLs in canonical form, where each byte becomes up to three.
constexpr std::size_t seeds_per_question = 16'384;
constexpr std::size_t seed_bytes_per_question = 1u << 20;

// Splits the URLs into several questions if needed, and joins the answers.
Result<json> ask_for_seeds(const PeerTarget& target, const std::vector<std::string>& urls) {
  json all = {{"accepted", json::array()}, {"refused", json::array()}};
  for (std::size_t at = 0; at < urls.size();) {
    json some = json::array();
    for (std::size_t bytes = 0; at < urls.size() && some.size() < seeds_per_question; ++at) {
      bytes += urls[at].size();
      if (!some.empty() && bytes > seed_bytes_per_question) break;
      some.push_back(urls[at]);
    }
    const std::size_t asked = some.size();
    const Result<json> answer = ask_peer(target, "seed", {{"urls", std::move(some)}}, true);
    if (!answer)
      return fail(answer.error().code,
                  answer.error().message + (at > asked ? "; the first " + std::to_string(at - asked) + " of " +
                                                             std::to_string(urls.size()) + " URLs are taken"
                                                       : ""));
    for (const char* list : {"accepted", "refused"})
      for (const json& url : answer->value(list, json::array())) all[list].push_back(url);
    for (const char* count : {"accepted_unlisted", "refused_unlisted", "result_pages"})
      all[count] = number(all, count) + number(*answer, count);
  }
  return all;
}

int seed(const Options& options) {
  std::vector<std::string> urls = options.urls;
  if (!options.seeds_file.empty()) {
    const Result<std::vector<std::string>> more = read_seed_file(options.seeds_file);
    if (!more) return failed(more.error());
    urls.insert(urls.end(), more->begin(), more->end());
  }
  const Result<QuerySeeds> queries = query_seeds(options.queries);
  if (!queries) return failed(queries.error());
  urls.insert(urls.end(), queries->urls.begin(), queries->urls.end());
  if (urls.empty())
    return failed({ErrorCode::invalid_input,
                   "no URL given; name some, a file of them with --seeds, or --keywords and an --engine"});
  if (options.print) {
    if (options.as_json) say_json(json({{"urls", urls}}));
    if (!options.as_json)
      for (const std::string& url : urls) say("%s\n", url.c_str());
    return 0;
  }
  const Result<json> answer = ask_for_seeds(options.target, urls);
  if (!answer) return failed(answer.error());
  if (options.as_json) {
    say_json(*answer);
  } else {
    for (const json& url : (*answer)["accepted"]) say("accepted %s\n", url.get<std::string>().c_str());
    for (const json& item : (*answer)["refused"])
      say("refused  %s: %s\n", item.value("url", "").c_str(), item.value("why", "").c_str());
    for (const auto& [word, count] : {std::pair{"accepted", "accepted_unlisted"}, {"refused ", "refused_unlisted"}})
      if (const std::uint64_t more = number(*answer, count); more > 0)
        say("%s %llu more\n", word, static_cast<unsigned long long>(more));
  }
  if (options.queries.any() && answer->value("result_pages", std::uint64_t{0}) == 0)
    complain(
        "the ring's result_pages match none of these search pages, so they are ordinary seeds: their engine is crawled "
        "as a site (docs/how-to/keywords.md)");
  return (*answer)["refused"].empty() ? 0 : static_cast<int>(ErrorCode::invalid_input);
}

int explain(const Options& options) {
  const Result<json> answer = ask_or_read(options.target, "explain", {{"url", options.url}});
  if (!answer) return failed(answer.error());
  if (options.as_json) {
    say_json(*answer);
    return 0;
  }
  if (const std::string url = answer->value("url", ""); url != options.url) {
    std::string rules;
    for (const json& rule : answer->value("canonical_rules", json::array()))
      rules += (rules.empty() ? "" : ", ") + rule.get<std::string>();
    say("%s\n  is here (%s)\n", options.url.c_str(), rules.empty() ? "URL standard" : rules.c_str());
  }
  say("%s\n  %s: %s\n", answer->value("url", "").c_str(), answer->value("state", "").c_str(),
      answer->value("why", "").c_str());
  for (const char* name :
       {"when", "not_before", "depth", "steps", "attempts", "status", "redirects_to", "scope", "hops_off_site", "trap",
        "taken_as_seen", "mirror_of", "visit", "validator", "admitted", "partition", "owner_address"})
    if (answer->contains(name)) {
      const json& value = (*answer)[name];
      say("  %-14s %s\n", name, value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
    }
  return 0;
}

// The traps of all peers, by rule and host. Peers have different hosts, except for a while after a hand-over.
struct TrapsFound {
  std::map<std::pair<std::string, std::string>, json> entries;
  std::uint64_t readmitted = 0;
  std::map<std::string, json> unreachable;  // by identity

  // Returns, for each peer that has more results, where to continue.
  json add(const json& answer) {
    json after = json::object();
    for (const json& peer : answer["peers"]) {
      readmitted += peer.value("readmitted", std::uint64_t{0});
      if (const std::string last = peer.value("last", ""); !last.empty()) after[peer.value("id", "")] = last;
      for (const json& trap : peer.value("traps", json::array())) {
        json& entry = entries[{trap.value("rule", ""), trap.value("host", "")}];
        if (entry.is_null()) {
          entry = trap;
        } else {
          entry["saved"] = number(entry, "saved") + number(trap, "saved");
        }
      }
    }
    for (const json& silent : answer["unreachable"]) unreachable.emplace(silent.value("id", ""), silent);
    return after;
  }

  json report() const {
    json list = json::array();
    std::uint64_t saved = 0;
    for (const auto& [at, entry] : entries) {
      saved += number(entry, "saved");
      list.push_back(entry);
    }
    json silent = json::array();
    for (const auto& [id, peer] : unreachable) silent.push_back(peer);
    return {{"traps", std::move(list)}, {"saved", saved}, {"readmitted", readmitted}, {"unreachable", silent}};
  }
};

int traps(const Options& options) {
  json question = {{"readmit", options.readmit}, {"host", options.host}, {"rule", options.rule}};
  TrapsFound found;
  for (json after = nullptr; after.is_null() || !after.empty();) {
    if (!after.is_null()) question["after"] = after;
    // URLs that are queued again must be written, which needs a running peer.
    const Result<json> answer = options.readmit ? ask_peer(options.target, "traps", question, true)
                                                : ask_or_read(options.target, "traps", question);
    if (!answer) return failed(answer.error());
    for (const json& peer : (*answer)["peers"])
      if (peer.contains("error"))
        return failed({ErrorCode::io, peer.value("address", "a peer") + ": " + peer.value("error", "")});
    after = found.add(*answer);
  }
  const json report = found.report();
  if (options.as_json) {
    say_json(report);
    return 0;
  }
  for (const json& trap : report["traps"]) {
    const std::string other = trap.value("mirror_of", "");
    say("%-18s %-32s %9llu saved%s\n", trap.value("rule", "").c_str(), trap.value("host", "").c_str(),
        static_cast<unsigned long long>(number(trap, "saved")),
        other.empty() ? "" : (", a mirror of " + other).c_str());
    for (const json& example : trap.value("examples", json::array())) say("  %s\n", example.get<std::string>().c_str());
  }
  say("%llu pages saved\n", static_cast<unsigned long long>(number(report, "saved")));
  if (options.readmit) say("%llu queued again\n", static_cast<unsigned long long>(number(report, "readmitted")));
  for (const json& silent : report["unreachable"])
    say("%-10s %-22s does not answer\n", silent.value("id", "").substr(0, 8).c_str(),
        silent.value("address", "").c_str());
  return 0;
}

int forget(const Options& options) {
  const Result<json> answer = ask_peer(options.target, "forget", {{"id", options.url}}, true);
  if (!answer) return failed(answer.error());
  if (options.as_json) {
    say_json(*answer);
  } else {
    say("peer %s is declared gone for good; if it comes back, it is admitted and returns what it has\n",
        answer->value("forgotten", "").substr(0, 8).c_str());
  }
  return 0;
}

int recrawl(const Options& options) {
  const Result<Duration> age = parse_duration(options.older_than);
  if (!age) return failed({ErrorCode::invalid_setting, "--older-than: " + age.error().message});
  if (const std::string wrong = options.match.empty() ? "" : check_pattern(options.match); !wrong.empty())
    return failed({ErrorCode::invalid_setting, "--match: " + wrong});
  const json question = {{"older_than_us", age->count()}, {"host", options.host}, {"match", options.match}};
  return tell_order(give_order(options.target, "recrawl", question),
                    "what ended " + options.older_than + " ago or longer is queued again", options.as_json);
}

int leave_or_stop(const Options& options, const std::string& verb) {
  const Result<json> answer = ask_peer(options.target, verb, json::object(), verb == "stop" && !options.one);
  if (!answer) return failed(answer.error());
  if (options.as_json) {
    say_json(*answer);
  } else if (verb == "leave") {
    say("peer %s hands over its partitions and then ends\n", answer->value("leaving", "").substr(0, 8).c_str());
  } else {
    const std::size_t count = answer->contains("peers") ? (*answer)["peers"].size() : 1;
    say("%zu %s; a peer that is started again continues where it was\n", count,
        count == 1 ? "peer stops" : "peers stop");
  }
  return 0;
}

CLI::App* add(CLI::App& app, const char* name, const char* help, const std::shared_ptr<Options>& options) {
  CLI::App* command = app.add_subcommand(name, help);
  add_target(*command, *options);
  return command;
}

}  // namespace

void add_target_options(CLI::App& command, PeerTarget& target) {
  command.add_option("--peer", target.peer, "any peer of the ring")->type_name("ADDR:PORT");
  command.add_option("--dir,--out", target.directory, "directory of a peer, or of a crawl, on this machine")
      ->type_name("DIR")
      ->default_val("orbweaver-crawl");
  command.add_option("--ring-key-file", target.ring_key_file, "the ring's key")->type_name("FILE");
}

void add_ring_commands(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = add(app, "status", "shows what every peer of the ring has done and has to do", options);
  command->add_flag("--ledger", options->ledger,
                    "check that every discovered URL is accounted for; exit code 10 if not");
  command->callback([options, &code] { code = status(*options); });

  command = add(app, "forget", "declares a peer that is down gone for good: the crawl may end without it", options);
  command->add_option("id", options->url, "the first digits of its identity")->required()->type_name("ID");
  command->callback([options, &code] { code = forget(*options); });

  command = add(app, "seed", "adds URLs to start from; they widen the scope on every peer", options);
  command->add_option("urls", options->urls, "URLs")->type_name("URL");
  command->add_option("--seeds", options->seeds_file, "a file of URLs, one per line; # begins a comment")
      ->type_name("FILE");
  add_query_flags(*command, options->queries);
  command->add_flag("--print", options->print, "print the URLs, one per line; no peer is asked");
  command->callback([options, &code] { code = seed(*options); });

  command = add(app, "recrawl", "visits again what was fetched or failed; asks only for what has changed", options);
  command->add_option("--older-than", options->older_than, "only what ended at least this long ago")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--host", options->host, "only of this host")->type_name("HOST");
  command->add_option("--match", options->match, "only URLs in which this RE2 expression matches")->type_name("RE2");
  command->callback([options, &code] { code = recrawl(*options); });

  command = add(app, "explain", "says what happened to one URL, and why", options);
  command->add_option("url", options->url, "the URL")->required()->type_name("URL");
  command->callback([options, &code] { code = explain(*options); });

  command = add(app, "traps", "shows what the trap rules have kept out, with examples", options);
  command->add_option("--host", options->host, "only of this host")->type_name("HOST");
  command->add_option("--rule", options->rule, "only of this rule")->type_name("RULE");
  command->add_flag("--readmit", options->readmit, "queue these URLs anyway: they are not traps");
  command->callback([options, &code] { code = traps(*options); });

  command = add(app, "leave", "makes one peer hand its partitions to the others and end", options);
  command->callback([options, &code] { code = leave_or_stop(*options, "leave"); });

  command = add(app, "stop", "stops the whole ring, or one peer; nothing is lost", options);
  command->add_flag("--one", options->one, "stop only the peer that is asked");
  command->callback([options, &code] { code = leave_or_stop(*options, "stop"); });
}

}  // namespace orbweaver
