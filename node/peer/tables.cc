// How many entries the tables of a peer have (ring/table_sizes.h).
#include "node/peer/peer.h"

namespace orbweaver {

ring::TableSizes Questions::tables() const { return {{"questions.under_way", under_way_.size()}}; }

ring::TableSizes Peer::tables() const {
  const Replication& replication = records_.replication;
  ring::TableSizes sizes = {{"fetches.jobs", fetches_.jobs.size()},
                            {"cookies.unwritten", fetches_.cookies.unwritten()},
                            {"snapshot.waiting", snapshots_.waiting()},
                            {"events", events_.size()}};
  for (const ring::TableSizes& more : {members_.tables(),
                                       replication.dependents.tables(),
                                       replication.outbox.tables(),
                                       replication.replicator.tables(),
                                       replication.partition_manager.tables(),
                                       moves_.tables(),
                                       directives_.tables(),
                                       doorkeeper_.tables(),
                                       fence_.tables(),
                                       ends_.search.tables(),
                                       verdicts_.mirrors.tables(),
                                       links_.redirects.tables(),
                                       fetches_.budgets.tables(),
                                       fetches_.redirects.tables(),
                                       fetches_.crashes.tables(),
                                       fetches_.jobs.shares().tables(),
                                       records_.bench.tables(),
                                       fetches_.outcomes.tables(),
                                       fetches_.access.tables(),
                                       fetches_.robots.tables(),
                                       questions_.tables()})
    ring::append(sizes, more);
  return sizes;
}

}  // namespace orbweaver
