#include "node/sampleweb/sample_server.h"

#include <zlib.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "node/http_server/http_server.h"
#include "node/sampleweb/sample_counts.h"
#include "node/sampleweb/sample_random.h"
#include "node/sampleweb/sample_search.h"
#include "node/sampleweb/sample_tree.h"

namespace orbweaver::sample {

namespace {

constexpr std::size_t connections_usual = 8192;
constexpr std::size_t max_head_bytes = 64u << 10;
constexpr std::size_t requests_a_connection = 100'000;
constexpr std::size_t max_target_bytes = 8192;
constexpr std::chrono::seconds max_idle{30};
constexpr std::chrono::minutes max_answer{2};  // a crawler that delays reading may take long
constexpr std::size_t max_threads = 8;
constexpr const char* loopback = "127.0.0.1";
constexpr int gzip_window_bits = 15 + 16;  // zlib: a gzip wrapper
constexpr std::string_view other_hosts = "(other)";

// Empty when zlib refuses; then the body stays uncompressed.
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

// The Host header's name in lower case, without the port and a final dot.
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
  SampleCounts counts{max_counted_urls};
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpServer> control;

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
    HttpServerConfig config;
    config.address = options.listen_address == "localhost" ? loopback : options.listen_address;
    config.port = options.listen_port;
    config.threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, max_threads);
    config.max_head_bytes = max_head_bytes;
    config.max_connections = options.max_connections > 0 ? options.max_connections : connections_usual;
    config.max_requests = requests_a_connection;
    config.max_idle = max_idle;
    config.max_answer = max_answer;
    auto opened = HttpServer::open(config);
    if (!opened) {
      const std::string asked = options.listen_address + ":" + std::to_string(options.listen_port);
      if (opened.error().code == ErrorCode::in_use)
        return fail(ErrorCode::in_use, "another process listens on " + asked);
      return fail(opened.error().code, "cannot listen on " + asked + ": " + opened.error().message);
    }
    server = std::move(*opened);
    HttpServerConfig beside;
    beside.address = loopback;
    beside.max_answer = max_answer;
    opened = HttpServer::open(beside);
    if (!opened) return fail(ErrorCode::io, "cannot listen on a free port of 127.0.0.1: " + opened.error().message);
    control = std::move(*opened);
    return {};
  }

  HttpAnswer serve(const RequestHead& request) {
    if (request.target.size() > max_target_bytes) return {.status = 414};
    const auto now = std::chrono::steady_clock::now();
    const std::string target = request.target.substr(0, request.target.find('#'));
    const std::string name = name_of(request.host.value_or(""));
    const auto tree = trees.find(name);
    const auto host = web && tree == trees.end() ? web->host_of(name) : std::nullopt;
    const bool searched = search && tree == trees.end() && name == search_host;
    const bool known = host || searched || tree != trees.end();
    const std::string counted = known ? name : std::string(other_hosts);

    // The Host header contains a port unless it is 80, so this is the requested URL.
    const std::string url = "http://" + name + port_text() + target;
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
    HttpAnswer out = filled(request, std::move(answer));
    out.wait = wait;
    out.on_wait_over = [this, counted] { counts.answered(counted); };
    return out;
  }

  static HttpAnswer filled(const RequestHead& request, SampleAnswer answer) {
    HttpAnswer out;
    out.status = static_cast<unsigned>(answer.status);
    out.fields = std::move(answer.headers);
    if (!answer.content_type.empty()) out.fields.emplace_back("Content-Type", answer.content_type);
    if (answer.compress && request.accept_encoding.find("gzip") != std::string::npos) {
      if (std::string packed = gzip(answer.body); !packed.empty()) {
        answer.body = std::move(packed);
        out.fields.emplace_back("Content-Encoding", "gzip");
      }
    }
    out.body = std::move(answer.body);
    return out;
  }

  std::string port_text() const { return server->port() == 80 ? "" : ":" + std::to_string(server->port()); }

  HttpAnswer tell(const RequestHead& request) {
    const auto json = [](std::string body) {
      return HttpAnswer{.fields = {{"Content-Type", "application/json"}}, .body = std::move(body)};
    };
    const bool post = request.method == "POST";
    const std::string& path = request.target;
    if (post && path == "/reset") {
      counts.reset();
      return json("{\"done\":true}");
    }
    if (post && path == "/quit" && options.on_quit) {
      options.on_quit();
      return json("{\"done\":true}");
    }
    if (!post && path == "/stats") return json(counts.stats_json());
    if (!post && path == "/urls") return json(counts.urls_json());
    if (!post && path == "/expected") return json(web ? json_list(web->expected()) : "[]");
    if (!post && path == "/expected_twice") return json(web ? json_list(web->expected_twice()) : "[]");
    return {.status = 404};
  }
};

SampleServer::SampleServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SampleServer::~SampleServer() { stop(); }

Result<std::unique_ptr<SampleServer>> SampleServer::start(const SampleServerOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (auto opened = impl->open_trees(); !opened) return tl::make_unexpected(opened.error());
  if (auto bound = impl->bind(); !bound) return tl::make_unexpected(bound.error());
  if (options.shape.hosts > 0) {
    SampleWebShape shape = options.shape;
    shape.port = impl->server->port();
    impl->web.emplace(shape);
    impl->search.emplace(*impl->web);
  }
  Impl* running = impl.get();
  running->server->serve([running](const RequestHead& request) { return running->serve(request); });
  running->control->serve([running](const RequestHead& request) { return running->tell(request); });
  return std::unique_ptr<SampleServer>(new SampleServer(std::move(impl)));
}

void SampleServer::stop() {
  impl_->server->stop();
  impl_->control->stop();
}

std::uint16_t SampleServer::port() const { return impl_->server->port(); }
std::uint16_t SampleServer::control_port() const { return impl_->control->port(); }

std::vector<std::string> SampleServer::seeds() const {
  std::vector<std::string> out = impl_->web ? impl_->web->seeds() : std::vector<std::string>{};
  const std::string port_text = impl_->port_text();
  for (const auto& [host, tree] : impl_->trees) out.push_back("http://" + host + port_text + "/");
  return out;
}

std::string SampleServer::stats_json() const { return impl_->counts.stats_json(); }

std::string SampleServer::ready_json() const {
  const std::string& address = impl_->options.listen_address;
  const std::string reached = address == "0.0.0.0" ? loopback : address;
  const nlohmann::json json = {{"ready", true},
                               {"port", port()},
                               {"seeds", seeds()},
                               {"control", "http://127.0.0.1:" + std::to_string(control_port())},
                               {"resolve", {"*:" + std::to_string(port()) + ":" + reached}}};
  return json.dump();
}

}  // namespace orbweaver::sample
