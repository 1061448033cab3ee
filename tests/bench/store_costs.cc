// What the store costs a link, by the number of known URLs: for tests/bench/store.
//
//   store_costs DIR --urls N [--pages N] [--bare]
//
// Fills a store with N known URLs, and then commits pages as a crawl does. A page has 60 links: 48 to its own host, of
// which 5 are new, and 12 to others, by Zipf's law over the hosts, of which one is new. Hosts have 5,000 URLs; 2,000 of
// them, all, or as many as there is room for are being crawled, and each serves 64 pages before it makes room for the
// next. What memory knows of links is asked first, as LinkRouter does. --bare: the same links against RocksDB alone,
// one row a URL, with the same cache in front and the same memory.
//
// Prints one JSON line. Times are CPU us: `link_us` of the thread that commits, without the making of pages;
// `background_us` of all other threads, for each link. `wrong`: links that were judged otherwise than they are.
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "node/crawl/partitioner.h"
#include "node/frontier/link_cache.h"
#include "node/settings/memory_plan.h"
#include "node/settings/settings.h"
#include "ring/md5.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace {

using namespace orbweaver;

constexpr std::uint64_t urls_of_host = 5'000;
constexpr std::size_t hosts_at_work = 2'000;
constexpr std::size_t pages_of_turn = 64;
constexpr std::size_t rows_of_turn = 512;  // of a set, as the workbench reads them
constexpr std::size_t own_links = 48, own_new = 5, other_links = 12, other_new = 1;
constexpr std::size_t links_of_page = own_links + other_links;
constexpr std::uint64_t navigation = 60;  // URLs of a host that each of its pages links, half of them at a time
constexpr std::size_t batch_of_load = 1'000;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "store_costs: %s\n", why.c_str());
  std::exit(1);
}

double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Link {
  std::size_t host = 0;
  storage::UrlKey key;
  std::string url;
  bool fresh = false;
};

// The hosts, how many URLs of each are known, and pages drawn from them.
class World {
 public:
  explicit World(std::uint64_t urls)
      : known_(std::max<std::uint64_t>(1, urls / urls_of_host), 0), ends_(known_.size()) {
    double sum = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) ends_[i] = sum += 1.0 / static_cast<double>(i + 1);
    names_.reserve(known_.size());
    for (std::size_t i = 0; i < known_.size(); ++i) names_.push_back("www" + std::to_string(i) + ".example");
  }
  std::size_t hosts() const { return known_.size(); }
  std::uint64_t known(std::size_t host) const { return known_[host]; }

  Link link(std::size_t host, std::uint64_t number) const {
    Link made;
    made.host = host;
    made.url = "http://" + names_[host] + "/articles/" + std::to_string(number % 97) + "/page-" +
               std::to_string(number) + ".html";
    made.key = {host_key(host), ring::md5(made.url)};
    return made;
  }
  storage::HostKey host_key(std::size_t host) const {
    const ring::Md5 digest = ring::md5(names_[host]);
    storage::HostKey key;
    key.partition = static_cast<std::uint16_t>(ring::leading_bits(digest) % 1024);
    std::copy_n(digest.begin(), key.host.size(), key.host.begin());
    return key;
  }
  Link next_new(std::size_t host) {
    Link made = link(host, known_[host]++);
    made.fresh = true;
    return made;
  }
  // Links of a page of the host, each URL once. The page's own URL is one that is known.
  std::vector<Link> page(std::size_t host) {
    std::vector<Link> links;
    std::vector<std::pair<std::size_t, std::uint64_t>> drawn;
    const auto add_known = [&](std::size_t of, std::uint64_t number) {
      if (number >= known_[of] || std::find(drawn.begin(), drawn.end(), std::pair(of, number)) != drawn.end()) return;
      drawn.emplace_back(of, number);
      links.push_back(link(of, number));
    };
    const std::uint64_t place = random_() % known_[host];
    for (std::size_t i = 0; i < 200 && links.size() < own_links - own_new; ++i)
      add_known(host, i % 5 < 3 ? random_() % navigation : place + random_() % 40);
    for (std::size_t i = 0; i < 200 && links.size() < links_of_page - own_new - other_new; ++i)
      if (const std::size_t other = zipf(); other != host) add_known(other, random_() % known_[other]);
    for (std::size_t i = 0; i < own_new; ++i) links.push_back(next_new(host));
    for (std::size_t i = 0; i < other_new; ++i) links.push_back(next_new(zipf()));
    return links;
  }

 private:
  std::size_t zipf() {
    const double at = std::uniform_real_distribution<double>(0, ends_.back())(random_);
    const auto found = std::lower_bound(ends_.begin(), ends_.end(), at) - ends_.begin();
    // Popular hosts are anywhere in the order in which hosts are crawled.
    return static_cast<std::size_t>(found) * 7'919 % known_.size();
  }

  std::vector<std::uint64_t> known_;
  std::vector<double> ends_;
  std::vector<std::string> names_;
  std::mt19937_64 random_{1};
};

