#include "node/scheduling/fetch_gate.h"

#include "node/crawl/peer_words.h"

namespace orbweaver {

std::vector<std::string> FetchGate::reasons() const {
  std::vector<std::string> reasons;
  if (!fence_->confirmed()) reasons.emplace_back("asks the other members whether its partitions are still its own");
  if (directives_->orders().hosts().ring_paused) reasons.emplace_back(paused_by_operator);
  for (const ring::PeerId& peer : directives_->differing())
    reasons.push_back("peer " + peer.brief() + " knows other seeds or orders, which are being exchanged");
  if (replicator_->items_full()) reasons.emplace_back("too many writes wait for their second copy (copies_waiting)");
  if (state_->disk_low) reasons.emplace_back("its disk is almost full (min_free_disk); it goes on when there is room");
  if (members_->paused()) reasons.emplace_back("cut off from most members (on_cut = pause-minority)");
  if (lifecycle_->stopping() || lifecycle_->ending()) reasons.emplace_back("it is stopping");
  return reasons;
}

}  // namespace orbweaver
