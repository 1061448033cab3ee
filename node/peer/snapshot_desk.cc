#include "node/peer/snapshot_desk.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "node/config/settings_table.h"
#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "ring/codec.h"

namespace orbweaver {

using nlohmann::json;

json SnapshotDesk::answer(const Step& step, const json& body) {
  const Result<std::string> phase = text_field(body, "phase");
  const Result<std::string> snapshot = text_field(body, "snapshot");
  if (!phase) return {{"error", phase.error().message}};
  if (!snapshot) return {{"error", snapshot.error().message}};
  // It becomes the name of a directory.
  if (!ring::PeerId::from_hex(*snapshot)) return {{"error", "a snapshot's name is 32 hexadecimal digits"}};
  if (*phase == "hold") return hold(step, *snapshot);
  if (*phase == "save") return save(step, *snapshot);
  if (*phase == "look") return look(*snapshot);
  if (*phase == "end") return end(*snapshot);
  return {{"error", "unknown phase of a snapshot; this peer knows hold, save, look, end"}};
}

json SnapshotDesk::hold(const Step& step, const std::string& snapshot) {
  // A checkpoint in progress ends by itself, and no second one begins before that.
  if (state_now_ == State::saving || (state_now_ == State::held && snapshot != snapshot_))
    return {{"error", "another snapshot is being made: " + snapshot_ + "; ask again in a minute"}};
  snapshot_ = snapshot;
  until_ = step.now + max_hold;
  become(State::held);
  json members = json::array();
  for (const auto& [id, member] : members_->membership().members())
    members.push_back({{"id", id.hex()}, {"address", member.address}, {"state", member_state_name(member)}});
  return {{"state", "held"},
          {"ring", state_->ring.hex()},
          {"settings", ring_wide_settings(state_->settings)},
          {"replicas", state_->settings.replicas},
          {"members", std::move(members)}};
}

json SnapshotDesk::save(const Step& step, const std::string& snapshot) {
  if (snapshot != snapshot_ || state_now_ == State::none)
    return {{"error", "it does not hold for this snapshot: it was started again, or its hold is over"}};
  if (state_now_ != State::held) return look(snapshot);  // the question was sent twice
  until_ = step.now + max_hold;
  become(State::saving);
  step.out.push_back(MakeCheckpoint{snapshot});
  return look(snapshot);
}

json SnapshotDesk::look(const std::string& snapshot) const {
  if (snapshot != snapshot_ || state_now_ == State::none)
    return {{"error", "it knows nothing of this snapshot: it was started again"}};
  switch (state_now_) {
    case State::none:
    case State::held:
      break;
    case State::saving:
      return {{"state", "saving"}};
    case State::saved:
      return {{"state", "saved"}};
    case State::listed:
      return {{"state", "listed"},
              {"saved_counts",
               {{"queued", counts_.queued},
                {"fetched", counts_.fetched},
                {"failed", counts_.failed},
                {"excluded", counts_.excluded},
                {"outbox", counts_.outbox}}},
              {"listing", json::parse(listing_, nullptr, false)}};
    case State::failed:
      return {{"error", failure_}};
  }
  return {{"state", "held"}};
}

json SnapshotDesk::end(const std::string& snapshot) {
  if (snapshot == snapshot_ && state_now_ != State::saving) {
    become(State::none);
    listing_.clear();
  }
  return {{"state", "none"}};
}

bool SnapshotDesk::keep_back(const MessageEvent& event) {
  const auto* const batch = std::get_if<ring::Batch>(&event.message.body);
  if (!holds() || batch == nullptr || batch->kind == ring::BatchKind::forward) return false;
  const std::size_t bytes = ring::memory_bytes(event.message);
  if (waiting_bytes_ + bytes <= max_waiting_bytes) {
    waiting_bytes_ += bytes;
    waiting_.push_back(event);
  }
  return true;
}

std::vector<MessageEvent> SnapshotDesk::take_waiting() {
  if (holds()) return {};
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {});
}

void SnapshotDesk::become(State state) {
  state_now_ = state;
  partitions_->keep_all(holds());
}

void SnapshotDesk::give_up(const Step& step, std::string why) {
  step.log(LogLevel::warning, "storage", "snapshot failed", {{"snapshot", snapshot_}, {"cause", why}});
  failure_ = std::move(why);
  become(State::failed);
}

void SnapshotDesk::hear(const Step& step, const CheckpointMade& made) {
  if (made.snapshot != snapshot_ || state_now_ != State::saving) return;
  if (!made.failure.empty()) return give_up(step, made.failure);
  counts_ = state_->store->counts();
  become(State::saved);
  step.log(LogLevel::info, "storage", "snapshot saved", {{"snapshot", snapshot_}});
}

void SnapshotDesk::hear(const Step& step, const CheckpointListed& listed) {
  if (listed.snapshot != snapshot_ || state_now_ != State::saved) return;
  if (!listed.failure.empty()) return give_up(step, listed.failure);
  listing_ = listed.listing;
  become(State::listed);
}

void SnapshotDesk::tick(const Step& step) {
  if (holds() && step.now >= until_)
    give_up(step, "the hold is over: the command did not go on, or the checkpoint took longer than a minute");
}

std::optional<Time> SnapshotDesk::next_deadline() const { return holds() ? std::optional(until_) : std::nullopt; }

}  // namespace orbweaver