storage::Merge merge_of(const Link& link, storage::UrlState state, bool is_link) {
  storage::Merge merge{link.key, {}, is_link};
  merge.record.state = state;
  merge.record.depth = 3;
  merge.record.url = link.url;
  if (state == storage::UrlState::fetched) {
    merge.record.status = 200;
    merge.record.since = storage::Time(std::chrono::seconds{1'700'000'000});
  }
  return merge;
}

// What is measured: how links are told from known ones, and written.
class Seen {
 public:
  virtual ~Seen() = default;
  virtual void load(World& world, std::size_t host, std::uint64_t urls) = 0;
  virtual void turn(const World&, std::size_t) {}
  virtual void close(const World&, std::size_t) {}
  virtual bool room(std::size_t) const { return true; }  // to crawl so many hosts at a time
  // How many of the links were judged wrongly.
  virtual std::size_t commit(const Link& page, const std::vector<Link>& links) = 0;
  virtual std::uint64_t reads() const = 0;
};

// As a peer with max_memory = 1GiB divides it.
struct Memory {
  Memory() {
    settings.max_memory = std::uint64_t{1} << 30;
    plan = plan_memory(settings, 0);
    static_cast<void>(fit_settings(settings, {}, plan));
  }
  Settings settings;
  MemoryPlan plan;
};

class Ours : public Seen {
 public:
  explicit Ours(const std::string& directory) {
    auto kv = storage::open_rocks({.directory = directory,
                                   .cache_bytes = memory_.settings.max_storage_memory,
                                   .write_buffer_bytes = write_buffer_bytes(memory_.plan)});
    if (!kv) stop(kv.error().message);
    kv_ = std::move(*kv);
    auto store = storage::Store::open(*kv_);
    if (!store) stop(store.error().message);
    store_ = std::make_unique<storage::Store>(std::move(*store));
    store_->use_sets({memory_.plan.seen_sets, 1});
  }
  // An empty host's set is whole at once, so nothing is looked up.
  void load(World& world, std::size_t host, std::uint64_t urls) override {
    turn(world, host);
    for (std::uint64_t done = 0; done < urls;) {
      storage::Commit commit;
      for (; done < urls && commit.merges.size() < batch_of_load; ++done)
        commit.merges.push_back(merge_of(
            world.next_new(host), done % 5 == 0 ? storage::UrlState::fetched : storage::UrlState::queued, false));
      if (auto written = store_->commit(commit); !written) stop(written.error().message);
    }
    close(world, host);
  }
  void turn(const World& world, std::size_t host) override {
    if (auto filled = store_->fill_set(world.host_key(host), rows_of_turn); !filled) stop(filled.error().message);
  }
  void close(const World& world, std::size_t host) override { store_->close_set(world.host_key(host)); }
  bool room(std::size_t hosts) const override { return store_->sets()->room_for(hosts); }
  std::size_t commit(const Link& page, const std::vector<Link>& links) override {
    storage::Commit commit;
    std::vector<const Link*> asked;
    std::size_t wrong = 0;
    for (const Link& link : links) {
      using Verdict = storage::SeenSets::Verdict;
      const Verdict verdict = store_->sets()->judge(link.key, storage::SeenSets::Link{3, 0, 0});
      const bool known = verdict == Verdict::known || (verdict == Verdict::ask && cache_.hit(link.key.url, 3));
      if (known && link.fresh) ++wrong;
      if (known) continue;
      commit.merges.push_back(merge_of(link, storage::UrlState::queued, true));
      asked.push_back(&link);
    }
    commit.merges.push_back(merge_of(page, storage::UrlState::fetched, false));
    auto result = store_->commit(commit);
    if (!result) stop(result.error().message);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if ((result->outcomes[i] == storage::MergeOutcome::added) != asked[i]->fresh) ++wrong;
      if (!store_->sets()->covers(asked[i]->key)) cache_.insert(asked[i]->key.url, 3);
    }
    return wrong;
  }
  std::uint64_t reads() const override { return store_->seen().reads; }

 private:
  Memory memory_;
  std::unique_ptr<storage::Kv> kv_;
  std::unique_ptr<storage::Store> store_;
  LinkCache cache_{memory_.settings.max_link_cache_entries};
};

class Bare : public Seen {
 public:
  explicit Bare(const std::string& directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.max_open_files = 512;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(memory_.settings.max_storage_memory);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    if (const auto opened = rocksdb::DB::Open(options, directory, &db); !opened.ok()) stop(opened.ToString());
    db_.reset(db);
  }
  void load(World& world, std::size_t host, std::uint64_t urls) override {
    for (std::uint64_t done = 0; done < urls;) {
      rocksdb::WriteBatch batch;
      for (std::size_t i = 0; done < urls && i < batch_of_load; ++i, ++done) put(world.next_new(host), batch);
      write(batch);
    }
  }
  std::size_t commit(const Link& page, const std::vector<Link>& links) override {
    std::size_t wrong = 0;
    std::vector<const Link*> asked;
    std::vector<rocksdb::Slice> keys;
    for (const Link& link : links) {
      if (cache_.hit(link.key.url, 3)) continue;
      asked.push_back(&link);
      keys.emplace_back(reinterpret_cast<const char*>(link.key.url.data()), link.key.url.size());
    }
    std::vector<std::string> rows;
    const auto found = db_->MultiGet({}, keys, &rows);
    reads_ += keys.size();
    rocksdb::WriteBatch batch;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (found[i].IsNotFound() != asked[i]->fresh) ++wrong;
      if (found[i].IsNotFound()) put(*asked[i], batch);
      cache_.insert(asked[i]->key.url, 3);
    }
    put(page, batch);
    write(batch);
    return wrong;
  }
  std::uint64_t reads() const override { return reads_; }

 private:
  static void put(const Link& link, rocksdb::WriteBatch& batch) {
    batch.Put({reinterpret_cast<const char*>(link.key.url.data()), link.key.url.size()}, link.url);
  }
  void write(rocksdb::WriteBatch& batch) {
    if (const auto written = db_->Write({}, &batch); !written.ok()) stop(written.ToString());
  }
  Memory memory_;
  std::unique_ptr<rocksdb::DB> db_;
  LinkCache cache_{memory_.settings.max_link_cache_entries};
  std::uint64_t reads_ = 0;
};

