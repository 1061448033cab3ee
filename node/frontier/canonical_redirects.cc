#include "node/frontier/canonical_redirects.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr std::size_t forms_least = 16'384;

}  // namespace

const CanonicalUrl* CanonicalRedirects::form_of(const storage::UrlKey& url) const {
  const auto found = forms_.find(url);
  return found == forms_.end() ? nullptr : &found->second.url;
}

void CanonicalRedirects::forget(const storage::UrlKey& url) {
  const auto found = forms_.find(url);
  if (found == forms_.end()) return;
  in_order_.erase(found->second.number);
  forms_.erase(found);
}

void CanonicalRedirects::forget(ring::Partition partition) {
  auto at = forms_.lower_bound({{partition, {}}, {}});
  while (at != forms_.end() && at->first.host.partition == partition) {
    in_order_.erase(at->second.number);
    at = forms_.erase(at);
  }
}

std::size_t CanonicalRedirects::max_forms() const {
  return std::max<std::size_t>(forms_least, std::size_t{settings_->max_hosts_in_memory} + settings_->max_fetches);
}

bool CanonicalRedirects::follow(const storage::UrlKey& url, const PageRead* page, bool again) {
  const auto before = forms_.find(url);
  const bool leads = page != nullptr && page->canonical_redirect;
  const std::uint32_t hops = before == forms_.end() ? 0 : before->second.hops;
  if (leads && hops < settings_->max_redirects) {
    if (before != forms_.end()) {
      before->second.url = *page->canonical_redirect;
      ++before->second.hops;
      return true;
    }
    if (forms_.size() >= max_forms()) forget(storage::UrlKey(in_order_.begin()->second));
    in_order_.emplace(next_number_, url);
    forms_.emplace(url, Form{*page->canonical_redirect, 1, next_number_++});
    return true;
  }
  if (!again) forget(url);
  return false;
}

}  // namespace orbweaver
