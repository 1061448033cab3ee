#include "ring/gossip_queue.h"

namespace orbweaver::ring {

void GossipQueue::add(const PeerId& id) {
  remove(id);
  const Key key{0, next_age_--, id};
  order_.insert(key);
  key_of_.emplace(id, key);
}

void GossipQueue::remove(const PeerId& id) {
  const auto found = key_of_.find(id);
  if (found == key_of_.end()) return;
  order_.erase(found->second);
  key_of_.erase(found);
}

std::vector<PeerId> GossipQueue::take(std::size_t count, std::uint32_t max_sends, const PeerId& skip) {
  std::vector<Key> taken;
  for (auto at = order_.begin(); at != order_.end() && taken.size() < count; ++at) {
    if (std::get<PeerId>(*at) != skip) taken.push_back(*at);
  }
  std::vector<PeerId> ids;
  for (const Key& key : taken) {
    const auto& [sent, age, id] = key;
    ids.push_back(id);
    order_.erase(key);
    key_of_.erase(id);
    if (sent + 1 >= max_sends) continue;
    const Key later{sent + 1, age, id};
    order_.insert(later);
    key_of_.emplace(id, later);
  }
  return ids;
}

}  // namespace orbweaver::ring
