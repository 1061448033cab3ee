#include "node/links/mirror_index.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

std::optional<std::string> PageFingerprintIndex::see(std::uint64_t fingerprint, std::string_view host) {
  const auto [found, added] = hosts_.try_emplace(fingerprint, host);
  if (!added) {
    if (found->second == host) return std::nullopt;
    return std::exchange(found->second, std::string(host));
  }
  order_.push_back(fingerprint);
  if (order_.size() > max_size_) {
    hosts_.erase(order_.front());
    order_.pop_front();
  }
  return std::nullopt;
}

MirrorVerdicts::Host& MirrorVerdicts::of(const std::string& host, const Load& load) {
  const auto found = hosts_.find(host);
  if (found != hosts_.end()) return found->second;
  // Any entry may go: verdicts are read again, and counts start again.
  if (hosts_.size() >= max_hosts_ && !hosts_.empty()) hosts_.erase(hosts_.begin());
  Host& added = hosts_[host];
  if (const std::optional<std::string> known = load()) {
    added.mirror_of = *known;
    added.lifted = known->empty();
  }
  return added;
}

bool MirrorVerdicts::tell(const std::string& host, const Load& load) {
  Host& known = of(host, load);
  if (known.lifted || !known.mirror_of.empty() || known.reported >= pages_ * fingerprints_per_page) return false;
  ++known.reported;
  return true;
}

bool MirrorVerdicts::matched(const std::string& host, const std::string& other, const Load& load) {
  Host& known = of(host, load);
  if (known.lifted || !known.mirror_of.empty()) return false;
  if (known.same.size() >= max_others && !known.same.contains(other))
    known.same.erase(std::min_element(known.same.begin(), known.same.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; }));
  const std::uint32_t same = ++known.same[other];
  if (known.reported < pages_ || same < pages_ || 4 * std::uint64_t{same} < 3 * std::uint64_t{known.reported})
    return false;
  known.mirror_of = other;
  known.same.clear();
  return true;
}

const std::string& MirrorVerdicts::mirror_of(const std::string& host, const Load& load) {
  return of(host, load).mirror_of;
}

void MirrorVerdicts::lift(const std::string& host, const Load& load) {
  Host& known = of(host, load);
  known.mirror_of.clear();
  known.same.clear();
  known.lifted = true;
}

bool better_name(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

}  // namespace orbweaver
