// A small HTTP/1 server for GET and HEAD on Boost.Asio: the status port's and the sample web's.
//
// Everything that a client may hold is bounded: the bytes of a head, the time for it and for the answer (drips do not
// make either longer), requests of a connection, connections. When there are too many, or no descriptor is left, one is
// closed for a newcomer: who has his answer and still holds the connection, else the oldest that waits for a request,
// else the oldest of all; none of the latter two in its first 200 ms, in which newcomers wait in the system's queue.
// Bodies of requests are not read: such a connection is answered and closed. Ranges are not known.
//
// Memory: a few KB a connection and its answer. Thread rule: open(), serve(), stop() and the destructor by one thread;
// the handler runs on the server's `threads`, several at once when there are several.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/http_server/request_head.h"

namespace orbweaver {

struct HttpAnswer {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> fields{};  // without Content-Length and Connection
  std::string body{};                                         // not sent to a HEAD, nor with 204 and 304
  std::chrono::milliseconds wait{0};                          // before it is sent; holds no thread
  std::function<void()> on_wait_over{};                       // called then, or when the client is gone before
  bool close = false;                                         // the connection ends with it
};

// An answer with a line of text.
HttpAnswer text_answer(unsigned status, std::string text);

struct HttpServerConfig {
  std::string address;     // an IP address
  std::uint16_t port = 0;  // 0: any free one
  std::size_t threads = 1;
  std::size_t head_bytes_max = 8u << 10;
  std::size_t connections_max = 32;
  std::size_t requests_max = 1;                  // of a connection
  std::chrono::milliseconds idle_max{5000};      // from an answer, or the connection's begin, to a request's first byte
  std::chrono::milliseconds head_max{5000};      // from there to the end of its head
  std::chrono::milliseconds answer_max{10'000};  // until all of the answer is taken, HttpAnswer::wait not counted
};

class HttpServer {
 public:
  // An exception of a handler is answered with 500.
  using Handler = std::function<HttpAnswer(const RequestHead&)>;

  // Listens; nobody is answered yet. Errors: in_use when another process has the port, else io; the message is the
  // system's.
  static Result<std::unique_ptr<HttpServer>> open(const HttpServerConfig& config);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void serve(Handler handler);  // starts the threads
  void stop();                  // ends all connections; the port is free again
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver
