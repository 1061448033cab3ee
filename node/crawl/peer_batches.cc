// Batches of records from other peers.
#include <algorithm>
#include <set>

#include "node/crawl/peer.h"
#include "node/try.h"

namespace orbweaver {

bool Peer::accepts(ring::Partition partition, ring::BatchKind kind) const {
  if (partition >= view_.partitions()) return false;
  if (kind == ring::BatchKind::forward) return view_.owns(partition);
  return view_.keeps(partition) || keeper_.holds(partition);
}

// A peer's bytes are outside input: each record enters where a parsed link does, at "canonicalise". False: it is for
// another peer.
bool Peer::take_record(Time now, const ring::PeerId& from, const ring::BatchRecord& entry, ring::BatchKind kind,
                       Intake& intake, Commands& out) {
  const auto bad = [&](const std::string& cause) {
    ++intake.malformed;
    note(out, LogLevel::warning, "ring", "malformed record", {{"peer", from.brief()}, {"cause", cause}}, true);
    return true;
  };
  switch (storage::wire_kind(entry.record)) {
    case storage::WireKind::wait: {
      auto clock = storage::decode_wait(entry.record, now);
      if (!clock) return bad(clock.error().message);
      const storage::HostKey host = partitioner_.host_key(clock->host, entry.partition);
      if (!accepts(host.partition, kind)) return false;
      if (const auto own = store_->clock(host); own && *own) *clock = storage::merge(**own, *clock);
      const auto [at, added] = intake.clocks.try_emplace(host, *clock);
      if (!added) at->second = storage::merge(at->second, *clock);
      return true;
    }
    case storage::WireKind::robots: {
      auto robots = storage::decode_robots(entry.record, now);
      if (!robots) return bad(robots.error().message);
      auto& [origin, fetched] = *robots;
      // A detour asks another host by name (join_www), whose robots.txt is kept with the one it stands for.
      const Result<CanonicalUrl> url = canonicaliser_.parse(origin + "/");
      if (!url) return bad(url.error().message);
      const storage::HostKey host = partitioner_.host_key(url->host(), entry.partition);
      if (!accepts(host.partition, kind)) return false;
      const auto own = store_->robots(host, origin);
      if (own && *own && storage::merge(**own, fetched) == **own) return true;
      const auto [at, added] = intake.robots.try_emplace({host, origin}, fetched);
      if (!added) at->second = storage::merge(at->second, fetched);
      return true;
    }
    case storage::WireKind::unsure: {
      const auto since = storage::decode_unsure(entry.record, now);
      if (!since) return bad(since.error().message);
      if (!accepts(entry.partition, kind)) return false;
      keeper_.unsure(entry.partition, *since);
      return true;
    }
    case storage::WireKind::record:
    case storage::WireKind::unknown:
      break;
  }
  auto record = storage::decode_record(entry.record);
  if (!record) return bad(record.error().message);
  Result<CanonicalUrl> url = canonicaliser_.parse(record->url);
  if (!url) return bad(url.error().message);
  const storage::HostKey host = partitioner_.host_key(*url);
  if (!accepts(host.partition, kind)) return false;
  record->url = url->text();
  // Depth 0 is a seed's: its owner must know it as one before it reads its page, whatever became of the other word of
  // it. Only a link as it was found tells: a joined record may have its depth from one way and its redirects from
  // another.
  if (kind == ring::BatchKind::forward && record->state == storage::UrlState::queued && record->depth == 0 &&
      record->redirects == 0 && record->off_site == 0)
    intake.seeds.push_back(record->url);
  // No peer's clock or mistake puts a try off for ever.
  if (record->state == storage::UrlState::queued) record->changed = std::min(record->changed, now + wait_max);
  router_.limit(*record, now);
  const bool link = kind == ring::BatchKind::forward && is_link(*record);
  intake.records.push_back({{host, url->digest()}, std::move(*record), link});
  intake.urls.push_back(std::move(*url));
  return true;
}

Result<void> Peer::on_batch(Time now, const ring::Message& in, const ring::Batch& batch, const ring::ReplyPath& reply,
                            Commands& out) {
  const Step step{now, out};
  if (lifecycle_.ending()) return {};
  // Full: the sender tries again. Copies are taken all the same: two peers that wait for each other's would wait for
  // ever.
  if (batch.kind != ring::BatchKind::copy && copier_.items_full()) return {};
  ORBWEAVER_TRY(moves_.hear(step, batch.tenures));
  if (batch.seeds_fingerprint != 0) seeds_.compare(step, in.from, batch.seeds_fingerprint);
  const auto refuse = [&](std::vector<ring::PartitionTenure> tenures) {
    messenger_.reply(reply, in.from, ring::BatchRefused{batch.sequence, membership_.member_list(), std::move(tenures)},
                     out);
    return Result<void>{};
  };
  if (std::vector<ring::PartitionTenure> newer = keeper_.newer(batch.tenures, in.from); !newer.empty())
    return refuse(std::move(newer));
  Intake intake;
  for (const ring::BatchRecord& entry : batch.records)
    if (!take_record(now, in.from, entry, batch.kind, intake, out)) return refuse({});
  // Links only: copies and moved records are as their holder judged them. Once, and not before all of the batch is
  // taken: what is judged uses up a budget.
  if (batch.kind == ring::BatchKind::forward)
    for (storage::Merge& link : intake.records) walk_.visit_if_newer(link.key, link.record);
  std::set<storage::UrlKey> judged;
  if (batch.kind == ring::BatchKind::forward && trap_rules_.any())
    for (std::size_t i = 0; i < intake.records.size(); ++i)
      if (storage::Merge& link = intake.records[i]; judged.insert(link.key).second)
        trap_judge_.judge(link.key, intake.urls[i], link.record);
  storage::Commit commit;
  commit.merges = std::move(intake.records);
  commit.clocks.assign(intake.clocks.begin(), intake.clocks.end());
  for (auto& [at, robots] : intake.robots) commit.robots.emplace_back(at.first, at.second, std::move(robots));
  if (!intake.seeds.empty()) seeds_.add(intake.seeds, commit);
  ORBWEAVER_TRY(writer_.commit(step, commit));
  for (const auto& [host, clock] : intake.clocks) bench_.delay(host, clock);
  keeper_.completed(in.from, batch.complete);
  if (batch.kind == ring::BatchKind::forward) ++counters_.batches_received;
  counters_.records_received += batch.records.size();
  counters_.records_malformed += intake.malformed;
  // A copy's writer waits for this word only; other senders forget what they sent, so it must be in two places first.
  if (batch.kind == ring::BatchKind::copy) {
    messenger_.reply(reply, in.from, ring::BatchAck{batch.sequence}, out);
  } else {
    moves_.acknowledge(step, reply, in.from, batch.sequence);
  }
  return {};
}

Result<void> Peer::on_batch_ack(Time now, const ring::PeerId& from, std::uint64_t sequence, Commands& out) {
  if (copier_.acknowledged(from, sequence) || keeper_.acknowledged(from, sequence)) return {};
  storage::Commit commit;
  commit.from_outbox = forwarder_.acknowledged(from, sequence);
  if (!commit.from_outbox.empty()) ORBWEAVER_TRY(writer_.commit({now, out}, commit));
  return {};
}

Result<void> Peer::on_batch_refused(Time now, const ring::PeerId& from, const ring::BatchRefused& refused,
                                    Commands& out) {
  membership_.merge(refused.members, now);
  if (!copier_.refused(from, refused.sequence, now) && !keeper_.refused(from, refused.sequence, now))
    forwarder_.refused(from, refused.sequence, now);
  return moves_.hear({now, out}, refused.tenures);
}

Result<void> Peer::on_leaves(const ring::Message& in, const ring::Leaves& leaves, const ring::ReplyPath& reply,
                             Commands& out) {
  auto differ = keeper_.on_leaves(leaves, view_);
  if (!differ) return tl::make_unexpected(differ.error());
  if (*differ) messenger_.reply(reply, in.from, std::move(**differ), out);
  return {};
}

}  // namespace orbweaver
