#include "node/tools/robots_command.h"

#include <istream>
#include <map>
#include <optional>
#include <ostream>
#include <string>

#include "node/robots/robots.h"
#include "node/text/base64.h"
#include "node/text/printable.h"

namespace orbweaver {
namespace {

// The number of agents cached for one file; a batch with more parses some again.
constexpr std::size_t max_parsed_agents = 256;

// Path and query of a URL as text, from the first '/', '?' or ';' after the authority, without the fragment.
std::string path_and_query_of(std::string_view url) {
  url = url.substr(0, url.find('#'));
  if (!url.starts_with('/') || url.starts_with("//")) {
    const std::size_t scheme = url.find("//");
    // A "//" inside a path or query ("a/b?c=http://d") does not end a scheme.
    if (scheme != std::string_view::npos && scheme <= url.find_first_of("/?")) url.remove_prefix(scheme + 2);
    url.remove_prefix(std::min(url.find_first_of("/?;"), url.size()));
  }
  std::string path(url);
  if (path.empty() || path.front() != '/') path.insert(0, 1, '/');
  return path;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet > 0x20 && octet < 0x7F) {
      out += c;
    } else {
      out += '%';
      out += hex[octet >> 4];
      out += hex[octet & 15];
    }
  }
  return out;
}

// The state of a batch: the current file and the rules already parsed from it.
class Batch {
 public:
  nlohmann::json answer(const std::string& line) {
    const nlohmann::json request = nlohmann::json::parse(line, nullptr, false);
    if (!request.is_object()) return {{"error", "not a JSON object"}};
    const auto agent = request.find("agent");
    const auto url = request.find("url");
    if (agent == request.end() || !agent->is_string() || url == request.end() || !url->is_string()) {
      return {{"error", "\"agent\" and \"url\" must be strings"}};
    }
    if (const auto body = request.find("robots_b64"); body != request.end() && !body->is_null()) {
      const auto decoded = body->is_string() ? base64_decoded(body->get_ref<const std::string&>()) : std::nullopt;
      if (!decoded) return {{"error", "\"robots_b64\" is not base64"}};
      body_ = *decoded;
      rules_.clear();
    }
    const RobotsRules& rules = rules_for(agent->get_ref<const std::string&>());
    return {{"allowed", rules.allowed(path_and_query_of(url->get_ref<const std::string&>()))}};
  }

 private:
  const RobotsRules& rules_for(const std::string& agent) {
    const auto known = rules_.find(agent);
    if (known != rules_.end()) return known->second;
    if (rules_.size() >= max_parsed_agents) rules_.clear();
    return rules_.emplace(agent, RobotsRules::parse(body_, agent)).first->second;
  }

  std::string body_;
  std::map<std::string, RobotsRules> rules_;
};

}  // namespace

nlohmann::json robots_report(std::string_view body, std::string_view agent, std::string_view url) {
  const RobotsRules rules = RobotsRules::parse(body, agent);
  const RobotsRules::Decision decision = rules.decide(percent_encoded(path_and_query_of(url)));
  nlohmann::json report = {{"allowed", decision.allowed},
                           {"rule", decision.rule},
                           {"line", decision.line},
                           {"group", rules.group()},
                           {"group_line", rules.group_line()},
                           {"sitemaps", rules.sitemaps()},
                           {"crawl_delay_seconds", nullptr}};
  if (rules.crawl_delay()) {
    report["crawl_delay_seconds"] = std::chrono::duration<double>(*rules.crawl_delay()).count();
  }
  return report;
}

std::string robots_text(const nlohmann::json& reports) {
  std::string out;
  const auto text_of = [](const nlohmann::json& value) { return value.get<std::string>(); };
  for (const nlohmann::json& report : reports) {
    out += (report.at("allowed").get<bool>() ? "allowed     " : "disallowed  ") + text_of(report.at("url")) + "\n";
    if (report.at("line") == 0) {
      out += "            no rule matches it\n";
    } else {
      out += "            line " + report.at("line").dump() + ": " + text_of(report.at("rule")) + "\n";
    }
  }
  if (reports.empty()) return out;
  const nlohmann::json& file = reports.front();  // all reports contain the same facts about the file
  const std::string group = text_of(file.at("group"));
  out += group.empty() ? "group:       none is for this crawler\n"
                       : "group:       " + group + " (line " + file.at("group_line").dump() + ")\n";
  const nlohmann::json& delay = file.at("crawl_delay_seconds");
  out += "crawl-delay: " + (delay.is_null() ? std::string("none") : delay.dump() + " s") + "\n";
  for (const nlohmann::json& sitemap : file.at("sitemaps")) out += "sitemap:     " + text_of(sitemap) + "\n";
  return out;
}

int robots_batch(std::istream& in, std::ostream& out) {
  Batch batch;
  int exit_code = 0;
  std::string line;
  while (std::getline(in, line)) {
    const nlohmann::json answer = batch.answer(line);
    if (answer.contains("error")) exit_code = 2;
    out << printable_json(answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) << '\n';
  }
  out.flush();
  return exit_code;
}

}  // namespace orbweaver
