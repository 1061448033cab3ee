#include "node/links/seed_redirects.h"

#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::size_t max_seeds = 64;
constexpr std::size_t max_target_bytes = 1024;  // of a target that is kept

}  // namespace

Result<std::optional<std::string>> SeedRedirects::restore(storage::Store& store, storage::Commit& commit) {
  const auto row = store.meta(meta_name::redirects_out);
  if (!row) return tl::make_unexpected(error_of(row.error()));
  if (!*row) return std::nullopt;
  const json read = json::parse(**row, nullptr, false);
  if (!read.is_object()) {
    commit.meta.emplace_back(meta_name::redirects_out, "{}");
    return "it is not a JSON object";
  }
  for (const auto& [seed, target] : read.items())
    if (target.is_string() && targets_.size() < max_seeds) targets_.emplace(seed, target.get<std::string>());
  return std::nullopt;
}

bool SeedRedirects::leads_out(const CanonicalUrl& target) const {
  const Scope::Place place = seeds_->scope().place(target);
  return place == Scope::Place::out || (place == Scope::Place::off_site && settings_->max_hops_off_site == 0);
}

void SeedRedirects::note(const std::string& page, const CanonicalUrl& target, storage::Commit& commit) {
  const auto known = targets_.find(page);
  const bool kept = leads_out(target) && target.text().size() <= max_target_bytes && seeds_->contains(page);
  if (known == targets_.end() && (!kept || targets_.size() >= max_seeds)) return;
  if (known != targets_.end() && kept && known->second == target.text()) return;
  if (kept) {
    targets_.insert_or_assign(page, target.text());
  } else {
    targets_.erase(known);
  }
  commit.meta.emplace_back(meta_name::redirects_out, json(targets_).dump());
}

std::string SeedRedirects::target_of(const std::string& seed) const {
  const auto known = targets_.find(seed);
  if (known == targets_.end()) return {};
  const Result<CanonicalUrl> target = CanonicalUrl::of_stored(known->second);
  return target && leads_out(*target) ? known->second : std::string();
}

json SeedRedirects::status() const {
  json list = json::array();
  for (const auto& [seed, target] : targets_)
    if (!target_of(seed).empty()) list.push_back({{"url", seed}, {"to", target}});
  return list;
}

}  // namespace orbweaver
