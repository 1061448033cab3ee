#include "node/control/http_port.h"

#include <strings.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "node/control/assets.h"
#include "node/control/control_token.h"
#include "node/control/routes.h"
#include "node/crawl/outside_json.h"
#include "node/settings/endpoint.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::size_t max_body_bytes = 1u << 20;
constexpr std::size_t max_requests = 1000;
constexpr std::size_t max_answer_values = 262'144;  // 40 MB of memory at most; the status of 1,000 peers has 150,000
constexpr std::size_t server_threads = 2;           // a page that waits for the loop holds no other up

// "name", "name:80", "127.0.0.1", "[::1]:9100" (RFC 9110, 7.2).
bool names_this_machine(const std::string& host, const HttpPort::HostNames& hosts) {
  const std::size_t after_address = host.starts_with('[') ? host.find(']') : 0;
  const bool has_port = after_address != std::string::npos && host.find(':', after_address) != std::string::npos;
  const Result<Endpoint> place = parse_endpoint(has_port ? host : host + ":80");
  if (!place) return false;
  if (place->is_ip) return true;
  const auto is_it = [&](const std::string& name) { return ::strcasecmp(name.c_str(), place->host.c_str()) == 0; };
  return is_it("localhost") || std::any_of(hosts.begin(), hosts.end(), is_it);
}

