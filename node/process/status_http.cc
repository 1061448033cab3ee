#include "node/process/status_http.h"

#include <strings.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "node/settings/endpoint.h"

namespace orbweaver {
namespace {

// "name", "name:80", "127.0.0.1", "[::1]:9100" (RFC 9110, 7.2).
bool names_this_machine(const std::string& host, const std::vector<std::string>& hosts) {
  const std::size_t after_address = host.starts_with('[') ? host.find(']') : 0;
  const bool has_port = after_address != std::string::npos && host.find(':', after_address) != std::string::npos;
  const Result<Endpoint> place = parse_endpoint(has_port ? host : host + ":80");
  if (!place) return false;
  if (place->is_ip) return true;
  const auto is_it = [&](const std::string& name) { return ::strcasecmp(name.c_str(), place->host.c_str()) == 0; };
  return is_it("localhost") || std::any_of(hosts.begin(), hosts.end(), is_it);
}

HttpAnswer page(unsigned status, const char* type, std::string body) {
  return {.status = status,
          .fields = {{"Content-Type", type}, {"Accept-Ranges", "none"}, {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
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

HttpAnswer status_answer(const RequestHead& request, const StatusCallbacks& callbacks,
                         const std::vector<std::string>& hosts) {
  // HTTP/1.0 has no Host field, and no browser uses it.
  if (!request.host && !request.http_1_0) return text_answer(400, "the request names no host\n");
  if (request.host && !names_this_machine(*request.host, hosts))
    return text_answer(421, "ask by an address or localhost, or name this host in status_hosts\n");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer refused = text_answer(405, "only GET and HEAD\n");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/metrics") return page(200, "text/plain; version=0.0.4", callbacks.metrics_text());
  if (path == "/status") return page(200, "application/json", callbacks.status_json());
  if (path == "/healthz") {
    const bool healthy = callbacks.healthy();
    return page(healthy ? 200 : 503, "text/plain", healthy ? "ok\n" : "not healthy\n");
  }
  return text_answer(404, "there are /metrics, /healthz and /status\n");
}

StatusServer::StatusServer() = default;
StatusServer::~StatusServer() = default;

Result<void> StatusServer::open(const std::string& listen, StatusCallbacks callbacks, std::vector<std::string> hosts) {
  if (listen == "off") return {};
  Result<Endpoint> endpoint = parse_endpoint(listen);
  if (!endpoint) return tl::make_unexpected(endpoint.error());
  if (!endpoint->loopback) {
    return fail(ErrorCode::invalid_setting,
                "status_listen " + listen +
                    " is not a loopback address: the status pages have no access control; write " +
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
  auto opened = HttpServer::open(config);
  if (!opened) return tl::make_unexpected(listen_error(listen, opened.error()));
  server_ = std::move(*opened);
  endpoint->port = server_->port();
  address_ = endpoint->text();
  server_->serve([callbacks = std::move(callbacks), hosts = std::move(hosts)](const RequestHead& request) {
    return status_answer(request, callbacks, hosts);
  });
  return {};
}

void StatusServer::stop() { server_.reset(); }

}  // namespace orbweaver
