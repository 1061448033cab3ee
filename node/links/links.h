// What becomes of the links of pages. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/links/link_follower.h"
#include "node/links/link_router.h"
#include "node/links/seed_redirects.h"
#include "node/links/url_verdicts.h"

namespace orbweaver {

struct Links {
  // All outlive it.
  Links(PeerState& state, const Members& members, const SeedSet& seeds, Workbench& bench, UrlVerdicts& verdicts);
  Links(const Links&) = delete;  // its parts point at each other
  Links& operator=(const Links&) = delete;

  LinkRouter router;
  SeedRedirects redirects;
  LinkFollower follower;
};

}  // namespace orbweaver
