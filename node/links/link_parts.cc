#include "node/links/link_parts.h"

namespace orbweaver {

LinkParts::LinkParts(PeerState& state, const Members& members, const SeedSet& seeds, Workbench& bench,
                     UrlVerdicts& verdicts)
    : router({.settings = state.settings,
              .store = *state.store,
              .view = members.view(),
              .partitioner = state.partitioner,
              .seeds = seeds,
              .traps = verdicts.traps,
              .walk = verdicts.walk}),
      redirects(state.settings, seeds),
      follower({.settings = state.settings,
                .canonicaliser = state.canonicaliser,
                .view = members.view(),
                .partitioner = state.partitioner,
                .seeds = seeds,
                .bench = bench,
                .traps = verdicts.traps,
                .mirrors = verdicts.mirrors,
                .router = router,
                .redirects = redirects}) {}

}  // namespace orbweaver
