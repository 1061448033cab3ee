// A real Peer on a store in memory, and its invariants under any input: other peers can read its messages, the messages
// and its memory are bounded, and time advances between its deadlines. A breach aborts.
#pragma once

#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "node/config/settings_table.h"
#include "node/peer/core.h"
#include "ring/codec.h"
#include "storage/memory_kv.h"

namespace orbweaver::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "breach: %s\n", what);
  std::abort();
}

inline ring::PeerId id_of(std::uint8_t number) {
  ring::PeerId id;
  id.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return id;
}

class FuzzedPeer {
 public:
  static constexpr std::uint32_t partitions = 16;
  static constexpr std::uint8_t self = 0;
  static constexpr std::uint8_t ring_number = 99;
  // Per step, after at most 64 KiB of input in all: answers contain the whole view and all tenures, for each member.
  static constexpr std::size_t max_commands = 4096;
  static constexpr std::size_t max_said_bytes = 8u << 20;
  // The peer's memory above that after its start.
  static constexpr std::size_t max_held_bytes = 32u << 20;

  // False: the directory could not be opened.
  bool open() {
    peer_.reset();
    store_.reset();
    auto store = storage::Store::open(kv);
    if (!store) return false;
    store_.emplace(std::move(*store));
    PeerStart begin;
    static const Settings defaults = default_settings();
    begin.settings.values = defaults;
    begin.settings.values.partitions = partitions;
    begin.settings.values.stop_when_done = false;
    begin.settings.values.suspicion_time = std::chrono::seconds(2);
    begin.address = "10.0.0.1:7400";
    begin.fresh_id = id_of(self);
    begin.fresh_ring = id_of(ring_number);
    begin.random_seed = 1;
    auto opened = Core::open(std::move(begin), *store_, now);
    if (!opened) return false;
    peer_ = std::move(*opened);
    step(TickEvent{});
    return peer_ != nullptr;
  }
  void begin_count() { held_before_ = ::mallinfo2().uordblks; }

  // A peer that has ended leaves nothing here.
  bool lives() const { return peer_ != nullptr; }
  Core& peer() { return *peer_; }

  void step(Event event) {
    if (peer_ == nullptr) return;
    Commands out;
    const std::clock_t begun = std::clock();
    peer_->step(now, std::move(event), out);
    if (max_cpu_ > 0) require(std::clock() - begun < max_cpu_, "a step takes too long");
    require(out.size() <= max_commands, "too many commands in a step");
    std::size_t bytes = 0;
    bool ended = false;
    for (const Command& command : out) {
      const ring::Message* said = nullptr;
      if (const auto* send = std::get_if<SendMessage>(&command)) said = &send->message;
      if (const auto* reply = std::get_if<ReplyMessage>(&command)) said = &reply->message;
      ended = ended || std::holds_alternative<Exit>(command);
      if (said == nullptr) continue;
      const std::string encoded = ring::encode(*said);
      bytes += encoded.size();
      require(ring::decode(encoded).has_value(), "it says what nobody takes");
      if (const auto* ask = std::get_if<ring::Ask>(&said->body)) asked = ask->sequence;
      if (const auto* ping = std::get_if<ring::Ping>(&said->body)) asked = ping->sequence;
      if (const auto* batch = std::get_if<ring::Batch>(&said->body)) asked = batch->sequence;
      if (const auto* roots = std::get_if<ring::Roots>(&said->body)) asked = roots->sequence;
    }
    require(bytes <= max_said_bytes, "it says too much in a step");
    if (ended) {
      peer_.reset();
      return;
    }
    require(::mallinfo2().uordblks <= held_before_ + max_held_bytes, "it holds too much");
  }

  // Steps at the peer's deadlines until this much time has passed.
  void pass(Duration time) {
    const Time until = now + time;
    for (int still = 0; peer_ != nullptr && now < until;) {
      const Time next = std::min(peer_->next_deadline(now), until);
      still = next > now ? 0 : still + 1;
      require(still < 1000, "it never sleeps");
      now = std::max(now, next);
      step(TickEvent{});
    }
  }

  storage::MemoryKv kv;
  Time now{std::chrono::seconds(1'700'000'000)};
  std::uint64_t asked = 0;  // the number of its last question

 private:
  std::optional<storage::Store> store_;
  std::unique_ptr<Core> peer_;
  std::size_t held_before_ = ::mallinfo2().uordblks;
  // Only on request: other processes may use the processor's caches. Milliseconds per step.
  const std::clock_t max_cpu_ = [] {
    const char* most = std::getenv("ORBWEAVER_FUZZ_STEP_MS");
    return most == nullptr ? std::clock_t{0} : std::atol(most) * (CLOCKS_PER_SEC / 1000);
  }();
};

}  // namespace orbweaver::fuzz
