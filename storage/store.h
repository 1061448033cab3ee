// What a peer stores: the seen-set and the URLs' states, the frontier, hosts' clocks, robots.txt files and cookies,
// what domains have used of their budgets, the outbox, and a few facts about itself. Everything changes through
// commit(): one atomic write. Keys begin with the partition, so a partition is one range of each table; a page's links
// to one host are adjacent (docs/reference/formats.md lists the bytes).
//
// After a crash (kill -9) at any moment a commit is there whole or not at all. Thread rule: one owner (the loop).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "storage/kv.h"
#include "storage/record.h"
#include "storage/seen_filter.h"
#include "storage/seen_sets.h"
#include "storage/url_key.h"

namespace orbweaver::storage {

inline constexpr std::uint32_t store_format = 6;  // raised with every change of the bytes on disk
// Refuses a store of another format; marks a new one. Called at open.
Result<void> check_format(Kv& kv, const std::string& directory);

// The order in which a host's URLs are fetched. Ring-wide, and fixed when the ring is made: positions on disk are not
// rewritten.
//   breadth  the smallest depth first, then as admitted
//   depth    the greatest depth first, then the one admitted last
//   best     the highest score first, then as admitted
enum class QueueOrder : std::uint8_t { breadth, depth, best };

// A URL that was never tried. `priority` is the depth; for depth first it is 65535 - depth, for best first 65535 -
// score. `number` is that of the admission; for depth first it is 2^64 - 1 minus that.
struct UntriedPlace {
  std::uint32_t priority = 0;
  std::uint64_t number = 0;
  auto operator<=>(const UntriedPlace&) const = default;
};
// A URL that waits for another try.
struct RetryPlace {
  Time not_before{};
  auto operator<=>(const RetryPlace&) const = default;
};
// The place of a queued URL in its host's queue; lower is earlier. URLs that were never tried come before all that wait
// for another try.
struct Position {
  std::variant<UntriedPlace, RetryPlace> place{};
  UrlDigest url{};  // makes it unique

  // Null: it waits for another try.
  const UntriedPlace* untried() const { return std::get_if<UntriedPlace>(&place); }
  // The epoch: it was never tried.
  Time not_before() const {
    const auto* const retry = std::get_if<RetryPlace>(&place);
    return retry == nullptr ? Time{} : retry->not_before;
  }
  auto operator<=>(const Position&) const = default;  // by the alternative first
};

// Fields are ordered to leave no gaps: there are many of these in memory.
struct QueuedUrl {
  UrlKey key;
  std::uint16_t depth = 0;
  std::uint16_t visit = 0;
  std::uint16_t score = 0;
  Position position{};
  std::string url{};
  std::uint8_t steps = 0;
  std::uint8_t attempts = 0;
  std::uint8_t off_site = 0;
};

struct Merge {
  UrlKey key;
  UrlRecord record;
  bool link = false;  // as found on a page: a filter may treat it as seen
};

struct OutboxKey {
  std::uint16_t partition = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const OutboxKey&) const = default;
};
struct OutboxEntry {
  OutboxKey key;
  std::string record;  // encode_record()
};

// One atomic write.
struct Commit {
  std::vector<Merge> merges;  // links admitted, outcomes, batches, hand-overs: all are merged the same way
  std::vector<std::pair<std::uint16_t, std::string>> to_outbox;  // partition, record
  std::vector<OutboxKey> from_outbox;                            // acknowledged; each must be in the outbox
  std::vector<std::pair<HostKey, HostClock>> clocks;
  std::vector<std::tuple<HostKey, std::string, RobotsEntry>> robots;    // by origin
  std::vector<std::pair<HostKey, std::optional<SiteCookies>>> cookies;  // nothing: the row goes
  std::vector<std::pair<HostKey, SiteUse>> uses;
  std::vector<std::pair<std::string, std::string>> meta;
  bool synced = false;  // on the disk itself when it counts, and all before it, whatever `durability` says
  // The URL whose outcome is among the merges, as it came from the queue. With its host's set, its row is not read. It
  // outlives the call.
  const QueuedUrl* taken = nullptr;
};

enum class MergeOutcome : std::uint8_t { known, added, changed };

struct NewlyQueued {
  QueuedUrl url;
  bool moved = false;  // it was queued before, at another position
};

struct CommitResult {
  std::vector<MergeOutcome> outcomes;  // for each of Commit::merges (of several with one key, only the first is set)
  std::vector<NewlyQueued> queued;     // records that are newly queued, or queued at a new position
  std::vector<UrlKey> unqueued;        // records that were queued and are not any more
  std::vector<Merge> changed;          // new or changed records, joined, with their URL
  std::vector<OutboxEntry> outbox;     // with their numbers
};

