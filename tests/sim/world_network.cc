// Messages: encoded, delayed, lost, doubled, reordered, cut off, decoded.
#include <algorithm>

#include "node/process/event_queue.h"
#include "ring/codec.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

void World::post(std::size_t from, std::size_t to, std::optional<std::uint64_t> only_generation,
                 const ring::Message& message) {
  if (peers_[from].mute) return;  // it is dead already
  const std::string bytes = ring::encode(message);
  trace_.mix_in(bytes);
  strike_after_send(peers_[from], message);
  crash_after_send(from, message);
  count_to_late_seed(message);
  const auto* finish = std::get_if<ring::Finish>(&message.body);
  if (finish != nullptr) note_end(finish->stage);
  if (finish != nullptr && finish->stage == ring::EndStage::decided && !ending_) {
    begin_ending();
    heal();
  }
  tell([&](Checker& checker) { checker.message_sent(*this, from, to, message); });
  ++stats_.messages;
  stats_.message_bytes += bytes.size();
  Traffic& traffic = stats_.by_type[std::string(ring::type_name(message.body))];
  ++traffic.messages;
  traffic.bytes += bytes.size();
  const NetworkConfig& network = faults_over() ? parameters_.healed : parameters_.network;
  if (random_.chance(network.loss)) {
    ++stats_.messages_lost;
    return note("  lost: " + std::string(ring::type_name(message.body)) + " from p" + std::to_string(from) + " to p" +
                std::to_string(to));
  }
  const auto* const batch = std::get_if<ring::Batch>(&message.body);
  if (batch != nullptr && batch->kind == ring::BatchKind::forward && now_ < peers_[to].takes_links_from) {
    ++stats_.messages_lost;
    return;
  }
  const Fault* cut = cut_between(from, to);
  if (cut != nullptr && !cut->held) {
    ++stats_.messages_lost;
    return note("  cut off: " + std::string(ring::type_name(message.body)) + " from p" + std::to_string(from) +
                " to p" + std::to_string(to));
  }
  const auto stale = only_generation ? stale_.end() : stale_.find({from, to, false});
  if (stale != stale_.end() && now_ < stale->second) {
    ++stats_.messages_lost;
    return note("  lost with a connection from before a cut: " + std::string(ring::type_name(message.body)) +
                " from p" + std::to_string(from) + " to p" + std::to_string(to));
  }
  const Time leaves = cut == nullptr ? now_ : start_ + cut->at + cut->down;
  const int copies = random_.chance(network.doubled) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    const bool answers = parameters_.two_connections && only_generation;
    Time arrives = leaves + random_.between(network.delay_min, network.max_delay) + slowness_between(from, to);
    if (answers) arrives += random_.between(Duration{}, parameters_.max_answer_lag);
    const bool wave =
        std::holds_alternative<ring::WaveProbe>(message.body) || std::holds_alternative<ring::WaveReply>(message.body);
    if (wave && parameters_.max_wave_delay > Duration{}) {
      arrives += random_.between(Duration{}, parameters_.max_wave_delay);
    } else if (random_.chance(network.reordered)) {
      arrives += random_.between(Duration{}, network.max_late);
    } else {
      Time& last = link_[{from, to, answers}];
      arrives = last = std::max(arrives, last);
    }
    schedule(arrives, [this, from, generation = peers_[from].generation, to, only_generation, bytes] {
      deliver(from, generation, to, only_generation, bytes);
    });
  }
}

void World::deliver(std::size_t from, std::uint64_t from_life, std::size_t to,
                    std::optional<std::uint64_t> only_generation, const std::string& bytes) {
  SimPeer& peer = peers_[to];
  if (peer.status != Status::up || (only_generation && *only_generation != peer.generation)) return;
  ring::Result<ring::Message> message = ring::decode(bytes);
  if (!message) return fail("wire", "a peer's own message cannot be decoded: " + message.error().message);
  if (wait_in_queue(to, EventQueue::is_probe(message->body), bytes.size(),
                    [this, from, from_life, to, only_generation, bytes] {
                      deliver(from, from_life, to, only_generation, bytes);
                    }))
    return;
  tell([&](Checker& checker) { checker.message_arrived(*this, from, to, *message); });
  step(to, MessageEvent{std::move(*message), {std::to_string(from) + ":" + std::to_string(from_life)}});
}

}  // namespace orbweaver::sim
