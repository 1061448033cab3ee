// The commands' side of the transport: one DEALER, one question at a time.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "ring/zmq_curve.h"
#include "ring/zmq_transport.h"

namespace orbweaver::ring {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int reconnect_ms = 100;

tl::unexpected<Error> failure(std::string message) { return tl::make_unexpected(Error{std::move(message)}); }

}  // namespace

class ZmqClient::Impl {
 public:
  Impl(HostPort peer, std::string address, RingKeys keys)
      : peer_(std::move(peer)), address_(std::move(address)), keys_(std::move(keys)) {}

  Result<std::string> ask(std::string bytes, Duration timeout) {
    if (bytes.size() > max_message_bytes)
      return failure("the request is larger than " + std::to_string(max_message_bytes) + " bytes");
    const auto until = Clock::now() + timeout;
    if (!dealer_) connect();
    bool sent = false;
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (left.count() < 0) break;
      std::array<zmq::pollitem_t, 2> items = {
          {{dealer_.handle(), 0, static_cast<short>(sent ? ZMQ_POLLIN : ZMQ_POLLIN | ZMQ_POLLOUT), 0},
           {monitor_.handle(), 0, ZMQ_POLLIN, 0}}};
      try {
        zmq::poll(items, left + std::chrono::milliseconds(1));
      } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) throw;
        continue;
      }
      if (std::optional<std::string> answer = receive(sent)) return std::move(*answer);
      if (const int event = next_event(); event != 0) {
        close();
        return failure(refused_message());
      }
      if (!sent) sent = dealer_.send(zmq::buffer(bytes), zmq::send_flags::dontwait).has_value();
    }
    close();  // so that a late answer is not treated as the next question's
    const std::string seconds = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count());
    if (sent)
      return failure("no answer from " + address_ + " within " + seconds +
                     " s: the peer is busy or stuck; see its log");
    return failure("no peer answers at " + address_ + ": is a peer running there? (tried for " + seconds + " s)");
  }

 private:
  void connect() {
    dealer_ = zmq::socket_t(context_, zmq::socket_type::dealer);
    set_common_options(dealer_, peer_);
    act_as_client(dealer_, keys_);
    dealer_.set(zmq::sockopt::immediate, true);
    dealer_.set(zmq::sockopt::reconnect_ivl, reconnect_ms);
    constexpr int failures =
        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    // A new name each time: ZeroMQ frees the old one only some time after its socket is closed.
    const std::string monitor_endpoint = "inproc://orbweaver.client." + std::to_string(++connects_);
    if (zmq_socket_monitor(dealer_.handle(), monitor_endpoint.c_str(), failures) != 0) throw zmq::error_t();
    monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
    monitor_.set(zmq::sockopt::linger, 0);
    monitor_.connect(monitor_endpoint);
    dealer_.connect(peer_.endpoint());
  }

  void close() {
    if (!dealer_) return;
    zmq_socket_monitor(dealer_.handle(), nullptr, 0);
    dealer_.close();
    monitor_.close();
  }

  // A whole message of one frame, after the question is sent; anything else is dropped.
  std::optional<std::string> receive(bool wanted) {
    zmq::message_t frame;
    std::optional<std::string> answer;
    std::size_t frames = 0;
    do {
      if (!dealer_.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
      if (++frames == 1 && wanted && !frame.more()) answer = frame.to_string();
    } while (frame.more());
    return answer;
  }

  // The number of a monitor event (its first frame starts with it), or 0.
  int next_event() {
    int event = 0;
    zmq::message_t frame;
    bool more = true;
    for (bool first = true; more; first = false) {
      if (!monitor_.recv(frame, zmq::recv_flags::dontwait)) return 0;
      std::uint16_t number = 0;
      if (first && frame.size() >= sizeof number) {
        std::memcpy(&number, frame.data(), sizeof number);
        event = number;
      }
      more = frame.more();
    }
    return event;
  }

  std::string refused_message() const {
    const std::string who = address_ + " refused the connection: ";
    if (keys_.empty()) return who + "its ring has a key (give it with --ring-key-file), or it is not an orbweaver peer";
    return who + "its ring key is not the one given with --ring-key-file, or it is not an orbweaver peer";
  }

  const HostPort peer_;
  const std::string address_;
  const RingKeys keys_;
  zmq::context_t context_;
  zmq::socket_t dealer_;
  zmq::socket_t monitor_;
  int connects_ = 0;
};

ZmqClient::ZmqClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ZmqClient::~ZmqClient() = default;

Result<std::unique_ptr<ZmqClient>> ZmqClient::open(const std::string& address, const std::string& ring_secret) {
  const std::optional<HostPort> peer = parse_host_port(address);
  if (!peer || peer->port == 0)
    return failure("\"" + address + "\" is not a peer's address; it is HOST:PORT, as 127.0.0.1:7400");
  Result<RingKeys> keys = keys_from(ring_secret);
  if (!keys) return tl::make_unexpected(keys.error());
  try {
    return std::unique_ptr<ZmqClient>(new ZmqClient(std::make_unique<Impl>(*peer, address, *std::move(keys))));
  } catch (const zmq::error_t& error) {
    return failure(std::string("ZeroMQ does not start: ") + error.what());
  }
}

Result<std::string> ZmqClient::ask(std::string bytes, Duration timeout) {
  try {
    return impl_->ask(std::move(bytes), timeout);
  } catch (const zmq::error_t& error) {
    return failure(std::string("the connection failed: ") + error.what());
  }
}

}  // namespace orbweaver::ring
