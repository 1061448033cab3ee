// How many entries the tables of this room have (ring/table_sizes.h).
#include "node/links/mirror_table.h"
#include "node/links/seed_redirects.h"

namespace orbweaver {

ring::TableSizes MirrorTable::tables() const {
  return {{"mirrors.pages", index_.size()}, {"mirrors.hosts", verdicts_.size()}, {"mirrors.unsent", unsent_.size()}};
}

ring::TableSizes SeedRedirects::tables() const { return {{"seeds.redirects", targets_.size()}}; }

}  // namespace orbweaver
