#include "node/sampleweb/sample_server.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "node/sampleweb/keep_alive_server.h"
#include "node/sampleweb/sample_counts.h"
#include "node/sampleweb/sample_random.h"
#include "node/sampleweb/sample_search.h"
#include "node/sampleweb/sample_tree.h"

namespace orbweaver::sample {

namespace {

constexpr const char* arrival_header = "x-sample-gzip";  // set by on_head for the handler: the client takes gzip
constexpr const char* loopback = "127.0.0.1";
constexpr int gzip_window_bits = 15 + 16;  // zlib: a gzip wrapper
constexpr std::string_view other_hosts = "(other)";

// Empty when zlib refuses, which leaves the body as it is.
std::string gzip(const std::string& body) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return "";
  std::string out(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(result == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

// The Host header's name in lower case, without the port and a dot at its end.
std::string name_of(std::string host) {
  host.resize(std::min(host.find(':'), host.size()));
  if (host.ends_with('.')) host.pop_back();
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return host;
}

std::string json_list(const std::set<std::string>& urls) { return nlohmann::json(urls).dump(); }

}  // namespace

struct SampleServer::Impl {
  SampleServerOptions options;
  std::optional<SampleWeb> web;
  std::optional<SampleSearch> search;  // of the web
  std::map<std::string, SampleTree> trees;
  SampleCounts counts{counted_urls_max};
  KeepAliveServer server;
  httplib::Server control;
  std::uint16_t port = 0;
  std::uint16_t control_port = 0;
  std::thread server_thread;
  std::thread control_thread;

  Result<void> open_trees() {
    for (const std::string& text : options.trees) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0) {
        return fail(ErrorCode::invalid_input, "a tree is HOST=DIRECTORY, not \"" + text + "\"");
      }
      auto tree = SampleTree::open(text.substr(equals + 1));
      if (!tree) return tl::make_unexpected(tree.error());
      trees.insert_or_assign(name_of(text.substr(0, equals)), std::move(*tree));
    }
    return {};
  }

  Result<void> bind() {
    const std::string asked = options.listen_address + ":" + std::to_string(options.listen_port);
    errno = 0;
    int bound = options.listen_port;
    if (options.listen_port == 0) {
      bound = server.bind_to_any_port(options.listen_address);
    } else if (!server.bind_to_port(options.listen_address, options.listen_port)) {
      bound = -1;
    }
    if (bound <= 0) {
      if (errno == EADDRINUSE) return fail(ErrorCode::in_use, "another process listens on " + asked);
      return fail(ErrorCode::io, "cannot listen on " + asked + ": " + std::strerror(errno));
    }
    server.deepen_backlog();
    port = static_cast<std::uint16_t>(bound);
    const int control_bound = control.bind_to_any_port(loopback);
    if (control_bound <= 0) return fail(ErrorCode::io, "cannot listen on a free port of 127.0.0.1");
    control_port = static_cast<std::uint16_t>(control_bound);
    return {};
  }

  void set_up_server() {
    if (options.connections_max > 0) server.set_connections_max(options.connections_max);
    // The library would compress by itself, brotli first and at its slowest; it does not when it sees no
    // Accept-Encoding.
    server.on_head = [](httplib::Request& request) {
      const bool takes_gzip = request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
      request.headers.erase("Accept-Encoding");
      request.headers.erase("Range");
      request.ranges.clear();
      request.headers.erase(arrival_header);
      if (takes_gzip) request.headers.emplace(arrival_header, "1");
    };
    server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
  }

  void serve(const httplib::Request& request, httplib::Response& response) {
    const auto now = std::chrono::steady_clock::now();
    const std::string target = request.target.substr(0, request.target.find('#'));
    const std::string host_header = request.get_header_value("Host");
    const std::string name = name_of(host_header);
    const auto tree = trees.find(name);
    const auto host = web && tree == trees.end() ? web->host_of(name) : std::nullopt;
    const bool searched = search && tree == trees.end() && name == search_host;
    const bool known = host || searched || tree != trees.end();
    const std::string counted = known ? name : std::string(other_hosts);

    // The Host header holds a port unless it is 80, so this is the URL that was asked for.
    const std::string url = "http://" + name + (port == 80 ? "" : ":" + std::to_string(port)) + target;
    const std::uint64_t before = counts.arrived(counted, url, target == "/robots.txt", now);
    if (options.on_request && target != "/robots.txt") options.on_request(url);
    SampleAnswer answer;
    if (host) {
      answer = web->answer(*host, target, before);
    } else if (searched) {
      answer = search->answer(target);
    } else if (known) {
      answer = tree->second.answer(target);
    } else {
      answer.status = 421;  // Misdirected Request (RFC 9110, 15.5.20)
      answer.content_type = "text/plain";
      answer.body = "This server has no such host.\n";
    }
    if (before == 0 && target != "/robots.txt" && mix(options.shape.seed, url) % 1000 < options.failing) {
      answer = SampleAnswer{};
      answer.status = 500;
      answer.content_type = "text/plain";
      answer.body = "Not this time.\n";
    }
    const auto wait = answer.wait + options.latency;
    if (wait.count() > 0) std::this_thread::sleep_for(wait);
    fill(request, response, std::move(answer));
    counts.answered(counted);
  }

