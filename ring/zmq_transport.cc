#include "ring/zmq_transport.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ring/endless_messages.h"
#include "ring/send_room.h"
#include "ring/zmq_curve.h"
#include "ring/zmq_gate.h"
#include "ring/zmq_message.h"
#include "ring/zmq_start.h"
#include "ring/zmq_waiter.h"

namespace orbweaver::ring {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_replies_queued = 4096;  // answers waiting for the I/O thread
constexpr std::size_t received_at_a_time = 64;    // from one socket, before the others are read
constexpr std::size_t rounds_at_a_time = 4;       // of sending and receiving at one connection, before the others
constexpr std::size_t events_at_a_time = 1024;    // events of connections: two or three for each stranger
constexpr std::chrono::milliseconds housekeeping_every{1000};
constexpr std::chrono::milliseconds look_every{200};  // how often to check for endless messages
constexpr int linger_at_stop_ms = 500;
constexpr int reconnect_min_ms = 100;
constexpr int reconnect_max_ms = 2000;
constexpr const char* monitor_endpoint = "inproc://orbweaver.listener";

struct Outgoing {
  std::string address;  // empty: an answer, sent by `route`
  std::string route;
  zmq::message_t message;
};

struct Waiting {
  zmq::message_t message;
  Clock::time_point since;
};

struct Link {
  zmq::socket_t dealer;
  std::deque<Waiting> waiting;
  Clock::time_point last_used;
  bool listed = false;  // in to_serve_
};
using Links = std::map<std::string, Link>;  // by address

struct Counters {
  std::atomic<std::uint64_t> messages_in{0}, bytes_in{0}, messages_out{0}, bytes_out{0};
  std::atomic<std::uint64_t> refused{0}, unroutable{0}, malformed{0}, strangers{0}, connections{0}, unknown{0}, shut{0},
      endless{0};
};

}  // namespace

class ZmqTransport::Impl {
 public:
  Impl(RingKeys keys, const Config& config, OnMessage on_message)
      : keys_(std::move(keys)),
        on_message_(std::move(on_message)),
        sends_(std::make_shared<SendRoom>(config.max_bytes / 2, max_queued_bytes)),
        answers_(std::make_shared<SendRoom>(config.max_bytes / 2, config.max_bytes)),
        wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        gate_(config.max_unknown, config.max_unknown_address, !keys_.empty()) {
    try_library_threads();
    context_.set(zmq::ctxopt::max_sockets, static_cast<int>(max_addresses) + 64);
    if (!keys_.empty()) zap_.emplace(context_, keys_);
    router_ = zmq::socket_t(context_, zmq::socket_type::router);
    act_as_server(router_, keys_);
    router_.set(zmq::sockopt::router_mandatory, true);
    constexpr int events = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                           ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
    if (zmq_socket_monitor(router_.handle(), monitor_endpoint, events) != 0) throw zmq::error_t();
    monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
    monitor_.set(zmq::sockopt::linger, 0);
    monitor_.connect(monitor_endpoint);
  }

  ~Impl() {
    stop();
    if (wake_fd_ >= 0) ::close(wake_fd_);
  }

