#include "node/peer/joiner.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "node/errors/storage_error.h"
#include "node/frontier/crash_book.h"
#include "node/peer/message_guard.h"
#include "node/replication/members.h"
#include "node/scheduling/fetch_limit.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

using nlohmann::json;

Joiner::Joiner(RingEntry entry, const ring::RingId& known_ring) : entry_(std::move(entry)), known_ring_(known_ring) {
  for (const LeftOutRow& row : entry_.left_out) healed_.push_back(left_out_note(row));
  entry_.left_out.clear();
}

// In the oldest version, because members' versions are not known; of no ring.
ring::Message Joiner::message(ring::Body body) const {
  const ring::Member& self = entry_.membership.self();
  return {ring::protocol_version_min, {}, self.id, self.incarnation, std::move(body)};
}

Result<void> Joiner::start() {
  const auto write = [this](const storage::Commit& rows) -> Result<void> {
    if (rows.meta.empty()) return {};
    if (const auto written = entry_.store->commit(rows); !written)
      return tl::make_unexpected(error_of(written.error()));
    return {};
  };
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::peer, id().hex());
  ORBWEAVER_TRY(write(commit));
  ring::Sync view;
  for (const ring::Member& member : entry_.membership.member_list())
    if (member.id != id()) view.members.push_back(member);
  storage::Commit members;
  members.meta.emplace_back(meta_name::members, ring::encode(message(std::move(view))));
  ORBWEAVER_TRY(write(members));
  // The last write: a start that fails is repeated with the same pages, and must not have counted them.
  storage::Commit crashes;
  ORBWEAVER_TRY(CrashBook().restore(*entry_.store, std::exchange(entry_.start.at_work, {}), crashes));
  return write(crashes);
}

void Joiner::end(Time now, int code, std::string message) {
  entry_.lifecycle.say_goodbye(Exit{code, std::move(message), false, {}}, now + exit_linger);
}

std::optional<RingEntry> Joiner::step(const Step& step, Event& event) {
  stepped_ = std::max(stepped_, step.now);
  for (LogEntry& healed : std::exchange(healed_, {})) step.out.push_back(std::move(healed));
  if (const auto* message = std::get_if<MessageEvent>(&event)) {
    if (take_message(step, *message))
      return entry_;  // a copy: when no peer can be made of it, this one continues answering for itself
  } else if (const auto* stop = std::get_if<StopEvent>(&event)) {
    end(step.now, 0, std::string(stop->leave ? "left" : "stopped") + " before any member of the ring answered");
  }
  if (!entry_.lifecycle.ending() && step.now - entry_.started > max_join_wait) {
    std::string tried;
    for (const std::string& address : entry_.admission.addresses()) tried += (tried.empty() ? "" : ", ") + address;
    end(step.now, static_cast<int>(ErrorCode::unreachable),
        "no member of the ring answered at " + tried +
            "; check the address, that a peer runs there, that it has the same ring key (--ring-key-file), and that it "
            "is of "
            "this release or the one before (its log names a protocol version that it does not speak)");
  }
  if (!entry_.lifecycle.ending() && entry_.admission.due(step.now)) ask_members(step);
  if (const Exit* exit = entry_.lifecycle.end_if_due(step.now)) step.out.push_back(*exit);
  return std::nullopt;
}

void Joiner::ask_members(const Step& step) {
  const ring::Member& self = entry_.membership.self();
  const ring::Join join = entry_.admission.ask(step.now, self, known_ring_, settings());
  for (const std::string& address : entry_.admission.addresses()) {
    if (address == self.address) continue;
    step.out.push_back(SendMessage{address, message(join)});
    if (step.now - entry_.started > Admission::every)
      step.log(LogLevel::warning, "ring", "no answer yet, trying again", {{"join", address}}, true);
  }
}

// True: the message is a welcome that is accepted.
bool Joiner::take_message(const Step& step, const MessageEvent& event) {
  const ring::Message& in = event.message;
  std::optional<std::string> refused;
  const auto handle = [&] {
    if (const auto* welcome = std::get_if<ring::Welcome>(&in.body)) return may_enter(step, *welcome);
    if (const auto* ask = std::get_if<ring::Ask>(&in.body)) {
      answer(step, event, *ask);
    } else if (const auto* refuse = std::get_if<ring::Refuse>(&in.body)) {
      ++entry_.messages_refused;
      if (refuse->join)
        end(step.now, static_cast<int>(ErrorCode::mismatch), "the ring refused this peer: " + refuse->reason);
      step.log(LogLevel::warning, "ring", "message refused", {{"peer", in.from.brief()}, {"reason", refuse->reason}},
               true);
    }
    return false;  // members send the other messages to members
  };
  const bool enters = guarded(
      step, handle, [] { return false; }, refused);
  if (!refused) return enters;
  ++entry_.messages_refused;
  step.log(LogLevel::warning, "ring", "message refused",
           {{"peer", in.from.brief()}, {"type", std::string(ring::type_name(in.body))}, {"cause", *refused}}, true);
  if (const auto* ask = std::get_if<ring::Ask>(&in.body); ask != nullptr && !event.reply.route.empty())
    step.out.push_back(ReplyMessage{
        event.reply, message(ring::Answer{ask->sequence, json_text({{"error", "refused: " + *refused}})})});
  return false;
}

