// What comes from outside and is at fault: messages that are refused, rows in the data directory that are left out.
#include <algorithm>
#include <sstream>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer.h"
#include "node/errors/storage_error.h"
#include "ring/codec.h"

namespace orbweaver {

// By identity, and address where it is known; a command has neither.
std::string Peer::sender_name(const ring::Message& in) const {
  if (in.from == ring::PeerId{}) return "a command";
  const ring::Member* member = membership_.find(in.from);
  return in.from.brief() + (member == nullptr ? " (not a member)" : " at " + member->address);
}

// The boundary: whatever a message makes a library or this peer's own code throw, the message is refused, and the peer
// goes on. What holds then, half-way through a message:
//
// - On disk a commit is there whole or not at all, and nothing that the message would have made this peer say leaves
// it:
//   others hear only of what is finished. Whoever sent the message repeats it, or finds out by comparing.
// - In memory, members, tenures and seeds may have been merged up to some record. Each record is whole, merging is
//   idempotent and its order does not matter, so a part of a message is as good as a shorter message. What of it is not
//   on disk yet is written with the next change of its kind, or heard again after a restart.
// - Between a commit and the parts in memory that follow it (apply()) nothing depends on what the message said, only
//   on memory being had. What passes there is not refused but ends the process: started again, it reads the disk.
void Peer::receive(Time now, MessageEvent& event, Commands& out) {
  const std::size_t said = out.size();
  const std::uint64_t members = membership_.claims_refused();
  const std::uint64_t tenures = keeper_.tenures_refused();
  try {
    handle(now, event, out);
  } catch (const std::exception& error) {
    if (applying_) throw;
    out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(said), out.end(),
                             [](const Command& command) { return !std::holds_alternative<Note>(command); }),
              out.end());
    refuse_message(event.message, error.what(), out);
    if (const auto* ask = std::get_if<ring::Ask>(&event.message.body))
      messenger_.reply(event.reply, event.message.from,
                       ring::Answer{ask->sequence, json_text({{"error", std::string("refused: ") + error.what()}})},
                       out);
  }
  const std::uint64_t members_refused = membership_.claims_refused() - members;
  const std::uint64_t tenures_refused = keeper_.tenures_refused() - std::min(tenures, keeper_.tenures_refused());
  if (members_refused + tenures_refused == 0) return;
  counters_.claims_refused += members_refused + tenures_refused;
  note(out, LogLevel::warning, "ring", "not believed: too far from what is known, or beyond the ring's bounds",
       {{"peer", sender_name(event.message)},
        {"type", std::string(ring::type_name(event.message.body))},
        {"members", std::to_string(members_refused)},
        {"tenures", std::to_string(tenures_refused)}},
       true);
}

void Peer::refuse_message(const ring::Message& in, const std::string& cause, Commands& out) {
  ++counters_.messages_refused;
  note(out, LogLevel::warning, "ring", "message refused",
       {{"peer", sender_name(in)}, {"type", std::string(ring::type_name(in.body))}, {"cause", cause}}, true);
}

// Said with the first step: there is no log before.
void Peer::note_dropped(std::string_view row, const std::string& cause) {
  ++counters_.rows_dropped;
  healed_.push_back(Note{LogLevel::warning,
                         "storage",
                         "a row in the data directory is left out",
                         {{"row", std::string(row)}, {"cause", cause}},
                         true});
}

// The incarnation that the last run ended with, by the view that it stored.
std::uint64_t Peer::last_incarnation(storage::Store& store, Time now) {
  const auto stored = store.meta(meta_name::members);
  if (!stored || !*stored) return 0;
  const ring::Result<ring::Message> view = ring::decode(**stored);
  const std::uint64_t ahead =
      static_cast<std::uint64_t>(std::max<std::int64_t>((now + ring::clock_lead_max).time_since_epoch().count(), 0));
  return view && view->incarnation <= ahead ? view->incarnation : 0;
}

// The last view, as far as it can be read and believed. A member that is not in it is heard of again from the others.
void Peer::restore_members(const std::string& row, Time now) {
  std::vector<std::string> dropped;
  auto members = ring::decode_stored_members(row, dropped);
  if (!members) {
    dropped.push_back(members.error().message);
    members.emplace();
  }
  for (const ring::Member& member : membership_.restore(*members, now))
    dropped.push_back("member " + member.id.brief() + " has incarnation " + std::to_string(member.incarnation) +
                      ", more than a day ahead of this machine's clock");
  for (const std::string& cause : dropped) note_dropped(meta_name::members, cause);
  if (dropped.empty()) return;
  // Whether it knows all who hold something. If not it must hear from the others before it judges who is gone.
  const std::vector<ring::PartitionTenure> tenures = keeper_.tenures().all();
  view_lost_ = std::any_of(tenures.begin(), tenures.end(), [this](const ring::PartitionTenure& entry) {
    return membership_.find(entry.tenure.holder) == nullptr;
  });
}

void Peer::restore_seeds(const std::string& row) {
  std::istringstream lines(row);
  for (std::string line; std::getline(lines, line);) {
    if (const Result<CanonicalUrl> url = canonicaliser_.parse(line); url) {
      seeds_.insert(std::move(line));
    } else {
      note_dropped(meta_name::seeds, url.error().message);
    }
  }
}

// That the crawl had ended counts, even when it cannot be read why.
void Peer::restore_end(const std::string& row) {
  const auto told = ring::decode(row);
  if (told && std::holds_alternative<ring::Finish>(told->body)) {
    ended_ = std::get<ring::Finish>(told->body);
    return;
  }
  note_dropped(meta_name::ended, told ? "it is not a finish message" : told.error().message);
  ended_ = ring::Finish{0, "the crawl has ended", {}};
}

}  // namespace orbweaver