  void start(const HostPort& listen) {
    if (wake_fd_ < 0 || !waiter_.add(wake_fd_, &wake_fd_)) throw zmq::error_t();
    set_common_options(router_, listen);
    router_.bind(listen.endpoint());
    watch(router_, &router_);
    watch(monitor_, &monitor_);
    if (zap_) watch(zap_->socket(), &zap_);
    listen_address_ = router_.get(zmq::sockopt::last_endpoint).substr(std::string_view("tcp://").size());
    gate_.listens_on(parse_host_port(listen_address_)->port);
    // Signals are for the main thread.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake();
    const std::lock_guard joining(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }

  // `address` empty: an answer, sent by `route`.
  bool enqueue(const std::string& address, const std::string& route, std::string bytes) {
    const bool answer = address.empty();
    const std::size_t max_messages = answer ? max_replies_queued : max_queued_messages;
    bool was_empty = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_ || bytes.size() > max_message_bytes) return refuse();
      const auto queued = queued_.find(address);
      if (queued == queued_.end() && queued_.size() >= max_addresses) return refuse();
      if (queued != queued_.end() && queued->second >= max_messages) return refuse();
      const std::shared_ptr<SendRoom>& room = answer ? answers_ : sends_;
      const std::string& to = answer ? route : address;
      if (!room->take(to, bytes.size())) return refuse();
      ++queued_[address];
      was_empty = outbox_.empty();
      outbox_.push_back({address, route, message_of(std::make_unique<RoomedBytes>(std::move(bytes), to, room))});
    }
    if (was_empty) wake();
    return true;
  }

  void begin_anew(const std::string& address) {
    {
      const std::lock_guard lock(mutex_);
      begin_anew_.insert(address);
    }
    wake();
  }

  bool refuse() {
    ++counters_.refused;
    return false;
  }

  const std::string& listen_address() const { return listen_address_; }
  const Counters& counters() const { return counters_; }
  std::size_t waiting_bytes() const { return sends_->bytes() + answers_->bytes(); }

 private:
  void watch(zmq::socket_ref socket, void* who) {
    if (!waiter_.add(socket.get(zmq::sockopt::fd), who)) throw zmq::error_t();
  }

  void wake() const {
    const std::uint64_t one = 1;
    // The write fails only when the counter is full, and then the thread is awake anyway.
    [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
  }

  // ---- from here on: the I/O thread ----

  void run() {
    bool last = false;
    while (!last) {
      try {
        last = step();
      } catch (const zmq::error_t& error) {
        if (error.num() == EINTR) {
          serve_all();
          continue;
        }
        std::fprintf(stderr, "orbweaver: ZeroMQ failed on its own sockets: %s\n", error.what());
        std::abort();
      }
    }
    close();
  }

  // One round of the loop; true when it was the last.
  bool step() {
    const bool last = take_outbox();
    for (Links::value_type* entry : std::exchange(to_serve_, {})) {
      entry->second.listed = false;
      serve(*entry);
    }
    if (last) return true;
    serve_listener();
    wait();
    const auto now = Clock::now();
    if (now >= next_look_) {
      next_look_ = now + look_every;
      look_for_endless();
    }
    if (now >= next_housekeeping_) {
      next_housekeeping_ = now + housekeeping_every;
      housekeep(now);
    }
    return false;
  }

  void wait() {
    const bool at_once = !to_serve_.empty() || zap_waits_ || monitor_waits_ || router_waits_;
    for (void* who : waiter_.wait(at_once ? std::chrono::milliseconds{0} : look_every)) {
      if (who == &wake_fd_) {
        std::uint64_t wakes = 0;
        [[maybe_unused]] const auto got = ::read(wake_fd_, &wakes, sizeof wakes);
      } else if (who == &router_) {
        router_waits_ = true;
      } else if (who == &monitor_) {
        monitor_waits_ = true;
      } else if (who == &zap_) {
        zap_waits_ = true;
      } else {
        list(*static_cast<Links::value_type*>(who));
      }
    }
  }

  // A call that was interrupted may have taken word that nobody has acted on.
  void serve_all() {
    to_serve_.clear();
    for (Links::value_type& entry : links_) {
      entry.second.listed = false;
      list(entry);
    }
    zap_waits_ = monitor_waits_ = router_waits_ = true;
  }

  void list(Links::value_type& entry) {
    if (!std::exchange(entry.second.listed, true)) to_serve_.push_back(&entry);
  }

  // Moves what other threads queued to the links; true when it is time to stop.
  bool take_outbox() {
    std::deque<Outgoing> taken;
    std::set<std::string> begun_anew;
    bool stopping = false;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(outbox_);
      begun_anew.swap(begin_anew_);
      stopping = stopping_;
    }
    for (const std::string& address : begun_anew) connect_anew(address);
    const auto now = Clock::now();
    for (Outgoing& outgoing : taken) {
      if (outgoing.address.empty()) {
        send_answer(std::move(outgoing));
      } else if (Links::value_type* entry = link_to(outgoing.address)) {
        entry->second.waiting.push_back({std::move(outgoing.message), now});
        entry->second.last_used = now;
        list(*entry);
      } else {
        drop(outgoing.address);
      }
    }
    return stopping;
  }

  // With the DEALER to an address, made when there is none; null when it cannot be made (out of file descriptors, too
  // many addresses).
  Links::value_type* link_to(const std::string& address) {
    const auto found = links_.find(address);
    if (found != links_.end()) return &*found;
    if (links_.size() >= max_addresses) return nullptr;
    try {
      const auto made = links_.emplace(address, Link{connected_dealer(address), {}, Clock::now()}).first;
      if (!waiter_.add(made->second.dealer.get(zmq::sockopt::fd), &*made)) {
        links_.erase(made);
        return nullptr;
      }
      ++counters_.connections;
      return &*made;
    } catch (const zmq::error_t&) {
      return nullptr;
    }
  }

  // Messages that wait here stay; those inside ZeroMQ are lost with the connection.
  void connect_anew(const std::string& address) {
    const auto found = links_.find(address);
    if (found == links_.end()) return;
    try {
      zmq::socket_t dealer = connected_dealer(address);
      if (!waiter_.add(dealer.get(zmq::sockopt::fd), &*found)) return;  // as below
      waiter_.remove(found->second.dealer.get(zmq::sockopt::fd));
      found->second.dealer = std::move(dealer);
      list(*found);
    } catch (const zmq::error_t&) {  // out of file descriptors: the old connection ends by itself
    }
  }

  zmq::socket_t connected_dealer(const std::string& address) {
    const HostPort peer = *parse_host_port(address);  // send() has checked it
    zmq::socket_t dealer(context_, zmq::socket_type::dealer);
    set_common_options(dealer, peer);
    act_as_client(dealer, keys_);
    dealer.set(zmq::sockopt::immediate, true);  // nothing is queued inside ZeroMQ for a peer that is not connected
    dealer.set(zmq::sockopt::reconnect_ivl, reconnect_min_ms);
    dealer.set(zmq::sockopt::reconnect_ivl_max, reconnect_max_ms);
    dealer.connect(peer.endpoint());
    return dealer;
  }

  // Until ZeroMQ has nothing more for it. One that has very much goes on in the next round.
  void serve(Links::value_type& entry) {
    auto& [address, link] = entry;
    for (std::size_t round = 0; round < rounds_at_a_time; ++round) {
      const int events = link.dealer.get(zmq::sockopt::events);
      const bool may_send = (events & ZMQ_POLLOUT) != 0 && !link.waiting.empty();
      const bool may_receive = (events & ZMQ_POLLIN) != 0;
      if (!may_send && !may_receive) return;
      if (may_send) flush(address, link);
      if (may_receive) receive_answers(link);
    }
    list(entry);
  }

  void flush(const std::string& address, Link& link) {
    while (!link.waiting.empty()) {
      zmq::message_t& first = link.waiting.front().message;
      const std::size_t bytes = first.size();
      try {
        if (!link.dealer.send(first, zmq::send_flags::dontwait)) return;  // not connected, or it does not read
        sent(address, bytes);
      } catch (const zmq::error_t&) {
        drop(address);
      }
      link.waiting.pop_front();
    }
  }

  void send_answer(Outgoing outgoing) {
    const std::size_t bytes = outgoing.message.size();
    try {
      router_waits_ = true;  // the call may take word of messages that came in
      const auto to = router_.send(zmq::buffer(outgoing.route), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
      if (!to) return drop(outgoing.address);  // the asker does not read its answers
      router_.send(outgoing.message, zmq::send_flags::dontwait);
      sent(outgoing.address, bytes);
    } catch (const zmq::error_t&) {  // EHOSTUNREACH: the asker is gone
      drop(outgoing.address);
    }
  }

  void sent(const std::string& address, std::size_t bytes) {
    ++counters_.messages_out;
    counters_.bytes_out += bytes;
    release(address);
  }

  void drop(const std::string& address) {
    ++counters_.unroutable;
    release(address);
  }

  void release(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto queued = queued_.find(address);
    if (--queued->second == 0) queued_.erase(queued);
  }

  void serve_listener() {
    if (std::exchange(zap_waits_, false) && zap_) answer_zap();
    if (std::exchange(monitor_waits_, false)) watch_connections();
    if (std::exchange(router_waits_, false)) receive_messages();
  }

  void answer_zap() {
    for (std::size_t i = 0; i < received_at_a_time; ++i) {
      if ((zap_->socket().get(zmq::sockopt::events) & ZMQ_POLLIN) == 0) return;
      if (zap_->answer_one()) ++counters_.strangers;
    }
    zap_waits_ = true;
  }

  void receive_messages() {
    for (std::size_t i = 0; i < received_at_a_time; ++i) {
      const auto frames = receive(router_, 2);
      if (!frames) return;
      if (frames->size() == 2) {
        endless_.delivered(zmq_msg_get((*frames)[1].handle(), ZMQ_SRCFD));
        deliver((*frames)[1], ReplyPath{(*frames)[0].to_string()});
      } else {
        ++counters_.malformed;
      }
    }
    router_waits_ = true;
  }

  // After all whole messages were read, none wait inside libzmq; while more wait, they may belong to any connection.
  void look_for_endless() {
    const bool more = (router_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
    router_waits_ = router_waits_ || more;
    counters_.endless += endless_.shut_endless(more ? (receive_high_water + 1) * max_message_bytes : 0);
  }

  void watch_connections() {
    for (std::size_t i = 0; i < events_at_a_time; ++i) {
      const auto frames = receive(monitor_, 2);
      if (!frames) return;
      if (frames->empty() || frames->front().size() < sizeof(std::uint16_t) + sizeof(std::uint32_t)) continue;
      std::uint16_t event = 0;
      std::int32_t value = 0;
      const auto* bytes = frames->front().data<char>();
      std::memcpy(&event, bytes, sizeof event);
      std::memcpy(&value, bytes + sizeof event, sizeof value);
      if (event == ZMQ_EVENT_ACCEPTED) {
        gate_.accepted(value);
        endless_.accepted(value);
      } else if (event == ZMQ_EVENT_DISCONNECTED) {
        gate_.gone(value);
        endless_.gone(value);
      } else {
        ++counters_.strangers;
      }
      counters_.unknown = gate_.unknown();
      counters_.shut = gate_.shut();
    }
    monitor_waits_ = true;
  }

  void receive_answers(Link& link) {
    for (std::size_t i = 0; i < received_at_a_time; ++i) {
      const auto frames = receive(link.dealer, 1);
      if (!frames) return;
      link.last_used = Clock::now();
      if (frames->size() == 1) {
        deliver((*frames)[0], ReplyPath{});
      } else {
        ++counters_.malformed;
      }
    }
  }

  void deliver(const zmq::message_t& message, ReplyPath reply) {
    ++counters_.messages_in;
    counters_.bytes_in += message.size();
    on_message_(message.to_string(), std::move(reply));
  }

  void housekeep(Clock::time_point now) {
    gate_.sweep();
    counters_.unknown = gate_.unknown();
    for (auto at = links_.begin(); at != links_.end();) {
      auto& [address, link] = *at;
      while (!link.waiting.empty() && now - link.waiting.front().since > max_queued_age) {
        drop(address);
        link.waiting.pop_front();
      }
      const bool idle = link.waiting.empty() && !link.listed && now - link.last_used > idle_close_after;
      if (idle) --counters_.connections;
      if (idle) waiter_.remove(link.dealer.get(zmq::sockopt::fd));
      at = idle ? links_.erase(at) : std::next(at);
    }
  }

  void close() {
    gate_.close();
    for (auto& [address, link] : links_) link.dealer.set(zmq::sockopt::linger, linger_at_stop_ms);
    router_.set(zmq::sockopt::linger, linger_at_stop_ms);
    zmq_socket_monitor(router_.handle(), nullptr, 0);
    links_.clear();
    counters_.connections = 0;
    router_.close();
    monitor_.close();
    zap_.reset();
    context_.close();  // waits for the linger time, no longer
  }

  const RingKeys keys_;
  const OnMessage on_message_;
  const std::shared_ptr<SendRoom> sends_;    // by address
  const std::shared_ptr<SendRoom> answers_;  // by route
  int wake_fd_;                              // its address is its word in waiter_; likewise the sockets
  std::string listen_address_;
  Counters counters_;

  std::mutex mutex_;
  std::deque<Outgoing> outbox_;                // on the way to the I/O thread
  std::map<std::string, std::size_t> queued_;  // messages by address ("": answers): in outbox_ or waiting in a link
  std::set<std::string> begin_anew_;           // addresses
  bool stopping_ = false;

  zmq::context_t context_;  // declared before everything that must be closed before it
  std::optional<ZapHandler> zap_;
  zmq::socket_t router_;
  zmq::socket_t monitor_;
  Links links_;
  std::vector<Links::value_type*> to_serve_;
  // Or may have something to read. At the start all may: no word comes before a first look.
  bool zap_waits_ = true;
  bool monitor_waits_ = true;
  bool router_waits_ = true;
  SocketWaiter waiter_;
  EndlessMessages endless_;
  ConnectionGate gate_;  // the I/O thread's
  Clock::time_point next_housekeeping_{};
  Clock::time_point next_look_{};
  std::mutex join_mutex_;
  std::thread thread_;
};

ZmqTransport::ZmqTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ZmqTransport::~ZmqTransport() = default;

Result<std::unique_ptr<ZmqTransport>> ZmqTransport::open(const Config& config, OnMessage on_message) {
  std::optional<HostPort> listen = parse_host_port(config.listen);
  if (!listen) {
    return tl::make_unexpected(
        Error{"cannot listen on \"" + config.listen + "\": --listen takes ADDR:PORT, as 127.0.0.1:7400 or [::1]:7400"});
  }
  const Result<RingKeys> keys = keys_from(config.ring_secret_key);
  if (!keys) return tl::make_unexpected(keys.error());
  if (keys->empty() && !listen->is_loopback()) {
    return tl::make_unexpected(
        Error{"cannot listen on " + config.listen +
              " without a ring key: anyone who reaches it could join the ring; make a key " +
              "with `orbweaver ring-key` and give it to every peer with --ring-key-file, or listen on 127.0.0.1"});
  }
  if (listen->host == "localhost") listen->host = "127.0.0.1";  // ZeroMQ looks up no names to listen on
  try {
    auto impl = std::make_unique<Impl>(*keys, config, std::move(on_message));
    impl->start(*listen);
    return std::unique_ptr<ZmqTransport>(new ZmqTransport(std::move(impl)));
  } catch (const zmq::error_t& error) {
    return tl::make_unexpected(listen_error(config.listen, error.num()));
  } catch (const std::system_error& error) {  // from std::thread
    return tl::make_unexpected(listen_error(config.listen, error.code().value()));
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(listen_error(config.listen, ENOMEM));
  } catch (const std::exception& error) {
    return tl::make_unexpected(Error{"cannot listen on " + config.listen + ": " + error.what()});
  }
}

bool ZmqTransport::send(const std::string& address, std::string bytes) {
  const auto parsed = parse_host_port(address);
  if (!parsed || parsed->port == 0) return impl_->refuse();
  return impl_->enqueue(address, {}, std::move(bytes));
}

void ZmqTransport::begin_anew(const std::string& address) { impl_->begin_anew(address); }

bool ZmqTransport::reply(const ReplyPath& path, std::string bytes) {
  if (path.route.empty()) return impl_->refuse();
  return impl_->enqueue({}, path.route, std::move(bytes));
}

std::string ZmqTransport::listen_address() const { return impl_->listen_address(); }

TransportStats ZmqTransport::stats() const {
  const Counters& now = impl_->counters();
  TransportStats stats;
  stats.messages_in = now.messages_in;
  stats.bytes_in = now.bytes_in;
  stats.messages_out = now.messages_out;
  stats.bytes_out = now.bytes_out;
  stats.refused = now.refused;
  stats.unroutable = now.unroutable;
  stats.malformed = now.malformed;
  stats.strangers = now.strangers;
  stats.connections = now.connections;
  stats.unknown = now.unknown;
  stats.shut = now.shut;
  stats.endless = now.endless;
  stats.waiting_bytes = impl_->waiting_bytes();
  return stats;
}

void ZmqTransport::stop() { impl_->stop(); }

}  // namespace orbweaver::ring
