#include "node/http_server/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "node/http_server/answer_head.h"

namespace orbweaver {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr int backlog = 4096;
constexpr std::size_t chunk_bytes = 4096;
constexpr Milliseconds accept_pause{50};  // when the system lacks descriptors or memory
constexpr Milliseconds full_pause{20};    // when no connection may be closed yet
// A connection may wait this long for its first read, or for an answer in progress, before another can replace it.
constexpr Milliseconds kept_min{200};
// After an answer that ends a connection, further input is read and dropped: if it were closed at once, the system
// would reset the connection, and the client could lose the answer.
constexpr Milliseconds max_linger{1000};
constexpr std::size_t max_linger_bytes = 256u << 10;
constexpr std::uint64_t content_piece_bytes = 256u << 10;
constexpr std::string_view go_ahead = "HTTP/1.1 100 Continue\r\n\r\n";

class Connection;

// The connections, oldest first. Guarded by its mutex.
struct Connections {
  std::mutex mutex;
  std::list<std::shared_ptr<Connection>> idle;      // no complete request yet
  std::list<std::shared_ptr<Connection>> busy;      // an answer is in progress
  std::list<std::shared_ptr<Connection>> answered;  // it was the last answer: further input is dropped
  std::list<std::shared_ptr<Connection>> streams;   // an answer without an end
  std::list<std::shared_ptr<Connection>> leaving;   // requested to close
  std::size_t size() const { return idle.size() + busy.size() + answered.size() + streams.size() + leaving.size(); }
};

// The state that all connections of a server share.
struct Shared {
  HttpServerConfig config;
  HttpServer::Handler handler;
  Connections connections;
};

// One client. Its handlers run on its strand, so never two at the same time.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, net::io_context& context, const tcp& protocol, int fd)
      : shared_(shared), socket_(net::make_strand(context)), timer_(socket_.get_executor()) {
    error_code ignored;  // a descriptor that epoll refuses: the first read fails
    socket_.assign(protocol, fd, ignored);
    if (ignored) ::close(fd);
  }

