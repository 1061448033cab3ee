#include "node/lab/dedup/crawler_set.h"

#include <algorithm>
#include <optional>

#include "node/errors/storage_error.h"
#include "node/frontier/link_cache.h"
#include "node/lab/dedup/disk_use.h"
#include "ring/hash_ring.h"
#include "ring/md5.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace orbweaver {

namespace {

constexpr std::uint16_t lab_depth = 1;  // of every link: as if a seed linked the page

// The host of "scheme://host/…", without parsing: a set's key only has to be the same for the same URL.
std::string_view host_part(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view rest = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  return rest.substr(0, rest.find_first_of("/?#"));
}

// The store and the cache, used by both kinds of set.
class Admission {
 public:
  static Result<std::unique_ptr<Admission>> open(const std::string& directory, std::uint32_t cache_entries) {
    std::unique_ptr<Admission> made(new Admission(directory, cache_entries));
    storage::RocksConfig config;
    config.directory = directory + "/store";
    auto kv = storage::open_rocks(config);
    if (!kv) return tl::make_unexpected(error_of(kv.error()));
    made->kv_ = std::move(*kv);
    auto store = storage::Store::open(*made->kv_);
    if (!store) return tl::make_unexpected(error_of(store.error()));
    made->store_.emplace(std::move(*store));
    return made;
  }

  Result<bool> seen(std::string_view url) {
    const ring::Md5 digest = ring::md5(url);
    if (cache_.hit(digest, lab_depth)) return true;
    const ring::Md5 host = ring::md5(host_part(url));
    storage::UrlKey key;
    key.host.partition = ring::partition_of(host, ring::partitions_default);
    std::copy_n(host.begin(), key.host.host.size(), key.host.host.begin());
    key.url = digest;
    storage::UrlRecord record;
    record.depth = lab_depth;
    record.url = url;
    storage::Commit commit;
    commit.merges.push_back({key, std::move(record), true});
    const auto done = store_->commit(commit);
    if (!done) return tl::make_unexpected(error_of(done.error()));
    cache_.insert(digest, lab_depth);
    return done->outcomes.front() != storage::MergeOutcome::added;
  }
  std::uint64_t memory_bytes() const {
    const storage::SeenFilter* filter = store_->filter();
    return cache_bytes_ + kv_->memory_bytes() + (filter == nullptr ? 0 : filter->memory_bytes());
  }
  Result<std::uint64_t> disk_bytes() const {
    const Result<DiskUse> use = disk_use(directory_);
    if (!use) return tl::make_unexpected(use.error());
    return use->bytes;
  }
  storage::Store& store() { return *store_; }
  const storage::Store& store() const { return *store_; }

 private:
  Admission(std::string directory, std::uint32_t cache_entries)
      : directory_(std::move(directory)), cache_(cache_entries), cache_bytes_(cache_entries * LinkCache::entry_bytes) {}
  std::string directory_;
  std::unique_ptr<storage::Kv> kv_;
  std::optional<storage::Store> store_;
  LinkCache cache_;
  std::uint64_t cache_bytes_ = 0;
};

class CrawlerSet final : public UrlSet {
 public:
  explicit CrawlerSet(std::unique_ptr<Admission> admission) : admission_(std::move(admission)) {}
  Result<bool> seen(std::string_view url) override { return admission_->seen(url); }
  std::uint64_t memory_bytes() const override { return admission_->memory_bytes(); }
  Result<std::uint64_t> disk_bytes() const override { return admission_->disk_bytes(); }

 private:
  std::unique_ptr<Admission> admission_;
};

class FilteredCrawlerSet final : public ApproximateUrlSet {
 public:
  FilteredCrawlerSet(std::unique_ptr<Admission> admission, const storage::BloomFilter::Plan& plan)
      : admission_(std::move(admission)), plan_(plan) {}
  Result<bool> seen(std::string_view url) override { return admission_->seen(url); }
  bool would_be_seen(std::string_view url) const override {
    return admission_->store().filter()->settled(ring::md5(url));
  }
  double predicted_rate(std::uint64_t urls) const override { return storage::BloomFilter::rate_of(plan_, urls); }
  std::uint64_t memory_bytes() const override { return admission_->memory_bytes(); }
  Result<std::uint64_t> disk_bytes() const override { return admission_->disk_bytes(); }

 private:
  std::unique_ptr<Admission> admission_;
  storage::BloomFilter::Plan plan_;
};

}  // namespace

Result<std::unique_ptr<UrlSet>> open_crawler_set(const std::string& directory, std::uint32_t cache_entries) {
  auto admission = Admission::open(directory, cache_entries);
  if (!admission) return tl::make_unexpected(admission.error());
  return std::make_unique<CrawlerSet>(std::move(*admission));
}

Result<std::unique_ptr<UrlSet>> open_filtered_crawler_set(const std::string& directory, std::uint32_t cache_entries,
                                                          std::uint64_t urls, double rate) {
  auto admission = Admission::open(directory, cache_entries);
  if (!admission) return tl::make_unexpected(admission.error());
  const storage::SeenFilter::Config config{urls, rate, false};
  if (const auto filled = (*admission)->store().use_filter(config); !filled)
    return tl::make_unexpected(error_of(filled.error()));
  return std::make_unique<FilteredCrawlerSet>(std::move(*admission), storage::SeenFilter::plan(config));
}

}  // namespace orbweaver
