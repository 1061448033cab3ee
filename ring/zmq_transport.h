// Bytes between peers over ZeroMQ; this header's .cc files and ring/zmq_curve.* are the only ones that know it.
//
// One ROUTER listens. Each address that is sent to has one DEALER, made on demand and closed after idle_close_after. A
// message is one frame. An answer returns on the connection of its question.
//
// Trust: with a ring key every link is CURVE (RFC 26 of ZeroMQ). All peers and commands of a ring share one key pair; a
// ZAP handler accepts that public key alone. Without a key only loopback addresses may be listened on.
//
// Bounds: connections that have not shown the key are limited, in total and from one address. For each address
// max_queued_messages messages wait here, and send_high_water inside ZeroMQ while connected. Their bytes count until
// ZeroMQ has freed them: Config::max_bytes in total, half for messages to addresses and half for answers, shared among
// the slow readers (ring/send_room.h). A message that has waited for max_queued_age is dropped: its sender has long
// sent it again. A message lost with a connection is lost: senders repeat.
//
// Thread rule: send(), reply(), stats(), listen_address() and stop() from any thread; on_message is called on the
// transport's own I/O thread, perhaps before open() has returned (a peer that knows this port from an earlier run), and
// after stop() never again. stop() must not be called from on_message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ring/messages.h"
#include "ring/transport.h"
#include "ring/types.h"

namespace orbweaver::ring {

// Counted since open(). Bytes are those of the messages, without ZeroMQ's framing.
struct TransportStats {
  std::uint64_t messages_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t messages_out = 0;  // taken by ZeroMQ
  std::uint64_t bytes_out = 0;
  std::uint64_t refused = 0;  // send() or reply() answered false: queue full, unusable address, message too large
  std::uint64_t unroutable =
      0;  // accepted, then dropped: not connected for max_queued_age, or the asker is gone or does not read
  std::uint64_t malformed = 0;      // received with a frame layout that is not ours, and dropped
  std::uint64_t strangers = 0;      // connections refused: another ring key or none, or not ZeroMQ at all
  std::uint64_t connections = 0;    // addresses with a DEALER now
  std::uint64_t unknown = 0;        // connections that have not shown the ring key yet, now
  std::uint64_t shut = 0;           // of these, shut down because there were too many
  std::uint64_t endless = 0;        // connections shut down for a message without an end (ring/endless_messages.h)
  std::uint64_t waiting_bytes = 0;  // of messages that wait to be sent, here or inside ZeroMQ, now
};

class ZmqTransport : public Transport {
 public:
  static constexpr std::size_t max_queued_messages = 256;            // to one address
  static constexpr std::size_t max_queued_bytes = 16u << 20;         // to one address: two of the largest messages
  static constexpr std::size_t max_queued_bytes_total = 128u << 20;  // in total, where Config does not set less
  static constexpr std::size_t max_addresses = 4096;                 // DEALERs at a time
  static constexpr int send_high_water = 64;                         // messages in ZeroMQ's pipe to one peer
  static constexpr int receive_high_water = 4;  // from one peer: this many of the largest are 32 MiB
  static constexpr Duration max_queued_age{std::chrono::seconds{30}};
  static constexpr Duration idle_close_after{std::chrono::minutes{5}};

  struct Config {
    std::string listen;             // "127.0.0.1:7400", "[::1]:0"; port 0: any free one
    std::string ring_secret_key;    // 40 characters of Z85, see make_ring_secret(); empty: no encryption, loopback only
    std::size_t max_unknown = 256;  // connections that have not shown the key yet: ring/zmq_gate.h
    std::size_t max_unknown_address = 64;            // of those, from one address
    std::size_t max_bytes = max_queued_bytes_total;  // of messages that wait to be sent
  };
  static Result<std::unique_ptr<ZmqTransport>> open(const Config& config, OnMessage on_message);
  ~ZmqTransport() override;
  ZmqTransport(const ZmqTransport&) = delete;
  ZmqTransport& operator=(const ZmqTransport&) = delete;

  bool send(const std::string& address, std::string bytes) override;
  void begin_anew(const std::string& address) override;
  bool reply(const ReplyPath& path, std::string bytes) override;

  std::string listen_address() const;  // "127.0.0.1:7400", with the real port
  TransportStats stats() const;
  // Sends what connected peers still take within half a second, then closes everything and joins the thread. Safe to
  // repeat.
  void stop();

 private:
  class Impl;
  explicit ZmqTransport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A new ring key: a CURVE secret key, 40 characters of Z85. Empty when libzmq was built without CURVE.
std::string make_ring_secret();

// For commands: asks one peer, waits for the answer. Thread rule: one owner.
class ZmqClient {
 public:
  // Does not connect yet; an error means an unusable address or key. `ring_secret` empty: no encryption.
  static Result<std::unique_ptr<ZmqClient>> open(const std::string& address, const std::string& ring_secret);
  ~ZmqClient();
  ZmqClient(const ZmqClient&) = delete;
  ZmqClient& operator=(const ZmqClient&) = delete;

  // One request, one answer. The error says whether no peer listens there, the key was refused, or no answer came.
  Result<std::string> ask(std::string bytes, Duration timeout);

 private:
  class Impl;
  explicit ZmqClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orbweaver::ring
