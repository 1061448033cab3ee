// Pages that kill the crawler. A process that did not end cleanly leaves behind which pages were at work
// (node/process/in_flight.h): at most one for each worker, and one in the core. Each is tried once more. A page that
// was at work at the next unclean end too is given up as crashes_crawler, and the crawl continues. A page that ends in
// any other way is cleared. Whatever ended the process counts, a kill -9 by a user too: it costs a page only if it
// comes twice while that same page is read.
//
// The counts are in the meta table, one row per page (meta_name::crashed); few pages were at work, so all rows are in
// memory. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "ring/table_sizes.h"
#include "storage/store.h"

namespace orbweaver {

class CrashBook {
 public:
  // Reads the rows and counts one more end for each page of `at_work`; the new counts go into `commit`. Rows that
  // cannot be read are skipped. Errors: the store's.
  Result<void> restore(storage::Store& store, const std::vector<storage::UrlKey>& at_work, storage::Commit& commit);
  // The page was at work at too many unclean ends, and is not asked for again.
  bool given_up(const storage::UrlKey& page) const;
  // The page has ended in some other way, or is given up: its row is cleared in `commit`.
  void clear(const storage::UrlKey& page, storage::Commit& commit);
  ring::TableSizes tables() const;

  // A page's key in the name of its row, in hexadecimal digits. Nothing: such a name stands for no page.
  static std::string text_of(const storage::UrlKey& key);
  static std::optional<storage::UrlKey> key_of(std::string_view text);

 private:
  std::map<storage::UrlKey, std::uint32_t> ends_;  // unclean ends at which a page was at work
};

}  // namespace orbweaver
