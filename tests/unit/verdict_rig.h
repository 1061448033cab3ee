// The parts that judge a URL or a link, built upon each other as Peer does, on a store in memory, for the tests of
// each. The peer is number 1 of crawl_keys.h, alone in its ring unless `view_` is another.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/crawl/link_router.h"
#include "node/crawl/members.h"
#include "node/crawl/messenger.h"
#include "node/crawl/mirror_table.h"
#include "node/crawl/recrawl_walk.h"
#include "node/crawl/trap_judge.h"
#include "node/errors/storage_error.h"
#include "node/url/canonicaliser.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {

class VerdictRig : public testing::Test {
 protected:
  // Of the settings as they are now; `seeds` give the scope.
  void build(const std::vector<std::string>& seeds = {test::url_text(1, 0)}) {
    canonicaliser_ = Canonicaliser(settings_);
    rules_ = TrapRules(settings_);
    std::vector<CanonicalUrl> urls;
    for (const std::string& seed : seeds) urls.push_back(url(seed));
    scope_.emplace(settings_, urls);
    mirrors_.emplace(
        MirrorTable::Around{.settings = settings_,
                            .rules = rules_,
                            .store = store_,
                            .view = view_,
                            .partitioner = partitioner_,
                            .messenger = messenger_,
                            .is_seed_host = [this](const std::string& host) { return seed_hosts_.contains(host); },
                            .write = write()});
    traps_.emplace(settings_, rules_, store_, stepped_, *mirrors_);
    walk_.emplace(store_, canonicaliser_, partitioner_, stepped_, write());
    router_.emplace(LinkRouter::Around{.settings = settings_,
                                       .store = store_,
                                       .view = view_,
                                       .partitioner = partitioner_,
                                       .scope = scope(),
                                       .traps = *traps_,
                                       .walk = *walk_});
  }
  RecordWrite write() {
    return [this](const Step&, const storage::Commit& commit) -> Result<storage::CommitResult> {
      auto done = store_.commit(commit);
      if (!done) return tl::make_unexpected(error_of(done.error()));
      return std::move(*done);
    };
  }
  std::function<const Scope&()> scope() {
    return [this]() -> const Scope& { return *scope_; };
  }
  static CanonicalUrl url(const std::string& text) { return *CanonicalUrl::parse(text); }

  Settings settings_ = default_settings();
  Canonicaliser canonicaliser_{settings_};
  storage::MemoryKv kv_;
  storage::Store store_ = *storage::Store::open(kv_);
  TrapRules rules_;
  View view_ = test::view_of(1, {1});
  Partitioner partitioner_{PartitionBy::host, test::few_partitions};
  PeerState state_{settings_, MemoryPlan{}, store_, test::peer_id(1), {}};
  Members members_{state_, ring::Membership(test::active_member(1), {}, 1)};
  ring::Membership& membership_ = members_.membership();
  ring::Tenures tenures_{test::few_partitions};
  Messenger messenger_{state_, members_, tenures_};
  Time stepped_{std::chrono::seconds{1'700'000'000}};
  std::set<std::string> seed_hosts_;
  std::optional<Scope> scope_;
  std::optional<MirrorTable> mirrors_;
  std::optional<TrapJudge> traps_;
  std::optional<RecrawlWalk> walk_;
  std::optional<LinkRouter> router_;
};

}  // namespace orbweaver
