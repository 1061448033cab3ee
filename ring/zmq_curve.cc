#include "ring/zmq_curve.h"

#include <array>
#include <vector>

#include "ring/messages.h"
#include "ring/zmq_transport.h"

namespace orbweaver::ring {

namespace {

constexpr std::size_t z85_key_chars = 40;
constexpr std::size_t key_bytes = 32;
// libzmq compares the limit with the frame as it travels; CURVE adds a nonce and an authenticator to it.
constexpr std::int64_t max_frame_bytes = static_cast<std::int64_t>(max_message_bytes) + 256;
// On an idle connection TCP checks whether the other end is there. ZeroMQ's heartbeats are not used: libzmq 4.3.4 ends
// the process (assertion !_io_error) when it sends or answers one on a connection that broke while it was not read
// because receive_high_water messages waited.
constexpr int keepalive_idle_s = 10;
constexpr int keepalive_every_s = 5;
constexpr int keepalive_tries = 2;
// TCP doubles its waits. After a network split of a minute, a connection attempt made during it, or data that was in
// flight, would arrive up to a minute later, in one direction and not the other. So both are abandoned and started
// again.
constexpr int connect_timeout_ms = 2000;
constexpr int unacknowledged_max_ms = 10000;
constexpr int handshake_timeout_ms = 5000;  // a connection that sends nothing is closed after this

constexpr const char* zap_endpoint = "inproc://zeromq.zap.01";
constexpr const char* zap_domain = "orbweaver";

}  // namespace

Result<RingKeys> keys_from(const std::string& ring_secret) {
  if (ring_secret.empty()) return RingKeys{};
  std::array<char, z85_key_chars + 1> public_key{};
  if (ring_secret.size() != z85_key_chars || zmq_curve_public(public_key.data(), ring_secret.c_str()) != 0) {
    return tl::make_unexpected(
        Error{"the ring key is not 40 characters of Z85; make one with `orbweaver ring-key` and give the same "
              "--ring-key-file to every peer and command"});
  }
  return RingKeys{ring_secret, std::string(public_key.data(), z85_key_chars)};
}

std::string make_ring_secret() {
  std::array<char, z85_key_chars + 1> public_key{};
  std::array<char, z85_key_chars + 1> secret{};
  if (zmq_curve_keypair(public_key.data(), secret.data()) != 0) return {};
  return std::string(secret.data(), z85_key_chars);
}

void set_common_options(zmq::socket_t& socket, const HostPort& address) {
  socket.set(zmq::sockopt::linger, 0);
  // Not for names: libzmq tries only the first address of a name, and "localhost" would be ::1 where peers listen on
  // 127.0.0.1.
  socket.set(zmq::sockopt::ipv6, address.is_ipv6);
  socket.set(zmq::sockopt::maxmsgsize, max_frame_bytes);
  socket.set(zmq::sockopt::sndhwm, ZmqTransport::send_high_water);
  socket.set(zmq::sockopt::rcvhwm, ZmqTransport::receive_high_water);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, keepalive_idle_s);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, keepalive_every_s);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, keepalive_tries);
  socket.set(zmq::sockopt::connect_timeout, connect_timeout_ms);
  socket.set(zmq::sockopt::tcp_maxrt, unacknowledged_max_ms);
  socket.set(zmq::sockopt::handshake_ivl, handshake_timeout_ms);
}

void act_as_server(zmq::socket_t& socket, const RingKeys& keys) {
  if (keys.empty()) return;
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, keys.secret);
  socket.set(zmq::sockopt::zap_domain, zap_domain);
}

void act_as_client(zmq::socket_t& socket, const RingKeys& keys) {
  if (keys.empty()) return;
  socket.set(zmq::sockopt::curve_serverkey, keys.public_key);
  socket.set(zmq::sockopt::curve_publickey, keys.public_key);
  socket.set(zmq::sockopt::curve_secretkey, keys.secret);
}

ZapHandler::ZapHandler(zmq::context_t& context, const RingKeys& keys) : socket_(context, zmq::socket_type::rep) {
  public_key_.resize(key_bytes);
  zmq_z85_decode(reinterpret_cast<std::uint8_t*>(public_key_.data()), keys.public_key.c_str());
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind(zap_endpoint);
}

bool ZapHandler::answer_one() {
  // Version, request id, domain, address, identity, mechanism, credentials; written by libzmq itself, from the client's
  // handshake.
  std::vector<std::string> frames;
  bool more = true;
  while (more) {
    zmq::message_t frame;
    if (!socket_.recv(frame, zmq::recv_flags::dontwait)) return false;
    more = frame.more();
    if (frames.size() < 8) frames.push_back(frame.to_string());
  }
  const bool welcome = frames.size() == 7 && frames[0] == "1.0" && frames[2] == zap_domain && frames[5] == "CURVE" &&
                       frames[6] == public_key_;
  const std::string request_id = frames.size() > 1 ? frames[1] : std::string();
  const std::array<std::string, 6> answer = {
      "1.0", request_id, welcome ? "200" : "400", welcome ? "OK" : "not this ring's key", "", ""};
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto flags = i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    socket_.send(zmq::buffer(answer[i]), flags | zmq::send_flags::dontwait);
  }
  return !welcome;
}

}  // namespace orbweaver::ring
