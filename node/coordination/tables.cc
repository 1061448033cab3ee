// How many entries the tables of this room have (ring/table_sizes.h).
#include "node/coordination/directives.h"
#include "node/coordination/doorkeeper.h"
#include "node/coordination/ending.h"
#include "node/coordination/fence.h"
#include "node/coordination/seed_set.h"

namespace orbweaver {

ring::TableSizes Doorkeeper::tables() const { return {{"doorkeeper.duplicates", duplicates_.size()}}; }

ring::TableSizes TerminationDetector::tables() const {
  return {{"waves.members", members_.size()},
          {"waves.replies", replies_.size()},
          {"waves.last_passive", last_passive_.size()},
          {"waves.grants", grants_.size()}};
}

ring::TableSizes Ending::tables() const {
  ring::TableSizes sizes = detector_.tables();
  ring::append(sizes, {{"ending.acknowledged", acknowledged_.size()},
                       {"ending.members", round_ ? round_->members.size() : 0},
                       {"ending.agreed", round_ ? round_->agreed.size() : 0}});
  return sizes;
}

ring::TableSizes Fence::tables() const {
  return {{"fence.answered", answered_.size()},
          {"fence.confirmed_by", confirmed_by_.size()},
          {"fence.unanswered", unanswered_.size()}};
}

ring::TableSizes SeedSet::tables() const { return {{"seeds.due", due_.size()}}; }

ring::TableSizes Directives::tables() const {
  ring::TableSizes sizes = seeds_.tables();
  ring::append(sizes, {{"directives.differing", differing_.size()},
                       {"directives.sent_orders", sent_orders_.size()},
                       {"directives.orders", orders_.size()}});
  return sizes;
}

}  // namespace orbweaver