// The cost of the seen-set and its possible losses.
struct SeenCounts {
  std::uint64_t reads = 0;          // keys that commits looked up on the disk, since the store was opened
  std::uint64_t taken_as_seen = 0;  // links that the filter dropped, likewise
  std::uint64_t taken_as_new = 0;   // links that were written without a look-up, likewise
  std::uint64_t known_by_set = 0;   // merges that, by a set of fingerprints, change nothing, likewise
  std::uint64_t new_by_set = 0;     // merges written without a look-up since a set lacked them, likewise
  std::uint64_t from_queue = 0;     // outcomes of URLs whose row was not read: the queue had told all of it, likewise
  std::uint64_t set_rows = 0;       // rows that were read to fill sets, likewise
  // Pages that the filter may have lost, since the store was made. For each page that it let in, p/(1-p) others are
  // expected to have been lost, p being its rate of false positives at that time.
  double missed = 0;
};

// The numbers of records; written with every commit, so they are right even after a crash.
struct Counts {
  std::uint64_t queued = 0;
  std::uint64_t fetched = 0;
  std::uint64_t failed = 0;
  std::uint64_t excluded = 0;
  std::uint64_t outbox = 0;
  std::uint64_t discovered() const { return queued + fetched + failed + excluded; }
  bool operator==(const Counts&) const = default;
};

// A partition's digest tree has two levels. The root, written with every commit, is the sum of the digests of its
// records (record_digest). A leaf is the sum over the records whose URL digest begins with its number. With sums a
// change costs one subtraction and one addition, in any order.
using Leaves = std::array<std::uint64_t, 256>;
inline std::uint8_t leaf_of(const UrlDigest& url) { return url[0]; }

// What is stored for a host in addition to its URLs: its clock, the robots.txt of one of its origins, its cookies; or
// what a domain has used.
struct HostRow {
  HostKey host;
  std::optional<HostClock> clock;
  std::string origin;  // of the robots.txt
  std::optional<RobotsEntry> robots;
  std::optional<SiteCookies> cookies;
  std::optional<SiteUse> use;
  std::string row;  // for the next call
};

class Store;

// The hosts that have queued URLs, by key, as they are at the first call of next().
class QueuedHosts {
 public:
  explicit QueuedHosts(Store& store) : store_(&store) {}  // which outlives it
  // The first one after `after` (from the start when null), which is not before that of the call before.
  Result<std::optional<HostKey>> next(const HostKey* after);

 private:
  Store* store_;
  std::unique_ptr<KvCursor> cursor_;
};

class Store {
 public:
  // Reads the counts and the last sequence numbers. `kv` must outlive it.
  static Result<Store> open(Kv& kv);

  // For all records that are queued from here on: call it right after open(), with the same value at every run.
  void set_order(QueueOrder order) { queue_order_ = order; }

  Result<CommitResult> commit(const Commit& commit);
  // The first read that failed: of what it concerned nothing is known, not even that it is not there. From then on
  // nothing more is written, and the process has to end (Core::step).
  const std::optional<Error>& failure() const { return failure_; }

  // From now on a filter is asked about links before the disk (seen_filter.h). It is filled from all records here: one
  // read of each, about 0.6 us. A commit's link is then written without a look-up when it is new, and dropped when it
  // seems to be known, with MergeOutcome::known. Every other merge is read and joined as always.
  Result<void> use_filter(const SeenFilter::Config& config);
  const SeenFilter* filter() const { return filter_.get(); }  // null: the seen-set is exact

  // From now on sets of fingerprints judge merges of crawled hosts before the disk (seen_sets.h). The store fills them
  // and updates them after every write.
  void use_sets(const SeenSets::Config& config) { sets_ = std::make_unique<SeenSets>(config); }
  const SeenSets* sets() const { return sets_.get(); }  // null: none
  // The host is about to be crawled: begins its set, or fills it further by at most `rows`, about 0.8 us each.
  Result<void> fill_set(const HostKey& host, std::size_t rows);
  // The host is not crawled any more.
  void close_set(const HostKey& host);
  const SeenCounts& seen() const { return seen_; }

  // For all records here, including copies for other peers; and for the partitions that this peer holds (and fetches).
  const Counts& counts() const { return counts_; }
  const Counts& held() const { return held_; }
  Counts counts(std::uint16_t partition) const;
  // Rows in held partitions, counted as they come and go, not as the sum of the states: the other side of the
  // ledger.
  std::uint64_t held_records() const { return held_records_; }
  std::uint64_t root(std::uint16_t partition) const;
  // The number that the next outbox entry will have.
  std::uint64_t next_outbox() const { return next_outbox_; }
  // Whether the partition counts in held(); not stored on disk.
  void hold(std::uint16_t partition, bool held);
  // A queued record comes without its URL's text, which the frontier has.
  Result<std::optional<UrlRecord>> find(const UrlKey& key);

