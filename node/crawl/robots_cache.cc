#include "node/crawl/robots_cache.h"

namespace orbweaver {
namespace {

// Bytes of an entry apart from its rules: the entry, its places in the list and the map.
constexpr std::uint64_t entry_bytes = 256;

}  // namespace

RobotsCache::RobotsCache(std::uint64_t max_bytes)
    : max_bytes_(max_bytes), allow_all_(std::make_shared<Entry>()), disallow_all_(std::make_shared<Entry>()) {
  allow_all_->rules = std::make_shared<const RobotsRules>(RobotsRules::allow_all());
  disallow_all_->rules = std::make_shared<const RobotsRules>(RobotsRules::disallow_all());
  allow_all_->pinned = disallow_all_->pinned = true;
}

std::uint64_t RobotsCache::charge(const RobotsRules& rules) { return rules.bytes() + entry_bytes; }

RobotsCache::Handle RobotsCache::put(const ParsedRobots& parsed) {
  if (const auto found = known_.find(parsed.digest); found != known_.end()) {
    ++shared_;
    recent_.splice(recent_.begin(), recent_, found->second->place);
    return found->second;
  }
  Handle entry = std::make_shared<Entry>();
  entry->digest = parsed.digest;
  entry->rules = parsed.rules;
  entry->place = recent_.insert(recent_.begin(), entry);
  known_.emplace(parsed.digest, entry);
  bytes_ += charge(*parsed.rules);
  while (bytes_ > max_bytes_ && recent_.size() > 1) {
    const Handle last = recent_.back();
    bytes_ -= charge(*last->rules);
    last->rules = nullptr;
    known_.erase(last->digest);
    recent_.pop_back();
    ++dropped_;
  }
  return entry;
}

std::shared_ptr<const RobotsRules> RobotsCache::use(const Handle& handle) {
  if (handle->rules != nullptr && !handle->pinned) recent_.splice(recent_.begin(), recent_, handle->place);
  return handle->rules;
}

}  // namespace orbweaver
