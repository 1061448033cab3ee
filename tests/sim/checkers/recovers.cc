// A ring recovers in a bounded time (contract, 3). Once the faults are over, and while no peer comes or goes, each peer
// soon fetches, has gained what it took over, and has handed over and returned what is others'.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/settings/units.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// Besides ten times the suspicion time: a newcomer asks for a minute before it gives up, and a batch may wait for
// batch_timeout several times.
constexpr Duration work{std::chrono::seconds{60}};
// A batch of records that move: two ways, and what else is sent between them.
constexpr Duration round_trip{std::chrono::milliseconds{300}};
constexpr Duration pushed_back{std::chrono::seconds{2}};
// The status is built once in so many steps.
constexpr std::uint64_t look_every = 64;

class Recovers final : public Checker {
 public:
  std::string_view name() const override { return "recovers"; }

  void stepped(World& world, std::size_t number) override {
    if (!world.faults_over()) return;
    note_who_is_there(world);
    const SimPeer& peer = world.peers()[number];
    if (++steps_ % look_every != 0 || peer.core == nullptr || peer.leaving || peer.status != Status::up) return;
    const std::string open = what_is_open(peer.core->own_status());
    well_at_.resize(std::max(well_at_.size(), world.peers().size()), world.now());
    if (open.empty()) well_at_[number] = world.now();
    const Duration lasts = world.now() - std::max(well_at_[number], calm_since_);
    if (lasts > bound(world))
      world.fail(name(),
                 "peer " + std::to_string(number) + " has not recovered for " + duration_text(lasts) + ": " + open);
  }

 private:
  // All records may be in one partition, and it moves at one batch a round trip at worst. What waits for a peer that is
  // down waits until that is presumed dead.
  static Duration bound(World& world) {
    const Settings& settings = world.parameters().settings;
    std::uint64_t records = 0;
    std::uint64_t outbox = 0;
    Duration down{};
    for (const SimPeer& peer : world.peers()) {
      records += peer.counts.discovered();
      outbox += peer.counts.outbox;
      if (peer.status != Status::up) down = settings.presume_dead_after;
    }
    // Each partition takes one at least, with its hosts' waits. Where answers are slow, the questions before it count:
    // its digest, its leaves, the last word.
    // With room for a few writes, each waits for the one before it and is pushed back meanwhile.
    const std::uint64_t one_by_one = settings.max_outbox_records_in_memory < 64 ? records + outbox : 0;
    const Duration lag = world.parameters().max_answer_lag;
    const std::uint64_t each = lag > Duration{} ? 4 : 1;
    const auto batches = static_cast<std::int64_t>(records / settings.max_batch_records + each * settings.partitions);
    return 10 * settings.suspicion_time + work + batches * (round_trip + lag) +
           static_cast<std::int64_t>(one_by_one) * pushed_back + down;
  }

  void note_who_is_there(World& world) {
    std::vector<Status> there;
    for (const SimPeer& peer : world.peers()) there.push_back(peer.status);
    if (there == there_) return;
    there_ = std::move(there);
    calm_since_ = world.now();
  }

  // Empty: nothing. A peer that stops, or ends with the crawl, is no matter of this.
  static std::string what_is_open(const nlohmann::json& status) {
    const nlohmann::json& why = status["not_fetching_because"];
    if (std::find(why.begin(), why.end(), "it is stopping") != why.end()) return {};
    std::string open = why.empty() ? "" : why.dump();
    for (const char* const count : {"partitions_to_gain", "partitions_to_hand_over", "partitions_to_return"})
      if (status.contains("counts") && status["counts"].value(count, 0) > 0)
        open += (open.empty() ? "" : ", ") + std::string(count) + " " + status["counts"][count].dump();
    return open;
  }

  std::vector<Status> there_;
  Time calm_since_{};
  std::vector<Time> well_at_;  // by peer: when nothing was open last
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Checker> make_recovers() { return std::make_unique<Recovers>(); }

}  // namespace orbweaver::sim
