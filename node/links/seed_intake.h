// Where seeds come from: the start of a process, "orbweaver seed", the results of a search. What happens to them then
// is in seed_set.h. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "node/coordination/lifecycle.h"
#include "node/coordination/seed_set.h"
#include "node/links/link_follower.h"
#include "node/links/link_router.h"

namespace orbweaver {

class SeedIntake {
 public:
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const Members& members;
    const Lifecycle& lifecycle;
    RecordWriter& writer;
    SeedSet& seeds;
    LinkRouter& router;
    LinkFollower& links;
  };
  // `first`: given at the start; they wait until the ring has had `wait_for_peers` members.
  SeedIntake(Around around, std::vector<std::string> first, std::size_t wait_for_peers)
      : around_(around), first_(std::move(first)), wait_for_peers_(std::max<std::size_t>(wait_for_peers, 1)) {}

  // `waited`: the row that says for how many members an earlier process waited. A peer that has waited for as many
  // before does not wait again: the ring may be smaller now.
  void restore(const std::string& waited);
  bool waits() const { return wait_for_peers_ > 0; }
  bool idle() const { return first_.empty() && !waits(); }

  // The question "seed": {"urls": [text]} are admitted. Error: the store cannot be written.
  Result<nlohmann::json> answer(const Step& step, const nlohmann::json& body);
  // Admits seeds given at the start when the ring is as large as its user wants it, so that no URL changes hands at
  // once. Also when the ring's crawl has begun anyway, or when this peer leaves.
  Result<void> tick(const Step& step);
  // The results of a search become seeds, as if they had been given to `orbweaver seed`: they widen the scope
  // everywhere, and the message about them goes out ahead of the URLs. Seeds and URLs are in the write of the page that
  // brought them; a foreign one's depth shows its owner that it is a seed. Only the lists of the scope keep one out.
  void add_results(const Step& step, const ResultList& found, storage::Commit& commit);

 private:
  Around around_;
  std::vector<std::string> first_;  // not yet admitted
  std::size_t wait_for_peers_;
  std::size_t waited_ = 0;  // the largest number ever waited for
};

}  // namespace orbweaver
