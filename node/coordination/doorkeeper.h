// Lets newcomers into the ring, or refuses them with the reason: another ring, other ring-wide settings, a clock that
// is wrong, an identity that another process has. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "node/coordination/directives.h"
#include "node/coordination/lifecycle.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Doorkeeper {
 public:
  // All outlive it.
  Doorkeeper(const PeerState& state, Members& members, const Messenger& messenger, const Lifecycle& lifecycle,
             const Directives& directives, const AnnouncedEnd& end, const ring::Tenures& tenures)
      : state_(&state),
        members_(&members),
        messenger_(&messenger),
        lifecycle_(&lifecycle),
        directives_(&directives),
        end_(&end),
        tenures_(&tenures) {}

  // Without an answer the joiner asks again.
  void on_join(const Step& step, const ring::Message& in, const ring::Join& join, const ring::ReplyPath& reply);
  std::uint64_t refused() const { return refused_; }
  ring::TableSizes tables() const;

 private:
  std::optional<std::string> fault(const ring::Join& join) const;
  std::string duplicate_text(const ring::PeerId& id) const;
  // A newcomer has nothing of this ring on its disk.
  void welcome(const Step& step, const ring::PeerId& joiner, bool newcomer, const ring::ReplyPath& reply) const;

  const PeerState* state_;
  Members* members_;
  const Messenger* messenger_;
  const Lifecycle* lifecycle_;
  const Directives* directives_;
  const AnnouncedEnd* end_;
  const ring::Tenures* tenures_;
  // Joiners whose identity another process seems to have, and when each first asked.
  std::map<ring::PeerId, Time> duplicates_;
  std::uint64_t refused_ = 0;
};

}  // namespace orbweaver