void Joiner::answer(const Step& step, const MessageEvent& event, const ring::Ask& ask) {
  json content = {{"error", "this peer has not joined its ring yet"}};
  if (const Result<json> read = parse_outside_json(ask.body.empty() ? "{}" : ask.body); !read) {
    ++entry_.messages_refused;
    content = {{"error", "the question cannot be read: " + read.error().message}};
  } else if (ask.verb == "status") {
    content = own_status();
  } else if (ask.verb == "stop" || ask.verb == "leave") {
    end(step.now, 0, "stopped before any member of the ring answered");
    content = {{"stopping", id().hex()}};
  }
  if (!event.reply.route.empty())
    step.out.push_back(ReplyMessage{event.reply, message(ring::Answer{ask.sequence, json_text(content)})});
}

// The ring's values become the settings. False: the peer has ended, or the welcome is another ring's.
bool Joiner::may_enter(const Step& step, const ring::Welcome& welcome) {
  if (entry_.lifecycle.ending() || (known_ring_ != ring::RingId{} && welcome.ring != known_ring_)) return false;
  const auto ahead = std::find_if(welcome.members.begin(), welcome.members.end(), [&](const ring::Member& member) {
    return ring::reachable(member) && !entry_.membership.plausible(member);
  });
  if (ahead != welcome.members.end()) {
    end(step.now, static_cast<int>(ErrorCode::mismatch),
        "peer " + ahead->id.brief() + " at " + ahead->address + " has an incarnation, " +
            std::to_string(ahead->incarnation) + ", that no peer reaches; start it with a new directory");
    return false;
  }
  Settings values = settings();
  if (const Result<void> applied = apply_ring_wide(values, welcome.settings); !applied) {
    end(step.now, static_cast<int>(ErrorCode::mismatch),
        "the ring's settings cannot be used: " + applied.error().message);
    return false;
  }
  entry_.start.settings.values = std::move(values);
  entry_.how = RingEntry::How::joined;
  entry_.ring = welcome.ring;
  return true;
}

Time Joiner::next_deadline(Time now) const {
  Time at = now + idle_wait;
  if (entry_.lifecycle.saying_goodbye()) {
    at = std::min(at, entry_.lifecycle.exit_at());
  } else if (const auto ask = entry_.admission.next_deadline()) {
    at = std::min(at, *ask);
  }
  return std::max(at, now);
}

// Has the same form as a peer's, with zeros: a reader of a status does not ask first whether the peer has joined.
json Joiner::own_status() const {
  const ring::Member& self = entry_.membership.self();
  json counts = json::object();
  for (const std::string_view name : count_names()) counts[std::string(name)] = 0;
  counts["messages_refused"] = entry_.messages_refused;
  return {{"id", self.id.hex()},
          {"address", self.address},
          {"state", member_state_name(self)},
          {"ring", ""},
          {"version", ORBWEAVER_VERSION},
          {"protocol", ring::protocol_version},
          {"started", utc(entry_.started)},
          {"clock_us", std::max(stepped_, entry_.started).time_since_epoch().count()},
          {"partitions", 0},
          {"ring_partitions", 0},
          {"confirmed", false},
          {"awaited", json::object()},
          {"not_fetching_because", {"asks to join its ring"}},
          {"ring_fingerprint", 0},
          {"tenures_fingerprint", 0},
          {"members", json::array()},
          {"seeds", 0},
          {"seen", "exact"},
          {"seen_filter", json::object()},
          {"seen_sets", json::object()},
          {"orders", json::object()},
          {"robots", json::object()},
          {"outcomes", json::object()},
          {"politeness", {{"gaps", 0}, {"too_short", 0}}},
          {"limit", {{"by", name_of(FetchLimit::held)}, {"hosts", json::object()}, {"seconds", json::object()}}},
          {"counts", std::move(counts)}};
}

std::vector<std::pair<std::string, double>> Joiner::metrics() const {
  return {{"messages_refused_total", static_cast<double>(entry_.messages_refused)}};
}

}  // namespace orbweaver
