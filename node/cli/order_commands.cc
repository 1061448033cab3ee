#include "node/cli/order_commands.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "node/cli/ask.h"
#include "node/cli/ring_commands.h"
#include "node/cli/stopped_orders.h"
#include "node/cli/stopped_ring.h"
#include "node/cli/url_source.h"
#include "node/control/peer_question.h"
#include "node/coordination/operator_orders.h"
#include "node/settings/units.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

struct Options {
  PeerTarget target;
  std::string host;
  std::string delay;
  bool as_json = false;
};

int order(const Options& options, const std::string& kind, const std::string& value, const std::string& done) {
  const json body = {{"kind", kind}, {"host", options.host}, {"value", value}};
  return tell_order(give_order(options.target, "order", body), done, options.as_json);
}

std::string whom(const Options& options) { return options.host.empty() ? "the crawl" : "host " + options.host; }

int unblock(const Options& options) {
  const Result<json> lifted =
      give_order(options.target, "order", {{"kind", "block"}, {"host", options.host}, {"value", ""}});
  if (!lifted) return failed(lifted.error());
  // What was excluded meanwhile: of other hosts too, whose robots.txt is there. What another order blocks is excluded
  // again.
  const json again = {{"states", {"excluded"}}, {"reason", "operator"}};
  return tell_order(give_order(options.target, "retry", again), whom(options) + " is asked again", options.as_json);
}

int delay(const Options& options) {
  std::string value;
  if (options.delay != "default") {
    const Result<Duration> wanted = parse_duration(options.delay);
    if (!wanted) return failed({ErrorCode::invalid_setting, "the delay: " + wanted.error().message});
    value = std::to_string(wanted->count());
  }
  return order(options, "delay", value,
               whom(options) + (value.empty() ? " has the delay of the settings again"
                                              : " is left alone for " + options.delay + " after each request"));
}

std::uint64_t number_of(const json& row) { return row.value("number", std::uint64_t{0}); }

// "pause a.test", "delay a.test 5s".
std::string words_of(const json& row) {
  const std::string name = row.value("name", "");
  const std::string value = row.value("value", "");
  if (value.empty()) return name + ": taken back";
  if (name.starts_with("delay ")) return name + " " + duration_text(Duration(std::strtoll(value.c_str(), nullptr, 10)));
  return name.starts_with("visit ") ? "visit again " + value : name;
}

// The rows by name. Of one peer's answer; or of all directories', which may not know the same.
Result<std::map<std::string, json>> latest_orders(const PeerTarget& target) {
  const Result<json> answer = ask_or_read(target, "orders", json::object());
  if (!answer) return tl::make_unexpected(answer.error());
  std::map<std::string, json> latest;
  for (const json& part : answer->contains("peers") ? (*answer)["peers"] : json::array({*answer}))
    for (const json& row : part.value("orders", json::array()))
      if (json& known = latest[row.value("name", "")]; known.is_null() || number_of(known) < number_of(row))
        known = row;
  return latest;
}

int list(const Options& options) {
  Result<std::map<std::string, json>> latest = latest_orders(options.target);
  if (!latest) return failed(latest.error());
  json rows = json::array();
  for (auto& [name, row] : *latest) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) { return number_of(a) < number_of(b); });
  if (options.as_json) {
    say_json(rows);
    return 0;
  }
  for (const json& row : rows) say("%s  %s\n", row.value("given", "").c_str(), words_of(row).c_str());
  if (rows.empty()) say("no order was given\n");
  return 0;
}

CLI::App* add(CLI::App& app, const char* name, const char* help, Options& options) {
  CLI::App* command = app.add_subcommand(name, help);
  add_target_options(*command, options.target);
  command->add_flag("--json", options.as_json, "the answer as JSON");
  return command;
}

std::size_t peers_that_know(const json& answer) {
  return answer.contains("peers_stopped") ? answer.value("peers_stopped", std::size_t{0}) : answer.at("peers").size();
}

}  // namespace

Result<HostOrders> host_orders(const PeerTarget& target) {
  const Result<std::map<std::string, json>> latest = latest_orders(target);
  if (!latest) return tl::make_unexpected(latest.error());
  OperatorOrders orders;
  for (const auto& [name, row] : *latest) {
    OperatorOrder order;
    order.name = name;
    order.value = row.value("value", "");
    order.number = number_of(row);
    orders.take(std::move(order));
  }
  orders.settle();
  return orders.hosts();
}

Result<json> give_order(const PeerTarget& target, const std::string& verb, const json& body) {
  const Result<bool> live = any_runs(target);
  if (!live) return tl::make_unexpected(live.error());
  if (!*live) {
    const Result<std::size_t> peers = order_stopped(target.directory, verb, body);
    if (!peers) return tl::make_unexpected(peers.error());
    return json{{"peers_stopped", *peers}, {"unreachable", json::array()}};
  }
  return order_until_taken([&] { return ask_peer(target, verb, body, true); });
}

std::string known_words(const json& answer) {
  const std::size_t peers = peers_that_know(answer);
  const std::string known = peers == 1 ? "1 peer knows it" : std::to_string(peers) + " peers know it";
  if (!answer.contains("peers_stopped")) return known;
  return known +
         (peers == 1 ? ", and acts by it when it is started again" : ", and act by it when they are started again");
}

int tell_order(const Result<json>& answer, const std::string& done, bool as_json) {
  if (!answer) return failed(answer.error());
  if (as_json) {
    say_json(*answer);
    return 0;
  }
  const std::size_t peers = peers_that_know(*answer);
  say("%s; %s\n", done.c_str(), known_words(*answer).c_str());
  const json& silent = (*answer)["unreachable"];
  for (const json& peer : silent)
    complain("peer %s at %s does not answer: it learns of the order when it is back",
             peer.value("id", "").substr(0, 8).c_str(), peer.value("address", "").c_str());
  if (peers == 1 && !silent.empty()) complain("the order is on one disk only until then");
  return 0;
}

void add_order_commands(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      add(app, "pause", "asks for nothing more, from any host or from one, until it is resumed", *options);
  command->add_option("--host", options->host, "only from this host; *.HOST: and from all below it")->type_name("HOST");
  command->callback([options, &code] { code = order(*options, "pause", "yes", whom(*options) + " is paused"); });

  command = add(app, "resume", "takes back a pause", *options);
  command->add_option("--host", options->host, "of this host; else of the whole crawl")->type_name("HOST");
  command->callback([options, &code] { code = order(*options, "pause", "", whom(*options) + " goes on"); });

  command = add(app, "block", "asks a host for nothing more; what is queued of it is excluded", *options);
  command->add_option("host", options->host, "the host, or *.HOST: that host and all below it")
      ->required()
      ->type_name("HOST");
  command->callback([options, &code] { code = order(*options, "block", "yes", whom(*options) + " is blocked"); });

  command = add(app, "unblock", "takes back a block; what was excluded for it is queued again", *options);
  command->add_option("host", options->host, "the host, or *.HOST: that host and all below it")
      ->required()
      ->type_name("HOST");
  command->callback([options, &code] { code = unblock(*options); });

  command = add(app, "delay", "sets how long a host is left alone after each request", *options);
  command->add_option("host", options->host, "the host, or *.HOST: that host and all below it")
      ->required()
      ->type_name("HOST");
  command->add_option("delay", options->delay, "as 500ms or 10s; default: as the settings say")
      ->required()
      ->type_name("DURATION");
  command->callback([options, &code] { code = delay(*options); });

  command = add(app, "orders", "lists what operators have ordered, the last order last", *options);
  command->callback([options, &code] { code = list(*options); });
}

}  // namespace orbweaver
