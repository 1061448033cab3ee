#include "node/frontier/canonical_redirects.h"

namespace orbweaver {

namespace {

// URLs that are led to another form at once.
constexpr std::size_t forms_max = 16'384;

}  // namespace

const CanonicalUrl* CanonicalRedirects::form_of(const storage::UrlDigest& url) const {
  const auto found = forms_.find(url);
  return found == forms_.end() ? nullptr : &found->second.url;
}

bool CanonicalRedirects::full() const { return forms_.size() >= forms_max; }

bool CanonicalRedirects::follow(const storage::UrlDigest& url, const PageRead* page, bool again) {
  const auto before = forms_.find(url);
  if (page != nullptr && page->canonical_redirect) {
    if (before == forms_.end() && !full() && settings_->max_redirects > 0) {
      forms_.emplace(url, Form{*page->canonical_redirect, 1});
      return true;
    }
    if (before != forms_.end() && before->second.hops < settings_->max_redirects) {
      before->second.url = *page->canonical_redirect;
      ++before->second.hops;
      return true;
    }
  }
  if (before != forms_.end() && !again) forms_.erase(before);
  return false;
}

}  // namespace orbweaver
