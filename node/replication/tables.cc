// How many entries the tables of this room have (ring/table_sizes.h).
#include <algorithm>
#include <numeric>

#include "node/replication/members.h"
#include "node/replication/partition_moves.h"

namespace orbweaver {

namespace {

template <class Entries, class Size>
std::size_t sum(const Entries& entries, Size size) {
  return std::accumulate(entries.begin(), entries.end(), std::size_t{0},
                         [&](std::size_t so_far, const auto& entry) { return so_far + size(entry); });
}

}  // namespace

ring::TableSizes Members::tables() const {
  ring::TableSizes sizes = membership_.tables();
  ring::append(sizes, {{"members.states", accepted_states_.size()},
                       {"members.come_or_gone", come_or_gone_.size()},
                       {"members.down", down_since_.size()},
                       {"members.versions", versions_.size()}});
  return sizes;
}

ring::TableSizes Dependents::tables() const {
  return {{"dependents.open", open_.size()},
          {"dependents.met", sum(met_, [](const auto& ids) { return ids.size(); })},
          {"dependents.followers", sum(followers_, [](const auto& one) { return one.second.size(); })}};
}

ring::TableSizes OpenEntries::tables() const {
  return {{"open_entries.blocks", blocks_.size()},
          {"open_entries.waiting", waiting_for_earlier_.entries().size() + sum(blocks_, [](const auto& block) {
                                     return block.second.waiting.entries().size();
                                   })}};
}

ring::TableSizes OutboxSender::tables() const {
  ring::TableSizes sizes = open_.tables();
  ring::append(sizes, {{"outbox.queues", queues_.size()},
                       {"outbox.waiting", sum(queues_, [](const auto& queue) { return queue.second.waiting.size(); })},
                       {"outbox.in_flight", batches_in_flight()}});
  return sizes;
}

ring::TableSizes Replicator::tables() const {
  return {{"replicator.queues", queues_.size()},
          {"replicator.items", items_},
          {"replicator.in_flight", sum(queues_, [](const auto& queue) { return queue.second.window.size(); })},
          {"replicator.waits", wait_for_all_.entries().size() +
                                   sum(queues_, [](const auto& queue) { return queue.second.waits.entries().size(); })},
          {"replicator.outcomes", outcomes_.size()},
          {"replicator.given_up", given_up_.size()}};
}

ring::TableSizes Transfers::tables() const {
  return {{"transfers.tasks", tasks_.size()},
          {"transfers.partitions", peers_of_.size()},
          {"transfers.targets", targets_.size()},
          {"transfers.in_flight", sum(targets_, [](const auto& target) { return target.second.window.size(); })},
          {"transfers.questions", sum(targets_, [](const auto& target) { return target.second.questions.size(); })},
          {"transfers.frozen", frozen_.size()},
          {"transfers.thawed", thawed_.size()},
          {"transfers.done", done_.size()},
          {"transfers.equal", equal_.size()}};
}

ring::TableSizes RecordAsks::tables() const {
  return {{"record_asks.rounds", rounds_.size()},
          {"record_asks.partitions", sum(rounds_, [](const auto& round) { return round.second.partitions.size(); })},
          {"record_asks.asked", asked_.size()},
          {"record_asks.to_ask", to_ask_.size()},
          {"record_asks.ended", ended_.size()}};
}

ring::TableSizes PartitionManager::tables() const {
  ring::TableSizes sizes = transfers_.tables();
  ring::append(sizes, asks_.tables());
  ring::append(sizes, {{"partitions.held", held_.size()},
                       {"partitions.returned", returned_.size()},
                       {"partitions.written_late", written_late_.size()},
                       {"partitions.patient", patient_.size()},
                       {"partitions.returned_in_part", returned_in_part_.size()},
                       {"partitions.backfilled", backfilled_.size()},
                       {"partitions.in_part", in_part_.size()},
                       {"partitions.asked", asked_.size()},
                       {"partitions.asked_again", asked_again_.size()},
                       {"partitions.releasing", releasing_.size()},
                       {"partitions.fetchability_changed", fetchability_changed_.size()},
                       {"partitions.unknown_holders", unknown_since_.size()},
                       {"partitions.of_unknown", of_unknown_.size()},
                       {"partitions.last_access_unknown", last_access_unknown_.size()},
                       {"partitions.offered", offered_.size()},
                       {"partitions.to_plan", dirty_.size()},
                       {"partitions.gaining", gaining_.size()},
                       {"partitions.awaiting", awaiting_.size()},
                       {"partitions.unfilled", unfilled_.size()},
                       {"partitions.stranded", stranded_.size()},
                       {"partitions.candidates", candidates_.size()}});
  return sizes;
}

ring::TableSizes PartitionMoves::tables() const {
  return {{"moves.unanswered", unanswered_.size()},
          {"moves.safe_from", safe_from_.size()},
          {"moves.named_sitemaps", replication_->named_sitemaps.size()},
          {"moves.may_drop", may_drop_.size()},
          {"moves.changed", changed_.size()},
          {"moves.kept", kept_.size()}};
}

}  // namespace orbweaver
