// Pages again (docs/how-to/recrawl.md): a walk over the records queues those that ended before a moment for another
// visit. The moment is the same for all. Each peer walks over all that it has, copies for others too: what it makes of
// a record depends on the record and the moment alone, so that copies stay alike. No partition is handed over before
// its walk. How far a walk came stands in the meta table (meta_name::recrawl), so it survives a restart. Lifetime: the
// peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/crawl/partitioner.h"
#include "node/replication/record_writer.h"
#include "node/scope/re2_patterns.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// What the record is when its URL is asked for once more; nothing when it cannot be. What robots.txt or its port kept
// out is judged again; what else is excluded stays so: it would be again, or is lifted in another way
// (docs/how-to/traps.md).
std::optional<storage::UrlRecord> visited_again(const storage::UrlRecord& known);

class RecrawlWalk {
 public:
  // Which records are visited again.
  struct Wanted {
    Time before{};                                 // ended before this
    std::string host;                              // empty: any
    std::string match;                             // RE2, anywhere in the URL; empty: any
    std::shared_ptr<const UrlPatterns> pattern{};  // of `match`; null: any
  };
  // {"before_us": n, "host": h, "match": RE2}, all optional; before_us of `now` at most. Errors name the field.
  static Result<Wanted> read(const nlohmann::json& given, Time now);

  // All outlive it. `stepped`: the time of the last step.
  RecrawlWalk(storage::Store& store, const Canonicaliser& canonicaliser, Partitioner& partitioner, const Time& stepped,
              RecordWriter& writer)
      : store_(&store),
        canonicaliser_(&canonicaliser),
        partitioner_(&partitioner),
        stepped_(&stepped),
        writer_(&writer) {}

  // Of an earlier process, as its row has it. Errors: what cannot be read.
  Result<void> restore(const std::string& row);
  // The walk that was begun last had this moment: told twice, it is one walk.
  bool was_told(Time before) const { return before == last_; }
  // The row of a walk that begins.
  static std::string row_of(const Wanted& wanted) { return row_of(wanted, {}, 0); }
  // Begins a walk, in place of one in progress. Its row goes into `commit`.
  void begin(Wanted wanted, storage::Commit& commit);

  bool under_way() const { return walk_.has_value(); }
  // The walk has still to pass this partition.
  bool awaits(ring::Partition partition) const;
  // Goes on a little, about 5 ms: what it queues and how far it came are one write.
  Result<void> walk_on(const Step& step);

  // A link that is to be admitted here. When a sitemap says that the page has changed since it was fetched
  // (record.lastmod, by its record.sitemap_visit), the record becomes its next visit. The sitemap's visit is left out
  // of it in any case: it was of the link.
  void visit_if_newer(const storage::UrlKey& key, storage::UrlRecord& record) const;

 private:
  struct Walk {
    Wanted wanted;
    std::string after;  // URL of the last record that it looked at; empty: from the start
    std::uint64_t queued = 0;
  };
  static std::string row_of(const Wanted& wanted, const std::string& after, std::uint64_t queued);
  std::optional<storage::UrlKey> place_of(const Walk& walk) const;
  static bool is_wanted(const Wanted& wanted, const storage::UrlRecord& record);

  storage::Store* store_;
  const Canonicaliser* canonicaliser_;
  Partitioner* partitioner_;
  const Time* stepped_;
  RecordWriter* writer_;
  std::optional<Walk> walk_;
  Time last_{};
};

}  // namespace orbweaver
