// Pages again (docs/how-to/recrawl.md): a walk over the records queues every record that ended before a given moment
// for another visit. The moment is the same on all peers. Each peer walks over all that it has, copies for others too.
// The result for a record depends only on the record and the moment, so copies stay alike. No partition is handed over
// before its walk. The progress of a walk is in the meta table (meta_name::recrawl), so it survives a restart.
// Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "node/coordination/operator_orders.h"
#include "node/crawl/partitioner.h"
#include "node/crawl/peer_state.h"
#include "node/crawl/record_filter.h"
#include "node/replication/record_writer.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// The record when its URL is asked for once more; nothing when it cannot be. A URL that robots.txt or its port kept out
// is judged again. Other excluded URLs stay so: they would be excluded again, or are lifted in another way
// (docs/how-to/traps.md). With `excluded`, which a user says, all are judged again but for traps and those that are too
// deep.
std::optional<storage::UrlRecord> visited_again(const storage::UrlRecord& known, bool excluded = false);

class RecrawlWalk {
 public:
  // Which records are visited again.
  struct Wanted {
    Time before{};  // ended before this
    RecordFilter filter{};
  };
  // {"before_us": n} and the fields of the filter, all optional; without before_us it is `now`. Errors name the field.
  static Result<Wanted> read(const nlohmann::json& given, Time now);
  // The same as the value of an operator's order, and back. Orders that want the same have one name.
  static OperatorOrder order_of(const Wanted& wanted, const OperatorOrders& known, const ring::PeerId& peer, Time now);
  static Result<Wanted> read_order(const OperatorOrder& order);

  // All outlive it. `stepped`: the time of the last step. `walk_records`: that it looks at in one step.
  RecrawlWalk(storage::Store& store, const Canonicaliser& canonicaliser, Partitioner& partitioner, const Time& stepped,
              RecordWriter& writer, std::size_t walk_records = RecoverySteps().walk_records)
      : store_(&store),
        canonicaliser_(&canonicaliser),
        partitioner_(&partitioner),
        stepped_(&stepped),
        writer_(&writer),
        walk_records_(walk_records) {}

  // Restores the walk of an earlier process from its row. Errors: what cannot be read.
  Result<void> restore(const std::string& row);
  // No further order is taken from a command before one is carried out.
  bool full() const { return walks_.size() >= max_walks; }
  static constexpr std::string_view full_words =
      "earlier orders to visit pages again are still being carried out; ask again later";
  // The row of a walk that begins.
  static std::string row_of(const Wanted& wanted) { return row_of_all({{wanted, {}, 0}}); }
  // The row of an order after those of `row`, for a peer that does not run. Errors: what cannot be read; too many.
  static Result<std::string> row_with(const std::string& row, const Wanted& wanted);
  // Carries out the order after those that came before it. Of those of other peers that wait, the oldest goes when
  // there are too many. The row goes into `commit`.
  void begin(Wanted wanted, storage::Commit& commit);

  bool under_way() const { return !walks_.empty(); }
  // The walk has not passed this partition yet.
  bool awaits(ring::Partition partition) const;
  // Continues for some milliseconds: what it queues and how far it came are one write.
  Result<void> walk_on(const Step& step);

  // A link that is to be admitted here. When a sitemap says that the page has changed since it was fetched
  // (record.lastmod, by its record.sitemap_visit), the record becomes its next visit. The sitemap's visit is removed in
  // any case: it belongs to the link.
  void visit_if_newer(const storage::UrlKey& key, storage::UrlRecord& record) const;

 private:
  struct Walk {
    Wanted wanted;
    std::string after;  // URL of the last record that it looked at; empty: from the start
    std::uint64_t queued = 0;
  };
  static constexpr std::size_t max_walks = 64;
  using Walks = std::deque<Walk>;
  static std::string row_of_all(const Walks& walks);
  static Result<Walks> read_row(const std::string& row);
  std::optional<storage::UrlKey> place_of(const Walk& walk) const;

  storage::Store* store_;
  const Canonicaliser* canonicaliser_;
  Partitioner* partitioner_;
  const Time* stepped_;
  RecordWriter* writer_;
  std::size_t walk_records_;
  Walks walks_;  // the first is in progress, the others wait
};

}  // namespace orbweaver
