// What comes from outside and is at fault: messages that are refused, rows in the data directory that are left out.
#include <algorithm>

#include "node/crawl/message_guard.h"
#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"
#include "node/errors/storage_error.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

// By identity, and address where it is known; a command has neither.
std::string Peer::sender_name(const ring::Message& in) const {
  if (in.from == ring::PeerId{}) return "a command";
  const ring::Member* member = membership_.find(in.from);
  return in.from.brief() + (member == nullptr ? " (not a member)" : " at " + member->address);
}

// The boundary (message_guard.h). What holds when a message is left half-way through:
//
// - On disk a commit is there whole or not at all, and nothing that the message would have made this peer say leaves
//   it: others hear only of what is finished. Whoever sent the message repeats it, or finds out by comparing.
// - In memory, members, tenures and seeds may have been merged up to some record. Each record is whole, merging is
//   idempotent and its order does not matter, so a part of a message is as good as a shorter message. What of it is not
//   on disk yet is written with the next change of its kind, or heard again after a restart.
// - Between a commit and the parts in memory that follow it (RecordWriter) nothing depends on what the message said,
// only
//   on memory being had. What passes there is not refused but ends the process: started again, it reads the disk.
Result<void> Peer::receive(Time now, MessageEvent& event, Commands& out) {
  const Step step{now, out};
  const std::uint64_t members = membership_.claims_refused();
  const std::uint64_t tenures = keeper_.tenures_refused();
  std::optional<std::string> refused;
  ORBWEAVER_TRY(guarded(
      step, [&] { return handle(now, event, out); }, [this] { return writer_.memory_follows(); }, refused));
  if (refused) {
    refuse_message(event.message, *refused, out);
    if (const auto* ask = std::get_if<ring::Ask>(&event.message.body))
      messenger_.reply(event.reply, event.message.from,
                       ring::Answer{ask->sequence, json_text({{"error", "refused: " + *refused}})}, out);
  }
  const std::uint64_t members_refused = membership_.claims_refused() - members;
  const std::uint64_t tenures_refused = keeper_.tenures_refused() - std::min(tenures, keeper_.tenures_refused());
  if (members_refused + tenures_refused == 0) return {};
  counters_.claims_refused += members_refused + tenures_refused;
  note(out, LogLevel::warning, "ring", "not believed: too far from what is known, or beyond the ring's bounds",
       {{"peer", sender_name(event.message)},
        {"type", std::string(ring::type_name(event.message.body))},
        {"members", std::to_string(members_refused)},
        {"tenures", std::to_string(tenures_refused)}},
       true);
  return {};
}

void Peer::refuse_message(const ring::Message& in, const std::string& cause, Commands& out) {
  ++counters_.messages_refused;
  note(out, LogLevel::warning, "ring", "message refused",
       {{"peer", sender_name(in)}, {"type", std::string(ring::type_name(in.body))}, {"cause", cause}}, true);
}

// Said with the first step: there is no log before.
void Peer::note_dropped(std::string_view row, const std::string& cause) {
  ++counters_.rows_dropped;
  healed_.push_back(left_out_note({row, cause}));
}

}  // namespace orbweaver