  static void fill(const httplib::Request& request, httplib::Response& response, SampleAnswer answer) {
    response.status = answer.status;
    for (const auto& [header, value] : answer.headers) response.set_header(header, value);
    if (!answer.content_type.empty()) response.set_header("Content-Type", answer.content_type);
    if (answer.compress && request.has_header(arrival_header)) {
      if (std::string packed = gzip(answer.body); !packed.empty()) {
        answer.body = std::move(packed);
        response.set_header("Content-Encoding", "gzip");
      }
    }
    response.body = std::move(answer.body);
  }

  void set_up_control() {
    const auto json = [this](const char* path, std::function<std::string()> make) {
      control.Get(path, [make = std::move(make)](const httplib::Request&, httplib::Response& response) {
        response.set_content(make(), "application/json");
      });
    };
    json("/stats", [this] { return counts.stats_json(); });
    json("/urls", [this] { return counts.urls_json(); });
    json("/expected", [this] { return web ? json_list(web->expected()) : std::string("[]"); });
    json("/expected_twice", [this] { return web ? json_list(web->expected_twice()) : std::string("[]"); });
    // Before routing, because there the library waits for a body, and a client that sends none need not say so.
    control.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (request.method != "POST") return httplib::Server::HandlerResponse::Unhandled;
      response.set_header("Connection", "close");
      if (request.path == "/reset") {
        counts.reset();
      } else if (request.path == "/quit" && options.on_quit) {
        options.on_quit();
      } else {
        response.status = 404;
        return httplib::Server::HandlerResponse::Handled;
      }
      response.status = 200;
      response.set_content("{\"done\":true}", "application/json");
      return httplib::Server::HandlerResponse::Handled;
    });
    control.set_socket_options([](socket_t fd) {
      const int on = 1;
      ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    control.set_tcp_nodelay(true);
    control.set_keep_alive_max_count(1);
    control.new_task_queue = [] { return new httplib::ThreadPool(4); };
  }
};

SampleServer::SampleServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SampleServer::~SampleServer() { stop(); }

Result<std::unique_ptr<SampleServer>> SampleServer::start(const SampleServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->set_up_server();
  impl->set_up_control();
  if (auto opened = impl->open_trees(); !opened) return tl::make_unexpected(opened.error());
  if (auto bound = impl->bind(); !bound) return tl::make_unexpected(bound.error());
  if (options.shape.hosts > 0) {
    SampleWebShape shape = options.shape;
    shape.port = impl->port;
    impl->web.emplace(shape);
    impl->search.emplace(*impl->web);
  }
  Impl* running = impl.get();
  running->server_thread = std::thread([running] { running->server.listen_after_bind(); });
  running->control_thread = std::thread([running] { running->control.listen_after_bind(); });
  // stop() before the loop runs would be lost.
  while (!running->server.is_running() || !running->control.is_running()) std::this_thread::yield();
  return std::unique_ptr<SampleServer>(new SampleServer(std::move(impl)));
}

void SampleServer::stop() {
  if (!impl_->server_thread.joinable()) return;
  impl_->server.stop();
  impl_->control.stop();
  impl_->server_thread.join();
  impl_->control_thread.join();
}

std::uint16_t SampleServer::port() const { return impl_->port; }
std::uint16_t SampleServer::control_port() const { return impl_->control_port; }

std::vector<std::string> SampleServer::seeds() const {
  std::vector<std::string> out = impl_->web ? impl_->web->seeds() : std::vector<std::string>{};
  const std::string port_text = impl_->port == 80 ? "" : ":" + std::to_string(impl_->port);
  for (const auto& [host, tree] : impl_->trees) out.push_back("http://" + host + port_text + "/");
  return out;
}

std::string SampleServer::stats_json() const { return impl_->counts.stats_json(); }

std::string SampleServer::ready_json() const {
  const std::string& address = impl_->options.listen_address;
  const std::string reached = address == "0.0.0.0" ? loopback : address;
  const nlohmann::json json = {{"ready", true},
                               {"port", impl_->port},
                               {"seeds", seeds()},
                               {"control", "http://127.0.0.1:" + std::to_string(impl_->control_port)},
                               {"resolve", {"*:" + std::to_string(impl_->port) + ":" + reached}}};
  return json.dump();
}

}  // namespace orbweaver::sample
