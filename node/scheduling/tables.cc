// How many entries the tables of this room have (ring/table_sizes.h).
#include "node/scheduling/fetch_outcomes.h"
#include "node/scheduling/host_access.h"
#include "node/scheduling/robots_desk.h"

namespace orbweaver {

ring::TableSizes FetchOutcomes::tables() const { return {{"fetches.in_pieces", in_pieces_.size()}}; }

ring::TableSizes HostAccess::tables() const {
  ring::TableSizes sizes = leases_.tables();
  ring::append(sizes, {{"slots.wanted", wanted_.size()},
                       {"slots.unsent", unsent_.size()},
                       {"slots.round_trips", slot_round_trip_.size()},
                       {"slots.addresses", book_.addresses()},
                       {"slots.own_requests", own_requests_.addresses()}});
  return sizes;
}

ring::TableSizes LeaseDesk::tables() const {
  return {{"leases.wanted", leases_.size()}, {"leases.of_hosts", lease_of_.size()}, {"leases.unsent", unsent_.size()},
          {"leases.turns", turns_.size()},   {"leases.hosts", book_.hosts()},       {"leases.clocks", clocks_.size()}};
}

ring::TableSizes RobotsDesk::tables() const {
  return {{"robots.shared", shared_.size()}, {"robots.to_parse", to_parse_.size()}};
}

}  // namespace orbweaver
