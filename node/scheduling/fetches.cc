#include "node/scheduling/fetches.h"

namespace orbweaver {

Fetches::Fetches(const Around& around)
    : gate(around.members, around.lifecycle, around.fence, around.seeds, around.records.replication.replicator),
      allowance(around.state.settings),
      budgets(around.state.settings, *around.state.store, around.state.settings.max_hosts_in_memory),
      redirects(around.state.settings),
      access(around.state.settings, around.members.membership(), around.members.view(), around.state.sites,
             around.records.bench, around.messenger, around.made_ring),
      jobs(around.state.settings, around.records.bench),
      robots({.state = around.state,
              .bench = around.records.bench,
              .writer = around.records.writer,
              .jobs = jobs,
              .links = around.links.follower}),
      scheduler({.state = around.state,
                 .gate = gate,
                 .replication = around.records.replication,
                 .bench = around.records.bench,
                 .writer = around.records.writer,
                 .jobs = jobs,
                 .robots = robots,
                 .access = access,
                 .redirects = redirects,
                 .allowance = allowance,
                 .budgets = budgets,
                 .crashes = crashes}),
      outcomes({.state = around.state,
                .bench = around.records.bench,
                .writer = around.records.writer,
                .jobs = jobs,
                .robots = robots,
                .access = access,
                .redirects = redirects,
                .allowance = allowance,
                .budgets = budgets,
                .crashes = crashes,
                .router = around.links.router,
                .links = around.links.follower,
                .seeds = around.intake}) {}

}  // namespace orbweaver
