#include "node/snapshot/snapshot_talk.h"

#include <utility>

#include "node/crawl/outside_json.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// A peer that does not answer so many looks in a row is gone.
constexpr std::uint32_t max_silent = 5;

std::string text_of(const json& object, std::string_view name) { return text_field(object, name).value_or(""); }

std::string named(const std::string& id, const std::string& address) { return id.substr(0, 8) + " at " + address; }

Error refusal(const json& peer) {
  return {ErrorCode::unreachable, "peer " + named(text_of(peer, "id"), text_of(peer, "address")) +
                                      " makes no snapshot: " + text_of(peer, "error")};
}

Result<std::vector<json>> peers_of(const json& answer) {
  const auto peers = list_field(answer, "peers");
  if (!peers) return tl::make_unexpected(peers.error());
  if (answer.contains("left_out"))
    return fail(ErrorCode::unsupported,
                "the lists of the checkpoints' files do not fit into one message; the ring is too large for this "
                "command");
  return std::vector<json>(peers->begin(), peers->end());
}

}  // namespace

json SnapshotTalk::question() const {
  constexpr std::string_view names[] = {"hold", "save", "look", "end"};
  return {{"phase", names[static_cast<std::size_t>(phase_)]}, {"snapshot", manifest_.snapshot}};
}

tl::unexpected<Error> SnapshotTalk::give_up(ErrorCode code, std::string why) {
  phase_ = Phase::end;
  return fail(code, std::move(why));
}

// Members that have no part in it. With fewer of them than there are copies of everything, the others have it all.
Result<void> SnapshotTalk::enough() const {
  if (partial_ || manifest_.missing.empty() || manifest_.missing.size() < manifest_.replicas) return {};
  std::string names;
  for (const MissingPeer& peer : manifest_.missing) names += (names.empty() ? "" : ", ") + named(peer.id, peer.address);
  return fail(ErrorCode::unreachable,
              "without an answer: " + names + "; with replicas = " + std::to_string(manifest_.replicas) +
                  " their records may be nowhere else. Start them and ask again, declare them gone with orbweaver "
                  "forget, or take what there is with --partial");
}

Result<void> SnapshotTalk::lost(const std::string& id) {
  manifest_.missing.push_back({id, held_[id]});
  held_.erase(id);
  return enough();
}

Result<SnapshotTalk::Next> SnapshotTalk::take(const json& answer) {
  Result<Next> next = Next::done;
  switch (phase_) {
    case Phase::hold:
      next = take_held(answer);
      break;
    case Phase::save:
      next = take_saving(answer);
      break;
    case Phase::look:
      next = take_looks(answer);
      break;
    case Phase::end:
      return Next::done;
  }
  if (!next) return give_up(next.error().code, next.error().message);
  return next;
}

Result<SnapshotTalk::Next> SnapshotTalk::take_held(const json& answer) {
  const auto peers = peers_of(answer);
  if (!peers) return tl::make_unexpected(peers.error());
  manifest_.ring = text_of(answer, "ring");
  std::map<std::string, std::string> members;
  for (const json& peer : *peers) {
    if (peer.contains("error")) return tl::make_unexpected(refusal(peer));
    held_[text_of(peer, "id")] = text_of(peer, "address");
    const Result<std::int64_t> replicas = number_field(peer, "replicas", 1, 1);
    if (!replicas) return tl::make_unexpected(replicas.error());
    manifest_.replicas = static_cast<std::uint64_t>(*replicas);
    try {
      manifest_.settings = peer.at("settings").get<ring::Settings>();
    } catch (const json::exception& error) {
      return fail(ErrorCode::io, std::string("a peer's settings cannot be read: ") + error.what());
    }
    // One may know of members that the others do not know yet.
    const auto known = list_field(peer, "members");
    if (!known) return tl::make_unexpected(known.error());
    for (const json& member : *known)
      if (text_of(member, "state") != "left") members[text_of(member, "id")] = text_of(member, "address");
  }
  const auto silent = list_field(answer, "unreachable");
  if (!silent) return tl::make_unexpected(silent.error());
  for (const json& peer : *silent) members[text_of(peer, "id")] = text_of(peer, "address");
  for (const auto& [id, address] : members)
    if (!held_.contains(id)) manifest_.missing.push_back({id, address});
  ORBWEAVER_TRY(enough());
  if (held_.empty()) return fail(ErrorCode::unreachable, "no peer takes part in the snapshot");
  phase_ = Phase::save;
  return Next::ask;
}

Result<SnapshotTalk::Next> SnapshotTalk::take_saving(const json& answer) {
  const auto peers = peers_of(answer);
  if (!peers) return tl::make_unexpected(peers.error());
  std::set<std::string> saving;
  for (const json& peer : *peers) {
    const std::string id = text_of(peer, "id");
    if (!held_.contains(id)) continue;  // it was not asked to hold: a newcomer, which has nothing from before
    if (peer.contains("error")) return tl::make_unexpected(refusal(peer));
    saving.insert(id);
  }
  const std::map<std::string, std::string> held = held_;
  for (const auto& [id, address] : held)
    if (!saving.contains(id)) ORBWEAVER_TRY(lost(id));
  phase_ = Phase::look;
  return Next::wait;
}

Result<SnapshotTalk::Next> SnapshotTalk::take_looks(const json& answer) {
  const auto peers = peers_of(answer);
  if (!peers) return tl::make_unexpected(peers.error());
  std::set<std::string> answered;
  for (const json& peer : *peers) {
    const std::string id = text_of(peer, "id");
    if (!held_.contains(id) || listed_.contains(id)) continue;
    if (peer.contains("error")) return tl::make_unexpected(refusal(peer));
    answered.insert(id);
    if (text_of(peer, "state") != "listed") continue;
    const auto found = peer.find("listing");
    Result<SnapshotListing> listing = read_listing(found == peer.end() ? json::object() : *found);
    if (!listing)
      return fail(ErrorCode::io, "peer " + named(id, held_[id]) +
                                     " lists its checkpoint in an unknown form: " + listing.error().message);
    SnapshotPeer entry{.id = id, .address = held_[id], .counts = {}, .listing = std::move(*listing)};
    const json counts = peer.value("saved_counts", json::object());
    for (const auto& [name, value] : counts.items())
      if (value.is_number_unsigned()) entry.counts[name] = value.get<std::uint64_t>();
    manifest_.peers.push_back(std::move(entry));
    listed_.insert(id);
  }
  const std::map<std::string, std::string> held = held_;
  for (const auto& [id, address] : held) {
    if (listed_.contains(id)) continue;
    std::uint32_t& silent = silent_[id];
    silent = answered.contains(id) ? 0 : silent + 1;
    if (silent >= max_silent) ORBWEAVER_TRY(lost(id));
  }
  if (held_.empty()) return fail(ErrorCode::unreachable, "no peer takes part in the snapshot");
  if (listed_.size() < held_.size()) return Next::wait;
  phase_ = Phase::end;
  return Next::done;
}

}  // namespace orbweaver
