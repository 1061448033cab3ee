#include "node/cli/doctor_url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include "node/charset/charset.h"
#include "node/cli/contact_check.h"
#include "node/cli/fetch_once.h"
#include "node/cli/order_commands.h"
#include "node/cli/stopped_ring.h"
#include "node/fetch/address_guard.h"
#include "node/html/script_shell.h"
#include "node/http/http_message.h"
#include "node/robots/robots.h"
#include "node/robots/robots_fetch.h"
#include "node/settings/units.h"
#include "node/url/bad_ports.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// Redirects that are followed for a page.
constexpr int max_hops = 5;

std::string took(const FetchResponse& response) {
  return std::to_string((response.ended - response.started).count() / 1000) + " ms";
}

std::string address_text(const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

// Where a redirect leads.
Result<CanonicalUrl> target_of(const std::string& location, const CanonicalUrl& from) {
  const Result<Url> base = Url::parse(from.text());
  if (!base) return tl::make_unexpected(base.error());
  const Result<Url> target = Url::parse(location, &*base);
  if (!target) return tl::make_unexpected(target.error());
  return CanonicalUrl::from(*target);
}

// One run, over one URL.
class UrlDoctor {
 public:
  UrlDoctor(const Settings& settings, Findings& findings) : settings_(&settings), findings_(&findings) {}

  // False: nothing can be asked for.
  bool look_at_form(const std::string& text) {
    const Result<CanonicalUrl> url = Canonicaliser(*settings_).parse(text);
    if (!url) {
      findings_->fail("url.form", url.error().message, "see orbweaver url");
      return false;
    }
    url_ = *url;
    findings_->ok("url.form", url->text() == text ? text : text + " is crawled as " + url->text());
    if (!is_bad_port(url->port(), settings_->allow_ports)) return true;
    findings_->fail("url.port", "port " + std::to_string(url->port()) + " belongs to another protocol",
                    "see allow_ports");
    return false;
  }

  void look_at_crawl(const PeerTarget& target) {
    const Result<json> answer = ask_or_read(target, "explain", {{"url", url_->text()}});
    if (!answer)
      return findings_->warn("url.crawl", "no crawl was asked: " + answer.error().message, "name one: --dir");
    const std::string state = answer->value("state", "");
    const std::string found = state + ": " + answer->value("why", "");
    if (answer->contains("trap"))
      findings_->warn("url.trap", "the rule " + answer->value("trap", "") + " suspects it", "see orbweaver traps");
    if (state == "out of scope")
      return findings_->fail("url.crawl", found, "see scope, include and exclude lists: docs/how-to/scope.md");
    if (state == "excluded" || state == "failed") return findings_->warn("url.crawl", found, "");
    findings_->ok("url.crawl", found);
  }

  void look_at_orders(const PeerTarget& target) {
    const Result<HostOrders> orders = host_orders(target);
    if (!orders) return;  // the crawl was not found: that is said already
    const std::string host(url_->host());
    const HostOrder order = orders->of(host);
    if (order.blocked)
      return findings_->fail("url.orders", "an operator has blocked " + host,
                             "orbweaver orders names the order, orbweaver unblock takes it back");
    if (order.paused)
      return findings_->warn("url.orders", "an operator has paused " + host,
                             "orbweaver orders names the order, orbweaver resume takes it back");
    if (orders->ring_paused)
      return findings_->warn("url.orders", "an operator has paused the crawl", "orbweaver resume");
    if (order.delay)
      findings_->ok("url.orders", "by an operator's order " + host + " is left alone for " +
                                      duration_text(*order.delay) + " after each request");
  }

  bool look_at_address() {
    if (!settings_->proxy.empty()) {
      findings_->ok("url.address", "a proxy looks it up");
      return true;
    }
    const Result<Looked> looked = look_up(std::string(url_->bare_host()), url_->port(), *settings_);
    if (!looked || looked->address.empty()) {
      findings_->fail("url.address", looked ? "no name server has an address for it" : looked.error().message,
                      "is the name right, and does the DNS answer here?");
      return false;
    }
    findings_->ok("url.address", address_text(looked->address));
    return true;
  }

  // The rules that apply to the page, and false when they keep it out.
  bool look_at_robots() {
    if (!settings_->robots) {
      findings_->warn("url.robots", "not asked for: robots = no", "only for your own sites");
      return true;
    }
    Result<CanonicalUrl> at = CanonicalUrl::parse(std::string(url_->origin()) + "/robots.txt");
    for (int hop = 0; at && hop <= max_robots_hops; ++hop) {
      const Result<FetchResponse> answer = ask(*at, settings_->robots_timeout);
      if (!answer) return note_unreachable("url.robots", answer.error().message);
      if (answer->error != FetchError::none) return note_error("url.robots", *answer);
      const auto target = header_value(answer->response_head, "location");
      if (answer->status < 300 || answer->status >= 400 || !target) return judge_robots(*answer);
      at = target_of(*target, *at);
    }
    findings_->ok("url.robots", "its redirects lead nowhere: all is allowed (RFC 9309, 2.3.1.2)");
    return true;
  }

  void look_at_answer() {
    CanonicalUrl at = *url_;
    for (int hop = 0; hop <= max_hops; ++hop) {
      const Result<FetchResponse> answer = ask(at, {});
      if (!answer) return void(note_unreachable("url.answer", answer.error().message));
      if (answer->error != FetchError::none) return void(note_error("url.answer", *answer));
      if (hop == 0) look_at_tls(*answer);
      const auto target = header_value(answer->response_head, "location");
      if (answer->status < 300 || answer->status >= 400 || !target) return judge(*answer);
      const Result<CanonicalUrl> to = target_of(*target, at);
      if (!to) return findings_->fail("url.answer", "a redirect to " + *target + ", which is not a URL of the web", "");
      findings_->ok("url.redirect", std::to_string(answer->status) + " to " + to->text());
      if (to->origin() != at.origin())
        return findings_->warn("url.answer", "it leads to another site, which is not asked",
                               "orbweaver doctor " + to->text());
      at = *to;
    }
    findings_->fail("url.answer", "more than " + std::to_string(max_hops) + " redirects", "do they end?");
  }

 private:
  // A request to the site, as late as the crawl would make it.
  Result<FetchResponse> ask(const CanonicalUrl& url, Duration timeout) {
    if (asked_) std::this_thread::sleep_for(std::max(settings_->delay, crawl_delay_));
    asked_ = true;
    return ask_once(url, *settings_, timeout);
  }
  bool note_unreachable(const std::string& check, const std::string& cause) {
    findings_->fail(check, cause, "");
    return false;
  }
  bool note_error(const std::string& check, const FetchResponse& answer) {
    const std::string range = answer.error == FetchError::address_refused ? private_range(*url_, *settings_) : "";
    findings_->fail(check, answer.error_text,
                    range.empty() ? "orbweaver explain says what a crawl makes of it" : "--allow-private " + range);
    return false;
  }
  bool judge_robots(const FetchResponse& answer) {
    const int status = answer.status;
    if (status == 429 || status >= 500) {
      findings_->fail("url.robots", "the server answered " + std::to_string(status) + " to it: all is disallowed",
                      "visit the site later; for your own sites: --robots no");
      return false;
    }
    if (status >= 400) {
      findings_->ok("url.robots", "there is none (" + std::to_string(status) + "): all is allowed");
      return true;
    }
    const RobotsRules rules = RobotsRules::parse(decoded_body(answer, *settings_), settings_->user_agent);
    crawl_delay_ = std::min(rules.crawl_delay().value_or(Duration{}), Duration(std::chrono::minutes{1}));
    const RobotsRules::Decision decision = rules.decide(url_->path_and_query());
    const std::string rule =
        decision.rule.empty() ? "no rule matches" : "line " + std::to_string(decision.line) + ": " + decision.rule;
    if (decision.allowed) {
      findings_->ok("url.robots", "allowed; " + rule);
    } else {
      findings_->fail("url.robots", "disallowed by " + rule, "for your own sites: --robots no");
    }
    return decision.allowed;
  }
  void look_at_tls(const FetchResponse& answer) {
    if (url_->scheme() != "https") return;
    if (answer.tls_fault == FetchError::none)
      return findings_->ok("url.tls", "the certificate is valid for " + std::string(url_->host()));
    findings_->warn("url.tls", "the certificate has a fault, which tls_verify = record lets pass", "tell the site");
  }
  void judge(const FetchResponse& answer) {
    const std::string what = std::to_string(answer.status) + " after " + took(answer) + ", " +
                             std::to_string(answer.body.size()) + " bytes of " + content_type_of(answer.response_head) +
                             ", from " + answer.ip;
    if (header_value(answer.response_head, "cf-mitigated").value_or("") == "challenge")
      return findings_->fail("url.answer", what + "; it is a challenge for browsers, not the page",
                             "ask the site's owner to let this crawler in; Orbweaver does not get past it");
    if (answer.status == 401 || answer.status == 403)
      return findings_->fail("url.answer", what, "it refuses crawlers or wants a login (setting site_headers)");
    if (answer.status == 402) return findings_->fail("url.answer", what, "it wants to be paid: ask the site's owner");
    if (answer.status == 451) return findings_->fail("url.answer", what, "it is withheld for legal reasons (RFC 7725)");
    if (answer.status == 429 || answer.status == 503)
      return findings_->fail("url.answer", what, "it wants fewer requests: raise --delay, and visit it again later");
    if (answer.status >= 400) return findings_->fail("url.answer", what, "");
    if (const auto tag = header_value(answer.response_head, "x-robots-tag"); tag)
      findings_->warn("url.indexing", "X-Robots-Tag: " + *tag, "see obey_noindex and obey_nofollow");
    findings_->ok("url.answer", what);
    look_at_content(answer);
  }
  void look_at_content(const FetchResponse& answer) {
    const std::string type = content_type_of(answer.response_head);
    if (media_type(type) != "text/html") return;
    const std::string body = decoded_body(answer, *settings_);
    DecodedText text;
    decode_html(body, type, text);
    const html::ScriptShell shell = html::look_for_shell(text.utf8);
    if (shell.is_shell())
      findings_->warn(
          "url.browser", "scripts make its content: " + shell.why(),
          "a crawler that runs no scripts finds nothing in it; orbweaver report needs-browser lists such pages");
  }

  const Settings* settings_;
  Findings* findings_;
  std::optional<CanonicalUrl> url_;
  Duration crawl_delay_{};
  bool asked_ = false;
};

}  // namespace

void look_at_url(const std::string& text, const PeerTarget& target, const SettingsSeen& settings, Findings& findings) {
  UrlDoctor doctor(settings.values, findings);
  if (!doctor.look_at_form(text)) return;
  doctor.look_at_crawl(target);
  doctor.look_at_orders(target);
  if (settings.hidden.contains("proxy"))
    return findings.warn("url.proxy", "the crawl goes through a proxy with a password, which its peers do not tell",
                         "the page is not asked for from here: see orbweaver explain");
  if (settings.hidden.contains("site_headers"))
    findings.warn("url.headers", "the peers send header lines to some sites (site_headers), this command does not",
                  "401 and 403 may come from that");
  if (const Result<void> contact = check_contact(settings.values, {text}); !contact)
    return findings.fail("url.contact", contact.error().message,
                         "for this command: ORBWEAVER_CONTACT, without a crawl");
  if (doctor.look_at_address() && doctor.look_at_robots()) doctor.look_at_answer();
}

}  // namespace orbweaver
