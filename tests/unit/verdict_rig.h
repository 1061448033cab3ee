// The parts that judge a URL or a link, connected as Peer does it, on a store in memory, for the tests of each part.
// The peer is number 1 of crawl_keys.h, alone in its ring unless `view_` is replaced.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/coordination/directives.h"
#include "node/links/link_router.h"
#include "node/links/mirror_table.h"
#include "node/links/recrawl_walk.h"
#include "node/links/trap_judge.h"
#include "node/replication/members.h"
#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"
#include "node/url/canonicaliser.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {

class VerdictRig : public testing::Test {
 protected:
  // Builds the parts from the present settings; `seeds` define the scope.
  void build(const std::vector<std::string>& seeds = {test::url_text(1, 0)}) {
    state_.settings = settings_;
    canonicaliser_ = state_.canonicaliser = Canonicaliser(state_.settings);
    rules_ = TrapRules(settings_);
    directives_.emplace(state_, members_, messenger_, writer_, end_);
    seeds_ = &directives_->seeds();
    std::string lines;
    for (const std::string& seed : seeds) lines += seed + "\n";
    EXPECT_TRUE(seeds_->restore(lines).left_out.empty());
    seeds_->make_scope();
    mirrors_.emplace(MirrorTable::Around{.settings = settings_,
                                         .rules = rules_,
                                         .store = store_,
                                         .view = view_,
                                         .partitioner = partitioner_,
                                         .messenger = messenger_,
                                         .seeds = *seeds_,
                                         .writer = writer_});
    traps_.emplace(settings_, rules_, store_, stepped_, *mirrors_);
    walk_.emplace(store_, canonicaliser_, partitioner_, stepped_, writer_);
    router_.emplace(LinkRouter::Around{.settings = settings_,
                                       .store = store_,
                                       .view = view_,
                                       .partitioner = partitioner_,
                                       .seeds = *seeds_,
                                       .traps = *traps_,
                                       .walk = *walk_});
  }
  // More seeds, which widen the scope.
  void add_seeds(const std::vector<std::string>& seeds) {
    storage::Commit commit;
    seeds_->add(seeds, commit);
  }
  static CanonicalUrl url(const std::string& text) { return *CanonicalUrl::parse(text); }
  static Settings few_partitions_settings() {
    Settings settings = default_settings();
    settings.partitions = test::few_partitions;
    return settings;
  }

  Settings settings_ = few_partitions_settings();
  Canonicaliser canonicaliser_{settings_};
  storage::MemoryKv kv_;
  storage::Store store_ = *storage::Store::open(kv_);
  TrapRules rules_;
  View view_ = test::view_of(1, {1});
  Partitioner partitioner_{PartitionBy::host, test::few_partitions};
  PeerState state_{settings_, MemoryPlan{}, store_, test::peer_id(1), {}};
  Members members_{state_, ring::Membership(test::active_member(1), {}, 1)};
  ring::Membership& membership_ = members_.membership();
  Replication replication_{state_};
  Messenger messenger_{state_, members_, replication_.partition_manager.tenures()};
  Workbench bench_{{}, store_, [](std::uint16_t) { return true; }};
  RecordWriter writer_{state_, members_, replication_, bench_};
  AnnouncedEnd end_{messenger_};
  Time stepped_{std::chrono::seconds{1'700'000'000}};
  std::optional<Directives> directives_;
  SeedSet* seeds_ = nullptr;
  std::optional<MirrorTable> mirrors_;
  std::optional<TrapJudge> traps_;
  std::optional<RecrawlWalk> walk_;
  std::optional<LinkRouter> router_;
};

}  // namespace orbweaver