  void start() {
    net::post(socket_.get_executor(), [self = shared_from_this()] {
      self->begin_request();
      self->arm();
    });
  }
  // From any thread.
  void evict() {
    net::post(socket_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

  // Guarded by Connections::mutex: the list that it is in, and since when.
  std::list<std::shared_ptr<Connection>>* list = nullptr;
  std::list<std::shared_ptr<Connection>>::iterator place;
  Clock::time_point since;

 private:
  void begin_request() {
    reader_.emplace(shared_.config.max_head_bytes);
    begun_ = false;
    limit(shared_.config.max_idle);
    go_on();
  }

  void read_more() {
    socket_.async_read_some(net::buffer(chunk_), [self = shared_from_this()](error_code error, std::size_t count) {
      if (error) return self->close();
      self->bytes_.append(self->chunk_.data(), count);
      self->go_on();
    });
  }

  void go_on() {
    if (closed_) return;
    if (!begun_ && !bytes_.empty()) {
      begun_ = true;
      limit(shared_.config.max_head);
    }
    switch (reader_->read(bytes_)) {
      case HeadProgress::more:
        return read_more();
      case HeadProgress::whole:
        head_ = reader_->take();
        return take_body();
      case HeadProgress::too_large:
        return refuse(text_answer(431, "the head of the request is too large\n"));
      case HeadProgress::bad:
        return refuse(text_answer(400, "this is not a request of HTTP/1.1\n"));
    }
  }

  void take_body() {
    if (!head_.body_follows || shared_.config.max_body_bytes == 0) return answer();
    if (!head_.body_bytes) return refuse(text_answer(411, "the body has no Content-Length\n"));
    if (*head_.body_bytes > shared_.config.max_body_bytes)
      return refuse(
          text_answer(413, "the body is larger than " + std::to_string(shared_.config.max_body_bytes) + " bytes\n"));
    if (!head_.waits_for_continue || !bytes_.empty()) return read_body();
    net::async_write(socket_, net::buffer(go_ahead), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->read_body();
    });
  }

  void read_body() {
    if (closed_) return;
    if (const auto length = static_cast<std::size_t>(*head_.body_bytes); bytes_.size() >= length) {
      head_.body = bytes_.substr(0, length);
      bytes_.erase(0, length);
      head_.body_follows = false;
      return answer();
    }
    socket_.async_read_some(net::buffer(chunk_), [self = shared_from_this()](error_code error, std::size_t count) {
      if (error) return self->close();
      self->bytes_.append(self->chunk_.data(), count);
      self->read_body();
    });
  }

  void refuse(HttpAnswer answer) {
    head_ = RequestHead{};
    become_busy();
    answer.close = true;
    answer_ = std::move(answer);
    send();
  }

  void answer() {
    become_busy();
    try {
      answer_ = shared_.handler(head_);
    } catch (const std::exception&) {
      answer_ = text_answer(500, "this request could not be answered\n");
    }
    if (answer_.later) return wait_for_answer();
    if (answer_.wait.count() == 0) return send();
    limit(answer_.wait + shared_.config.max_answer);
    pause_.emplace(socket_.get_executor(), answer_.wait);
    pause_->async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->send();
    });
  }

  void wait_for_answer() {
    limit(shared_.config.max_later);
    const auto later = std::exchange(answer_.later, {});
    later([self = shared_from_this()](HttpAnswer answer) {
      net::post(self->socket_.get_executor(), [self, answer = std::move(answer)]() mutable {
        if (self->closed_) return;
        self->answer_ = std::move(answer);
        self->send();
      });
    });
  }

  void send() {
    if (closed_) return;
    if (answer_.more && !become_stream()) answer_ = text_answer(503, "too many pages are open\n");
    tell_wait_is_over();
    ++requests_;
    last_ = answer_.close || answer_.more || !head_.keep_alive || head_.body_follows ||
            requests_ >= shared_.config.max_requests;
    const bool kept = !last_ && shared_.config.max_requests > 1;
    const std::string kept_for =
        kept ? std::to_string(std::chrono::duration_cast<std::chrono::seconds>(shared_.config.max_idle).count()) : "";
    out_ = answer_head(answer_, kept_for, shared_.config.max_requests);
    const bool with_body = head_.method != "HEAD" && answer_.status != 204 && answer_.status != 304;
    if (!with_body) {
      answer_.more = nullptr;
      answer_.content.reset();
    }
    content_sent_ = 0;
    limit(shared_.config.max_answer);
    const std::array<net::const_buffer, 2> buffers = {net::buffer(out_),
                                                      net::buffer(with_body ? answer_.body : no_body_)};
    net::async_write(socket_, buffers, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->sent();
    });
  }

  void tell_wait_is_over() {
    if (const auto on_over = std::exchange(answer_.on_wait_over, {})) on_over();
  }

  // The next piece of an answer without an end.
  void go_on_sending() {
    limit(answer_.every + shared_.config.max_answer);
    pause_.emplace(socket_.get_executor(), answer_.every);
    pause_->async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->send_more();
    });
  }

  void send_more() {
    if (closed_) return;
    std::optional<std::string> piece;
    try {
      piece = answer_.more();
    } catch (const std::exception&) {
      // The client sees the connection end.
    }
    if (!piece) {
      answer_.more = nullptr;
      return sent();
    }
    out_ = std::move(*piece);
    limit(shared_.config.max_answer);
    net::async_write(socket_, net::buffer(out_), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->sent();
    });
  }

  // The next piece of a body that is read meanwhile.
  void send_content() {
    const std::uint64_t left = answer_.content->bytes - content_sent_;
    try {
      auto piece = answer_.content->read(content_sent_, static_cast<std::size_t>(std::min(left, content_piece_bytes)));
      if (!piece || piece->empty()) return close();
      out_ = std::move(*piece);
    } catch (const std::exception&) {
      return close();
    }
    content_sent_ += out_.size();
    limit(shared_.config.max_answer);
    net::async_write(socket_, net::buffer(out_), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->sent();
    });
  }

  void sent() {
    if (closed_) return;
    if (answer_.more) return go_on_sending();
    if (answer_.content && content_sent_ < answer_.content->bytes) return send_content();
    answer_ = HttpAnswer{};
    if (!last_) {
      become_idle();
      return begin_request();
    }
    error_code error;
    socket_.shutdown(tcp::socket::shutdown_send, error);
    if (error) return close();
    move_to(shared_.connections.answered);
    limit(max_linger);
    left_to_forget_ = max_linger_bytes;
    forget();
  }

  void forget() {
    socket_.async_read_some(net::buffer(chunk_), [self = shared_from_this()](error_code error, std::size_t count) {
      if (error || count > self->left_to_forget_) return self->close();
      self->left_to_forget_ -= count;
      self->forget();
    });
  }

  // The connection is closed after this time, whatever arrives until then.
  void limit(Milliseconds time) {
    deadline_ = Clock::now() + time;
    if (armed_ && deadline_ < timer_.expiry()) arm();
  }

  // Sets the timer again only if it ran out or is too late: most deadlines are moved before they pass.
  void arm() {
    armed_ = true;
    timer_.expires_at(deadline_);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->closed_) return;  // set again, or closed
      if (Clock::now() >= self->deadline_) return self->close();
      self->arm();
    });
  }

  void become_busy() { move_to(shared_.connections.busy); }
  void become_idle() { move_to(shared_.connections.idle); }
  bool become_stream() {
    const std::lock_guard lock(shared_.connections.mutex);
    Connections& all = shared_.connections;
    if (list == &all.leaving || all.streams.size() >= shared_.config.max_streams) return false;
    all.streams.splice(all.streams.end(), *list, place);
    list = &all.streams;
    return true;
  }
  void move_to(std::list<std::shared_ptr<Connection>>& to) {
    const std::lock_guard lock(shared_.connections.mutex);
    if (closed_ || list == &to || list == &shared_.connections.leaving) return;
    to.splice(to.end(), *list, place);
    list = &to;
    since = Clock::now();
  }

  void close() {
    if (closed_) return;
    closed_ = true;
    tell_wait_is_over();
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel(ignored);
    if (pause_) pause_->cancel(ignored);
    const std::lock_guard lock(shared_.connections.mutex);
    list->erase(place);
  }

  Shared& shared_;
  tcp::socket socket_;
  net::steady_timer timer_;
  std::optional<net::steady_timer> pause_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool armed_ = false;
  bool closed_ = false;
  bool begun_ = false;  // the first byte of a request has arrived
  bool last_ = false;   // its answer ends the connection
  std::size_t requests_ = 0;
  std::uint64_t content_sent_ = 0;
  std::size_t left_to_forget_ = 0;
  std::optional<RequestReader> reader_;
  RequestHead head_;
  HttpAnswer answer_;
  std::string bytes_;  // read, but not used yet
  std::string out_;    // the head of the answer, or a piece of its body
  const std::string no_body_;
  std::array<char, chunk_bytes> chunk_{};
};

