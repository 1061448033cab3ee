#include "node/run/status_http.h"

#include <httplib.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "node/config/endpoint.h"

namespace orbweaver {
namespace {

constexpr std::size_t threads = 4;
constexpr std::size_t request_body_bytes_max = 1024;
constexpr time_t io_timeout_seconds = 5;

// The library's own options include SO_REUSEPORT, with which two peers would share a port and neither would notice.
void set_socket_options(socket_t fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

Error bind_error(const std::string& listen, int cause) {
  if (cause == EADDRINUSE) {
    return {ErrorCode::in_use, "the status port " + listen +
                                   " is in use by another process: set status_listen to another port, " +
                                   "127.0.0.1:0 for any free one, or off"};
  }
  return {ErrorCode::io, "cannot listen on " + listen + " for status pages: " + std::strerror(cause)};
}

}  // namespace

struct StatusServer::Impl {
  httplib::Server server;
  StatusCallbacks callbacks;
  std::thread thread;

  void set_up() {
    server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server.set_socket_options(set_socket_options);
    server.set_keep_alive_max_count(1);  // a kept connection would hold one of the few threads
    server.set_payload_max_length(request_body_bytes_max);
    server.set_read_timeout(io_timeout_seconds);
    server.set_write_timeout(io_timeout_seconds);
    server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(callbacks.metrics_text(), "text/plain; version=0.0.4");
    });
    server.Get("/status", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(callbacks.status_json(), "application/json");
    });
    server.Get("/healthz", [this](const httplib::Request&, httplib::Response& response) {
      const bool healthy = callbacks.healthy();
      response.status = healthy ? 200 : 503;
      response.set_content(healthy ? "ok\n" : "not healthy\n", "text/plain");
    });
    // Other methods are no other resource: everything that is not one of the three is not there.
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.status == 404) response.set_content("there are /metrics, /healthz and /status\n", "text/plain");
    });
  }
};

StatusServer::StatusServer() = default;
StatusServer::~StatusServer() { stop(); }

Result<void> StatusServer::open(const std::string& listen, StatusCallbacks callbacks) {
  if (listen == "off") return {};
  Result<Endpoint> endpoint = parse_endpoint(listen);
  if (!endpoint) return tl::make_unexpected(endpoint.error());
  if (!endpoint->loopback) {
    return fail(ErrorCode::invalid_setting,
                "status_listen " + listen +
                    " is not a loopback address: the status pages have no access control; write " +
                    "127.0.0.1:PORT, and reach it from elsewhere through a proxy or a tunnel");
  }
  // A name would be looked up; localhost is 127.0.0.1 here whatever the resolver says (RFC 6761, 6.3).
  if (!endpoint->is_ip) {
    endpoint->host = "127.0.0.1";
    endpoint->is_ip = true;
  }
  impl_ = std::make_unique<Impl>();
  impl_->callbacks = std::move(callbacks);
  impl_->set_up();
  errno = 0;
  int port = endpoint->port;
  if (port == 0) {
    port = impl_->server.bind_to_any_port(endpoint->host);
  } else if (!impl_->server.bind_to_port(endpoint->host, port)) {
    port = -1;
  }
  if (port <= 0) {
    const int cause = errno == 0 ? EADDRNOTAVAIL : errno;
    impl_.reset();
    return tl::make_unexpected(bind_error(listen, cause));
  }
  endpoint->port = static_cast<std::uint16_t>(port);
  address_ = endpoint->text();
  impl_->thread = std::thread([impl = impl_.get()] { impl->server.listen_after_bind(); });
  // stop() before the thread listens would be lost.
  while (!impl_->server.is_running()) std::this_thread::yield();
  return {};
}

void StatusServer::stop() {
  if (!impl_) return;
  impl_->server.stop();
  impl_->thread.join();
  impl_.reset();
}

}  // namespace orbweaver
