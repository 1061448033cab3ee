#include "node/peer/outside_faults.h"

#include <utility>

#include "node/peer/ring_entry.h"
#include "ring/codec.h"

namespace orbweaver {

// By identity, and address where it is known; a command has neither.
std::string OutsideFaults::sender_name(const ring::Message& in) const {
  if (in.from == ring::PeerId{}) return "a command";
  const ring::Member* member = members_->membership().find(in.from);
  return in.from.brief() + (member == nullptr ? " (not a member)" : " at " + member->address);
}

void OutsideFaults::refuse(const Step& step, const ring::Message& in, const std::string& cause) {
  ++counters_.messages_refused;
  step.log(LogLevel::warning, "ring", "message refused",
           {{"peer", sender_name(in)}, {"type", std::string(ring::type_name(in.body))}, {"cause", cause}}, true);
}

void OutsideFaults::refuse_claims(const Step& step, const ring::Message& in, std::uint64_t members,
                                  std::uint64_t tenures) {
  if (members + tenures == 0) return;
  counters_.claims_refused += members + tenures;
  step.log(LogLevel::warning, "ring", "not believed: too far from what is known, or beyond the ring's bounds",
           {{"peer", sender_name(in)},
            {"type", std::string(ring::type_name(in.body))},
            {"members", std::to_string(members)},
            {"tenures", std::to_string(tenures)}},
           true);
}

void OutsideFaults::drop_row(std::string_view row, const std::string& cause) {
  ++counters_.rows_dropped;
  unsaid_.push_back(left_out_note({row, cause}));
}

void OutsideFaults::say_dropped_rows(const Step& step) {
  for (LogEntry& note : std::exchange(unsaid_, {})) step.out.push_back(std::move(note));
}

}  // namespace orbweaver
