// How many entries the tables of this room have (ring/table_sizes.h).
#include "node/frontier/budgets.h"
#include "node/frontier/canonical_redirects.h"
#include "node/frontier/crash_book.h"
#include "node/frontier/transfer_shares.h"
#include "node/frontier/workbench.h"

namespace orbweaver {

ring::TableSizes Budgets::tables() const { return {{"budgets.under_way", under_way_.size()}}; }

ring::TableSizes CanonicalRedirects::tables() const {
  return {{"redirects.forms", forms_.size()}, {"redirects.in_order", in_order_.size()}};
}

ring::TableSizes CrashBook::tables() const { return {{"crashes.pages", ends_.size()}}; }

ring::TableSizes TransferShares::tables() const {
  return {{"shares.transfers", transfers_.size()},
          {"shares.lines", lines_.size()},
          {"shares.waiting", by_host_.size()},
          {"shares.in_order", in_order_.size()},
          {"shares.open", open_.size()}};
}

ring::TableSizes Workbench::tables() const {
  return {{"bench.hosts", hosts_.size()},
          {"bench.ready", ready_.size()},
          {"bench.due", due_.size() + due_by_time_.size()},
          {"bench.resumed", resumed_.size()},
          {"bench.lent", lent_.size()},
          {"bench.waiting", waiting_.size()},
          {"bench.issued", issued_.size()}};
}

}  // namespace orbweaver
