// Seeds that redirect to what is not in scope: a crawl of example.org, which redirects to www.example.org, ends at
// once. Where such a seed leads is kept, for its user to be told.
#include <nlohmann/json.hpp>

#include "node/crawl/peer.h"
#include "node/storage_error.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::size_t redirects_out_max = 64;
constexpr std::size_t target_bytes_max = 1024;  // of a target that is kept

}  // namespace

Result<void> Peer::restore_redirects(storage::Commit& commit) {
  const auto stored = store_->meta(meta_name::redirects_out);
  if (!stored) return tl::make_unexpected(error_of(stored.error()));
  if (!*stored) return {};
  const json read = json::parse(**stored, nullptr, false);
  if (!read.is_object()) {
    note_dropped(meta_name::redirects_out, "it is not a JSON object");
    commit.meta.emplace_back(meta_name::redirects_out, "{}");
    return {};
  }
  for (const auto& [url, target] : read.items())
    if (target.is_string() && redirects_out_.size() < redirects_out_max)
      redirects_out_.emplace(url, target.get<std::string>());
  return {};
}

bool Peer::leads_out(const CanonicalUrl& target) const {
  const Scope::Place place = scope_->place(target);
  return place == Scope::Place::out || (place == Scope::Place::beyond && settings_.hops_off_site == 0);
}

// Of a page that was fetched: the latest visit counts.
void Peer::note_redirect(const std::string& page, const CanonicalUrl& target, storage::Commit& commit) {
  const auto known = redirects_out_.find(page);
  const bool kept = leads_out(target) && target.text().size() <= target_bytes_max && seeds_.contains(page);
  if (known == redirects_out_.end() && (!kept || redirects_out_.size() >= redirects_out_max)) return;
  if (known != redirects_out_.end() && kept && known->second == target.text()) return;
  if (kept) {
    redirects_out_.insert_or_assign(page, target.text());
  } else {
    redirects_out_.erase(known);
  }
  commit.meta.emplace_back(meta_name::redirects_out, json(redirects_out_).dump());
}

// Empty: nowhere, as far as is known, or by now the crawl's seeds have that in scope.
std::string Peer::redirect_out_of(const std::string& page) const {
  const auto known = redirects_out_.find(page);
  if (known == redirects_out_.end()) return {};
  const Result<CanonicalUrl> target = CanonicalUrl::of_stored(known->second);
  return target && leads_out(*target) ? known->second : std::string();
}

json Peer::redirects_status() const {
  json list = json::array();
  for (const auto& [page, target] : redirects_out_)
    if (!redirect_out_of(page).empty()) list.push_back({{"url", page}, {"to", target}});
  return list;
}

}  // namespace orbweaver
