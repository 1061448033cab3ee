// A real Peer on a store in memory, and what must hold of it whatever it is told: what it says can be read by others,
// is bounded, and so is what it keeps; time goes on between its deadlines. A breach aborts.
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
  // Of one step, after at most 64 KiB of input in all: its answers hold the whole view and all tenures, to each member.
  static constexpr std::size_t commands_max = 4096;
  static constexpr std::size_t said_bytes_max = 8u << 20;
  // What the peer holds more than after its start.
  static constexpr std::size_t held_bytes_max = 32u << 20;

  // Whether the directory could be opened.
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

  // Nothing is left of a peer that has ended.
  bool lives() const { return peer_ != nullptr; }
  Core& peer() { return *peer_; }

  void step(Event event) {
    if (peer_ == nullptr) return;
    Commands out;
    const std::clock_t begun = std::clock();
    peer_->step(now, std::move(event), out);
    if (cpu_max_ > 0) require(std::clock() - begun < cpu_max_, "a step takes too long");
    require(out.size() <= commands_max, "too many commands in a step");
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
    require(bytes <= said_bytes_max, "it says too much in a step");
    if (ended) {
      peer_.reset();
      return;
    }
    require(::mallinfo2().uordblks <= held_before_ + held_bytes_max, "it holds too much");
  }

  // To the peer's deadlines, until so much time has passed.
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
  // Only where it is asked for: other processes may have the processor's caches. Milliseconds a step.
  const std::clock_t cpu_max_ = [] {
    const char* most = std::getenv("ORBWEAVER_FUZZ_STEP_MS");
    return most == nullptr ? std::clock_t{0} : std::atol(most) * (CLOCKS_PER_SEC / 1000);
  }();
};

}  // namespace orbweaver::fuzz
