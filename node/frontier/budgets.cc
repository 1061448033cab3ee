#include "node/frontier/budgets.h"

#include <charconv>

#include "node/crawl/meta_names.h"
#include "node/scope/scope.h"

namespace orbweaver {

namespace {

bool reached(std::uint64_t used, std::uint64_t allowed) { return allowed > 0 && used >= allowed; }

}  // namespace

// "pages bytes", in decimal digits.
std::string Budgets::row_of(const DomainUsage& usage) {
  return std::to_string(usage.pages) + " " + std::to_string(usage.bytes);
}

Budgets::DomainUsage Budgets::usage_of(const std::string& row) {
  DomainUsage usage;
  const char* const end = row.data() + row.size();
  const auto pages = std::from_chars(row.data(), end, usage.pages);
  if (pages.ec == std::errc{} && pages.ptr != end) std::from_chars(pages.ptr + 1, end, usage.bytes);
  return usage;
}

Budgets::DomainUsage& Budgets::domain(const CanonicalUrl& url) {
  const std::string name = registrable_domain(url.host());
  if (const auto found = domains_.find(name); found != domains_.end()) return found->second;
  const auto row = store_->meta(std::string(meta_name::domain) + name);
  const DomainUsage usage = row && *row ? usage_of(**row) : DomainUsage{};
  // Any entry may go: each change is on disk.
  if (domains_.size() >= max_domains_ && !domains_.empty()) domains_.erase(domains_.begin());
  return domains_.emplace(name, usage).first->second;
}

bool Budgets::spent(const BenchHost& host, const CanonicalUrl& url) {
  if (of_hosts() && (reached(host.pages + host.pending, settings_->max_pages_per_host) ||
                     reached(host.bytes, settings_->max_bytes_per_host)))
    return true;
  if (!of_domains()) return false;
  const DomainUsage& usage = domain(url);
  return reached(usage.pages + usage.under_way, settings_->max_pages_per_domain) ||
         reached(usage.bytes, settings_->max_bytes_per_domain);
}

void Budgets::page_begins(const CanonicalUrl& url) {
  if (of_domains()) ++domain(url).under_way;
}

void Budgets::page_ends(const CanonicalUrl& url) {
  if (!of_domains()) return;
  DomainUsage& usage = domain(url);
  if (usage.under_way > 0) --usage.under_way;  // it is 0 when the domain's entry had made room in memory
}

bool Budgets::count(const CanonicalUrl& url, std::uint64_t bytes, BenchHost* host, storage::Commit& commit) {
  if (of_domains()) {
    DomainUsage& usage = domain(url);
    ++usage.pages;
    usage.bytes += bytes;
    commit.meta.emplace_back(std::string(meta_name::domain) + registrable_domain(url.host()), row_of(usage));
  }
  if (!of_hosts() || host == nullptr) return false;
  ++host->pages;
  host->bytes += bytes;
  return true;
}

}  // namespace orbweaver
