// Faults that come from outside: messages that are refused, rows in the data directory that are left out. Each is
// counted and logged. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/crawl/step.h"
#include "node/replication/members.h"

namespace orbweaver {

class OutsideFaults {
 public:
  // Since the start of the process.
  struct Counters {
    std::uint64_t messages_refused = 0;  // whole: of another ring, at fault, or more than can be accepted
    std::uint64_t claims_refused = 0;  // members and tenures in messages, too far from what is known (ring/messages.h)
    std::uint64_t rows_dropped = 0;    // of the data directory, at the start: not readable, or not plausible
  };
  // `members` outlives it. `messages_refused`: by the joiner, before this peer was made.
  OutsideFaults(const Members& members, std::uint64_t messages_refused) : members_(&members) {
    counters_.messages_refused = messages_refused;
  }

  void refuse(const Step& step, const ring::Message& in, const std::string& cause);
  // A refusal that the log describes elsewhere.
  void note_refused() { ++counters_.messages_refused; }
  // Not believed: too far from what is known, or beyond the ring's bounds.
  void refuse_claims(const Step& step, const ring::Message& in, std::uint64_t members, std::uint64_t tenures);
  // At the start, when there is no log yet: it is logged with the first step.
  void drop_row(std::string_view row, const std::string& cause);
  void say_dropped_rows(const Step& step);
  const Counters& counters() const { return counters_; }

 private:
  std::string sender_name(const ring::Message& in) const;

  const Members* members_;
  Counters counters_;
  std::vector<LogEntry> unsaid_;
};

}  // namespace orbweaver