  // Up to `limit` queued URLs of a host after `after` (from the first when null), in order.
  Result<std::vector<QueuedUrl>> queue_head(const HostKey& host, const Position* after, std::size_t limit);
  QueuedHosts queued_hosts() { return QueuedHosts(*this); }

  Result<std::optional<HostClock>> clock(const HostKey& host);
  Result<std::optional<RobotsEntry>> robots(const HostKey& host, std::string_view origin);
  Result<std::optional<SiteCookies>> cookies(const HostKey& site);
  Result<std::optional<SiteUse>> use(const HostKey& site);

  // Outbox entries of a partition after `after_sequence`, in order.
  Result<std::vector<OutboxEntry>> outbox_of(std::uint16_t partition, std::uint64_t after_sequence, std::size_t limit);

  // Records of a partition in key order after `after` (null: from the first), with the URL's text.
  Result<std::vector<Merge>> scan(std::uint16_t partition, const UrlKey* after, std::size_t limit);
  // Cost: a read of every record of the partition, about 0.5 us each.
  Result<Leaves> leaves(std::uint16_t partition);
  // The rows of a partition's hosts, after the row `after` (empty: from the first).
  Result<std::vector<HostRow>> hosts_of(std::uint16_t partition, const std::string& after, std::size_t limit);
  // Removes a partition's records and hosts, at most `limit` of each in one write. True: nothing of it is left.
  Result<bool> drop(std::uint16_t partition, std::size_t limit);
  // Partitions with at least one record here.
  std::vector<std::uint16_t> partitions() const;

  Result<std::optional<std::string>> meta(std::string_view name);
  // All rows of the meta table whose name begins with `prefix`: the rest of the name, and the value.
  Result<std::vector<std::pair<std::string, std::string>>> meta_rows(const std::string& prefix);

 private:
  friend class QueuedHosts;
  explicit Store(Kv& kv) : kv_(&kv) {}
  struct Stored;
  template <class T>
  Result<T> noted(Result<T> read) {
    if (!read && !failure_) failure_ = read.error();
    return read;
  }
  Result<std::optional<std::string>> get(Table table, std::string_view key);
  static Result<Stored> decode_stored(std::string_view bytes, const UrlDigest& url);
  // The sums of a partition, stored in the meta table.
  struct Tally {
    std::uint64_t queued = 0;
    std::uint64_t fetched = 0;
    std::uint64_t failed = 0;
    std::uint64_t excluded = 0;
    std::uint64_t root = 0;
    std::uint64_t records = 0;
    bool held = false;  // in memory only
    std::uint64_t& of(UrlState state);
    bool empty() const { return queued + fetched + failed + excluded == 0; }
    void add_to(Counts& counts, bool add) const;
  };
  using Tallies = std::map<std::uint16_t, Tally>;
  Position position_of(const UrlRecord& record, const UrlDigest& url, std::uint64_t& order) const;
  // The look-ups that a commit needs in the table of URLs: one group for all merges of a key.
  struct Lookup {
    std::vector<std::string> keys;  // of each merge
    std::vector<std::size_t> sorted;
    struct Group {
      std::size_t first = 0;  // into `sorted`
      std::size_t last = 0;   // one past the end
      SeenFilter::Verdict verdict = SeenFilter::Verdict::ask;
      bool link = false;
      bool by_set = false;    // a set gave the verdict
      bool as_taken = false;  // the row is what Commit::taken says
      bool is_read() const { return verdict == SeenFilter::Verdict::ask && !as_taken; }
    };
    std::vector<Group> groups;
  };
  Lookup look_up(const Commit& commit) const;
  std::optional<Stored> as_queued(const Commit& commit, const UrlKey& key) const;
  void judge(const Commit& commit, const std::vector<std::size_t>& sorted, Lookup::Group& group) const;
  Result<void> stage_merges(const Commit& commit, KvBatch& batch, CommitResult& result, Tallies& tallies,
                            std::uint64_t& order, SeenCounts& seen);
  void note_seen(const std::vector<Merge>& changed);
  Tally& tally_of(Tallies& changed, std::uint16_t partition) const;
  void stage(const Tallies& changed, KvBatch& batch) const;
  void take_over(const Tallies& changed);

  Kv* kv_;
  QueueOrder queue_order_ = QueueOrder::breadth;
  Tallies tallies_;  // of partitions with records, and held ones
  Counts counts_;
  Counts held_;
  std::uint64_t held_records_ = 0;
  std::unique_ptr<SeenFilter> filter_;
  std::unique_ptr<SeenSets> sets_;
  SeenCounts seen_;
  std::optional<Error> failure_;
  std::uint64_t next_order_ = 1;  // of admissions
  std::uint64_t dropped_at_ = 0;  // the next admission's number when records were last dropped
  std::uint64_t next_outbox_ = 1;
};

}  // namespace orbweaver::storage