// The system's words; in_use if the port is taken.
tl::unexpected<Error> system_error(int number) {
  return fail(number == EADDRINUSE ? ErrorCode::in_use : ErrorCode::io, std::strerror(number));
}

union AnyAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

}  // namespace

struct HttpServer::Impl {
  Shared shared;
  net::io_context context;
  tcp::acceptor acceptor{context};
  net::steady_timer pause{context};
  tcp protocol = tcp::v4();
  std::uint16_t port = 0;
  std::vector<std::thread> threads;

  Result<void> listen();
  void wait_for_clients();
  void accept_again(Milliseconds after);
  void accept_some();
  bool accept_one();
  enum class Room : std::uint8_t { there, made, none };
  Room room(bool pressed);
  void run();
  void drain();
};

Result<void> HttpServer::Impl::listen() {
  error_code error;
  const net::ip::address address = net::ip::make_address(shared.config.address, error);
  if (error) return system_error(EADDRNOTAVAIL);
  const tcp::endpoint endpoint(address, shared.config.port);
  protocol = endpoint.protocol();
  // Not Asio's own socket: it cannot have SOCK_CLOEXEC, and a child process would keep the port open.
  const int fd = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (fd < 0) return system_error(errno);
  // Not SO_REUSEPORT: with it two servers would share a port without noticing.
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  AnyAddress bound{};
  auto size = static_cast<socklen_t>(sizeof bound);
  if (::bind(fd, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 || ::listen(fd, backlog) != 0 ||
      ::getsockname(fd, &bound.any, &size) != 0) {
    const int number = errno;
    ::close(fd);
    return system_error(number);
  }
  port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
  acceptor.assign(protocol, fd, error);
  if (!error) return {};
  ::close(fd);
  return system_error(error.value());
}

void HttpServer::Impl::wait_for_clients() {
  acceptor.async_wait(tcp::acceptor::wait_read, [this](error_code error) {
    if (!error) accept_some();
  });
}

void HttpServer::Impl::accept_again(Milliseconds after) {
  pause.expires_after(after);
  pause.async_wait([this](error_code error) {
    if (!error) accept_some();
  });
}

// Whether another connection may be accepted. If there are too many, or `pressed`, one is closed: one that got its last
// answer, else the oldest without a request, else the oldest whose answer is in progress, but neither of these two
// before kept_min. Room::none: none may be closed yet, and new clients wait in the system's queue.
HttpServer::Impl::Room HttpServer::Impl::room(bool pressed) {
  Connections& all = shared.connections;
  const std::lock_guard lock(all.mutex);
  if (!pressed && all.size() < shared.config.max_connections) return Room::there;
  if (!all.leaving.empty()) return Room::none;  // one will be gone soon
  const auto now = Clock::now();
  for (auto* const list : {&all.answered, &all.idle, &all.busy}) {
    if (list->empty() || (list != &all.answered && now - list->front()->since < kept_min)) continue;
    Connection& oldest = *list->front();
    oldest.evict();
    all.leaving.splice(all.leaving.end(), *list, list->begin());
    oldest.list = &all.leaving;
    return Room::made;
  }
  return Room::none;
}

// False: do not accept another one now; a later attempt is scheduled.
bool HttpServer::Impl::accept_one() {
  switch (room(false)) {
    case Room::there:
      break;
    case Room::made:
      net::post(context, [this] { accept_some(); });
      return false;
    case Room::none:
      accept_again(full_pause);
      return false;
  }
  const int fd = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
    room(true);
    accept_again(accept_pause);
    return false;
  }
  if (fd < 0) {  // no client waits, or it has disconnected
    wait_for_clients();
    return false;
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // an answer is written in one piece
  std::shared_ptr<Connection> connection;
  try {
    connection = std::make_shared<Connection>(shared, context, protocol, fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
  connection->since = Clock::now();
  {
    const std::lock_guard lock(shared.connections.mutex);
    connection->list = &shared.connections.idle;
    connection->place = shared.connections.idle.insert(shared.connections.idle.end(), connection);
  }
  connection->start();
  return true;
}

// Accepts a few at a time and queues the rest behind the accepted ones' events: their requests are read before there
// are too many connections.
void HttpServer::Impl::accept_some() {
  try {
    const std::size_t count = std::max<std::size_t>(shared.config.max_connections / 4, 1);
    for (std::size_t i = 0; i < count; ++i)
      if (!accept_one()) return;
    net::post(context, [this] { accept_some(); });
  } catch (const std::exception&) {
    accept_again(accept_pause);  // no memory for another connection
  }
}

void HttpServer::Impl::run() {
  for (;;) {
    try {
      context.run();
      return;
    } catch (const std::exception&) {
      // No memory for one connection's next step: it ends with its handler, the others continue.
    }
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { stop(); }

Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpServerConfig& config) {
  auto impl = std::make_unique<Impl>();
  impl->shared.config = config;
  if (auto listening = impl->listen(); !listening) return tl::make_unexpected(listening.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::serve(Handler handler) {
  impl_->shared.handler = std::move(handler);
  impl_->wait_for_clients();
  for (std::size_t i = 0; i < std::max<std::size_t>(impl_->shared.config.threads, 1); ++i)
    impl_->threads.emplace_back([impl = impl_.get()] { impl->run(); });
}

// Answers that are under way go out, if they do at once.
void HttpServer::Impl::drain() {
  const auto until = Clock::now() + kept_min;
  const auto busy = [this] {
    const std::lock_guard lock(shared.connections.mutex);
    return !shared.connections.busy.empty();
  };
  while (!threads.empty() && busy() && Clock::now() < until) std::this_thread::sleep_for(full_pause);
}

void HttpServer::stop() {
  impl_->drain();
  impl_->context.stop();
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
  error_code ignored;
  impl_->acceptor.close(ignored);
  const std::lock_guard lock(impl_->shared.connections.mutex);
  impl_->shared.connections.idle.clear();
  impl_->shared.connections.busy.clear();
  impl_->shared.connections.answered.clear();
  impl_->shared.connections.streams.clear();
  impl_->shared.connections.leaving.clear();
}

std::uint16_t HttpServer::port() const { return impl_->port; }

}  // namespace orbweaver