std::uint64_t bytes_of(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  if (std::FILE* const statm = std::fopen("/proc/self/statm", "r"); statm != nullptr) {
    unsigned long size = 0;
    unsigned long resident = 0;
    if (std::fscanf(statm, "%lu %lu", &size, &resident) == 2) pages = resident;
    std::fclose(statm);
  }
  return pages * 4096;
}

// Crawls so many pages, and measures those after the first quarter, by which the hosts' sets are there.
void crawl(Seen& seen, World& world, std::uint64_t urls, std::size_t pages, const std::string& directory, bool bare) {
  struct AtWork {
    std::size_t host;
    std::size_t pages;
  };
  std::vector<AtWork> bench;
  std::size_t next_host = 0;
  std::size_t turn = 0;
  for (; next_host < std::min(world.hosts(), hosts_at_work); ++next_host)
    bench.push_back({next_host, next_host % pages_of_turn});  // not all make room at once
  double spent = 0;
  double longest = 0;
  double others = 0;
  std::size_t measured = 0;
  std::size_t wrong = 0;
  std::uint64_t reads = 0;
  for (std::size_t page = 0; page < pages; ++page) {
    AtWork& slot = bench[turn++ % bench.size()];
    if (page == pages / 4) {
      others = seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID);
      reads = seen.reads();
      spent = longest = 0;
      measured = wrong = 0;
    }
    const Link own = world.link(slot.host, world.known(slot.host) / 3 + page / bench.size());
    const std::vector<Link> links = world.page(slot.host);
    const double before = seconds(CLOCK_THREAD_CPUTIME_ID);
    seen.turn(world, slot.host);
    wrong += seen.commit(own, links);
    if (++slot.pages >= pages_of_turn && (world.hosts() > bench.size() || !seen.room(bench.size()))) {
      seen.close(world, slot.host);
      if (seen.room(bench.size())) {
        slot = {next_host++ % world.hosts(), 0};
      } else {
        slot = bench.back();
        bench.pop_back();
      }
    }
    const double took = seconds(CLOCK_THREAD_CPUTIME_ID) - before;
    spent += took;
    longest = std::max(longest, took);
    measured += links.size();
  }
  const double background = seconds(CLOCK_PROCESS_CPUTIME_ID) - seconds(CLOCK_THREAD_CPUTIME_ID) - others;
  const auto links = static_cast<double>(measured);
  std::printf(
      "{\"store\":\"%s\",\"urls\":%llu,\"hosts\":%zu,\"pages\":%zu,\"link_us\":%.3f,\"background_us\":%.3f,"
      "\"reads_a_page\":%.2f,\"longest_ms\":%.2f,\"resident_mib\":%.0f,\"disk_bytes_a_url\":%.1f,\"wrong\":%zu}\n",
      bare ? "bare" : "orbweaver", static_cast<unsigned long long>(urls), world.hosts(), pages, spent / links * 1e6,
      background / links * 1e6, static_cast<double>(seen.reads() - reads) / links * links_of_page, longest * 1e3,
      static_cast<double>(resident_bytes()) / (1 << 20),
      static_cast<double>(bytes_of(directory)) / static_cast<double>(urls), wrong);
}

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t urls = 0;
  std::size_t pages = 40'000;
  bool bare = false;
  for (int i = 2; i < count; ++i) {
    if (std::strcmp(arguments[i], "--bare") == 0) bare = true;
    if (i + 1 < count && std::strcmp(arguments[i], "--urls") == 0) urls = std::strtoull(arguments[i + 1], nullptr, 10);
    if (i + 1 < count && std::strcmp(arguments[i], "--pages") == 0)
      pages = std::strtoull(arguments[i + 1], nullptr, 10);
  }
  if (count < 2 || urls < urls_of_host) stop("usage: store_costs DIR --urls N [--pages N] [--bare]");
  const std::string directory = arguments[1];
  World world(urls);
  std::unique_ptr<Seen> seen;
  if (bare) {
    seen = std::make_unique<Bare>(directory);
  } else {
    seen = std::make_unique<Ours>(directory);
  }
  for (std::size_t host = 0; host < world.hosts(); ++host) seen->load(world, host, urls / world.hosts());
  crawl(*seen, world, urls, pages, directory, bare);
  return 0;
}
