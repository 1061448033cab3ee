#include "node/links/url_verdicts.h"

namespace orbweaver {

UrlVerdicts::UrlVerdicts(PeerState& state, const Members& members, const Messenger& messenger, const SeedSet& seeds,
                         RecordWriter& writer)
    : trap_rules(state.settings),
      mirrors({.settings = state.settings,
               .rules = trap_rules,
               .store = *state.store,
               .view = members.view(),
               .partitioner = state.partitioner,
               .messenger = messenger,
               .seeds = seeds,
               .writer = writer}),
      traps(state.settings, trap_rules, *state.store, state.stepped, mirrors),
      walk(*state.store, state.canonicaliser, state.partitioner, state.stepped, writer,
           state.recovery_steps.walk_records) {}

}  // namespace orbweaver
