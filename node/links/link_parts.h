// What happens to the links of pages. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/links/link_follower.h"
#include "node/links/link_router.h"
#include "node/links/seed_redirects.h"
#include "node/links/url_verdicts.h"

namespace orbweaver {

struct LinkParts {
  // All outlive it.
  LinkParts(PeerState& state, const Members& members, const SeedSet& seeds, Workbench& bench, UrlVerdicts& verdicts);
  LinkParts(const LinkParts&) = delete;  // its parts point at each other
  LinkParts& operator=(const LinkParts&) = delete;

  LinkRouter router;
  SeedRedirects redirects;
  LinkFollower follower;
};

}  // namespace orbweaver