// Nothing of it is for other sites' pages, and nothing is kept.
HttpAnswer page(unsigned status, std::string_view type, std::string body) {
  return {.status = status,
          .fields = {{"Content-Type", std::string(type)},
                     {"Accept-Ranges", "none"},
                     {"Cache-Control", "no-store"},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Referrer-Policy", "no-referrer"},
                     {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

HttpAnswer json_page(unsigned status, const json& body) {
  return page(status, "application/json", json_text(body) + "\n");
}

HttpAnswer error_page(unsigned status, const std::string& why) { return json_page(status, {{"error", why}}); }

HttpAnswer asset_page(const Asset& asset) {
  HttpAnswer answer = page(200, asset.type, std::string(asset.content));
  answer.fields.emplace_back("Content-Security-Policy",
                             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                             "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  return answer;
}

HttpAnswer not_allowed(const char* allowed) {
  HttpAnswer refused = text_answer(405, std::string("only ") + allowed + "\n");
  refused.fields.emplace_back("Allow", allowed);
  return refused;
}

HttpAnswer refusal(const Error& error) {
  return error_page(error.code == ErrorCode::invalid_input ? 400 : 503, error.message);
}

Result<json> read(const Result<std::string>& text) {
  if (!text) return tl::make_unexpected(text.error());
  return read_answer(*text, "the ring", max_answer_values);
}

HttpAnswer order_answer(const std::function<Result<std::string>()>& ask) {
  const Result<json> taken = order_until_taken([&] { return read(ask()); });
  return taken ? json_page(200, *taken) : refusal(taken.error());
}

HttpAnswer text_of(Result<std::string> answer) {
  return answer ? page(200, "application/json", std::move(*answer) + "\n") : refusal(answer.error());
}

Error listen_error(const std::string& listen, const Error& cause) {
  if (cause.code == ErrorCode::in_use) {
    return {ErrorCode::in_use, "the status port " + listen +
                                   " is in use by another process: set status_listen to another port, " +
                                   "127.0.0.1:0 for any free one, or off"};
  }
  return {cause.code, "cannot listen on " + listen + " for status pages: " + cause.message};
}

}  // namespace

HttpAnswer HttpPort::answer(const RequestHead& request) {
  // HTTP/1.0 has no Host field, and no browser uses it.
  if (!request.host && !request.http_1_0) return text_answer(400, "the request names no host\n");
  if (request.host && !names_this_machine(*request.host, hosts_))
    return text_answer(421, "ask by an address or localhost, or name this host in status_hosts\n");
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path.starts_with(api_root)) return api_answer(request);
  if (request.method != "GET" && request.method != "HEAD") return not_allowed("GET, HEAD");
  if (path == "/metrics") return page(200, "text/plain; version=0.0.4", pages_.metrics_text());
  if (path == "/status") return page(200, "application/json", pages_.status_json());
  if (path == "/healthz") {
    const bool healthy = pages_.healthy();
    return page(healthy ? 200 : 503, "text/plain", healthy ? "ok\n" : "not healthy\n");
  }
  if (const Asset* const asset = find_asset(path)) return asset_page(*asset);
  return text_answer(404, "there are /, /metrics, /healthz, /status and /api/v1/openapi.json\n");
}

HttpAnswer HttpPort::api_answer(const RequestHead& request) {
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string_view path = std::string_view(request.target).substr(0, mark);
  const std::string_view query = std::string_view(request.target).substr(std::min(mark + 1, request.target.size()));
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const bool special = path == "/api/v1/openapi.json" || path == "/api/v1/view" || path == "/api/v1/view/stream";
  const Route* const route = find_route(method, path);
  if (route == nullptr && !(special && method == "GET")) {
    const bool get = special || find_route("GET", path) != nullptr;
    if (get || find_route("POST", path) != nullptr) return not_allowed(get ? "GET, HEAD" : "POST");
    return error_page(404, "there is no such route; /api/v1/openapi.json lists them");
  }
  if (path == "/api/v1/openapi.json") return json_page(200, openapi());
  if (path == "/api/v1/view") return view();
  if (path == "/api/v1/view/stream") return stream();
  if (!is_authorized(request.authorization, pages_.token)) {
    HttpAnswer refused = error_page(401,
                                    "this needs the token of the peer's data directory, in 'Authorization: Bearer "
                                    "TOKEN'; see: orbweaver dashboard");
    refused.fields.emplace_back("WWW-Authenticate", "Bearer");
    return refused;
  }
  Result<PeerQuestion> question = question_of(*route, query, request.body);
  if (!question) return error_page(400, question.error().message);
  const bool order = route->reach == Route::Reach::order;
  HttpAnswer later;
  later.later = [this, order, question = std::move(*question)](std::function<void(HttpAnswer)> respond) {
    const bool room = desk_.put([this, order, question, respond] {
      const auto ask = [&] { return pages_.ask(question); };
      respond(order ? order_answer(ask) : text_of(ask()));
    });
    if (!room) respond(error_page(503, "too many requests wait; ask again in a moment"));
  };
  return later;
}

HttpAnswer HttpPort::view() {
  const RingNews news = feed_.latest();
  if (!news.text) return error_page(503, "the ring is being asked; ask again in a moment");
  return page(200, "application/json", *news.text + "\n");
}

// Server-sent events (HTML standard, 9.2): a message for each new view, else a comment, so that a client that is gone
// is noticed.
HttpAnswer HttpPort::stream() {
  HttpAnswer answer = page(200, "text/event-stream", ": views of the ring\n\n");
  answer.every = std::chrono::milliseconds{250};
  answer.more = [this, seen = std::uint64_t{0}, quiet = 0]() mutable -> std::optional<std::string> {
    constexpr int comment_after = 20;
    const RingNews news = feed_.latest();
    if (news.text && news.number != seen) {
      seen = news.number;
      quiet = 0;
      return "id: " + std::to_string(seen) + "\ndata: " + *news.text + "\n\n";
    }
    if (++quiet < comment_after) return std::string();
    quiet = 0;
    return std::string(": no news\n\n");
  };
  return answer;
}

HttpPort::HttpPort(HttpPages pages, HostNames hosts)
    : pages_(std::move(pages)),
      hosts_(std::move(hosts)),
      feed_(
          [this] {
            return read(pages_.ask({.verb = "status", .body = {{"brief", true}}, .for_ring = true}));
          },
          [this](std::size_t limit) {
            return read(pages_.ask({.verb = "hosts", .body = {{"limit", limit}}, .for_ring = true}));
          }) {}

HttpPort::~HttpPort() { stop(); }

Result<void> HttpPort::open(const std::string& listen) {
  if (listen == "off") return {};
  Result<Endpoint> endpoint = parse_endpoint(listen);
  if (!endpoint) return tl::make_unexpected(endpoint.error());
  if (!endpoint->loopback) {
    return fail(ErrorCode::invalid_setting,
                "status_listen " + listen + " is not a loopback address: what is sent there is not encrypted; write " +
                    "127.0.0.1:PORT, and reach it from elsewhere through a proxy or a tunnel");
  }
  // A name would need a look-up; localhost is always 127.0.0.1 here (RFC 6761, 6.3).
  if (!endpoint->is_ip) {
    endpoint->host = "127.0.0.1";
    endpoint->is_ip = true;
  }
  HttpServerConfig config;
  config.address = endpoint->host;
  config.port = endpoint->port;
  config.threads = server_threads;
  config.max_requests = max_requests;
  config.max_body_bytes = max_body_bytes;
  auto opened = HttpServer::open(config);
  if (!opened) return tl::make_unexpected(listen_error(listen, opened.error()));
  server_ = std::move(*opened);
  endpoint->port = server_->port();
  address_ = endpoint->text();
  feed_.start();
  desk_.start();
  server_->serve([this](const RequestHead& request) { return answer(request); });
  return {};
}

void HttpPort::stop() {
  feed_.stop();
  desk_.stop();
  server_.reset();
}

}  // namespace orbweaver
