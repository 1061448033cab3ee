// A small HTTP/1 server on Boost.Asio, for a peer's HTTP port, the sample web and `orbweaver replay`.
//
// All resources of a client are bounded: the bytes of a head, the time for it and for the answer (slow drips do not
// extend either), requests per connection, connections. If there are too many, or no descriptor is left, one is closed
// for a new client: one that got its last answer, else the oldest that waits for a request, else the oldest of all. The
// latter two are never closed in their first 200 ms; until then new clients wait in the system's queue. Bodies of
// requests are read up to `max_body_bytes`; with 0 they are not read, and such a connection is answered and closed.
// Ranges: byte_range.h.
//
// Memory: a few KB per connection, plus its answer. Thread rule: open(), serve(), stop() and the destructor by one
// thread. The handler runs on the server's `threads`, in parallel if there are several.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/http_server/request_head.h"

namespace orbweaver {

// A body that is read as the client takes it, in pieces: memory holds one. On an error the connection ends before the
// client has all. `read`: on a thread of the server, whose other clients wait meanwhile.
struct HttpContent {
  std::uint64_t bytes = 0;
  std::function<Result<std::string>(std::uint64_t offset, std::size_t bytes)> read;
};

struct HttpAnswer {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> fields{};  // without Content-Length and Connection
  std::string body{};                                         // not sent to a HEAD request, nor with 204 and 304
  std::chrono::milliseconds wait{0};                          // delay before it is sent; blocks no thread
  std::function<void()> on_wait_over{};                       // called after that, or when the client disconnects
  bool close = false;                                         // the connection ends with it
  // The answer comes later: this is called with a function that takes it, once, from any thread, before the server is
  // destroyed. After max_later the connection is closed.
  std::function<void(std::function<void(HttpAnswer)> respond)> later{};
  // An answer without an end: after `body`, this is called every `every`, on a thread of the server, and what it
  // returns is sent; nothing: the connection ends. It must not block for long. Beyond max_streams of these, a client
  // gets 503.
  std::function<std::optional<std::string>()> more{};
  std::optional<HttpContent> content{};  // in place of `body`
  std::chrono::milliseconds every{1000};
};

// An answer that contains one line of text.
HttpAnswer text_answer(unsigned status, std::string text);

struct HttpServerConfig {
  std::string address;     // an IP address
  std::uint16_t port = 0;  // 0: any free one
  std::size_t threads = 1;
  std::size_t max_head_bytes = 8u << 10;
  std::size_t max_body_bytes = 0;  // of a request
  std::size_t max_connections = 32;
  std::size_t max_streams = 8;                   // answers without an end; none is closed for a new client
  std::size_t max_requests = 1;                  // per connection
  std::chrono::milliseconds max_idle{5000};      // from an answer, or the connection's start, to a request's first byte
  std::chrono::milliseconds max_head{5000};      // from there to the end of its head and body
  std::chrono::milliseconds max_later{40'000};   // until an answer that comes later is there
  std::chrono::milliseconds max_answer{10'000};  // until the client has it, or a piece; without the wait
};

class HttpServer {
 public:
  // An exception from a handler is answered with 500.
  using Handler = std::function<HttpAnswer(const RequestHead&)>;

  // Listens, but answers no request yet. Errors: in_use when another process has the port, else io; the message is the
  // system's.
  static Result<std::unique_ptr<HttpServer>> open(const HttpServerConfig& config);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void serve(Handler handler);  // starts the threads
  void stop();                  // ends all connections and frees the port
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver
