#include "storage/seen_filter.h"

namespace orbweaver::storage {

BloomFilter::Plan SeenFilter::plan(const Config& config) {
  return BloomFilter::plan(config.urls * (config.way_matters ? 2 : 1), config.rate);
}

SeenFilter::SeenFilter(const Config& config) : config_(config), filter_(plan(config)) {}

// Other positions than those of the URL's settled fact.
BloomFilter::Digest SeenFilter::known_key(BloomFilter::Digest url) {
  for (std::uint8_t& byte : url) byte ^= 0xa5;
  return url;
}

SeenFilter::Verdict SeenFilter::judge(const BloomFilter::Digest& url) const {
  if (filter_.holds(url)) return Verdict::seen;
  return filter_.holds(known_key(url)) ? Verdict::ask : Verdict::fresh;
}

void SeenFilter::note(const BloomFilter::Digest& url, UrlState state, Reason reason) {
  const bool for_now = state == UrlState::excluded && (reason == Reason::depth || reason == Reason::trap);
  const bool open = for_now || (state == UrlState::queued && config_.way_matters);
  if (filter_.add(open ? known_key(url) : url)) ++entries_;
}

}  // namespace orbweaver::storage
