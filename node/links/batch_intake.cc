#include "node/links/batch_intake.h"

#include <algorithm>
#include <set>

#include "node/crawl/link_limits.h"
#include "node/crawl/site_jars.h"
#include "node/frontier/fetch_verdict.h"
#include "node/try.h"

namespace orbweaver {

namespace {

// Records read back from the outbox in one step when this peer turns out to be their owner.
constexpr std::size_t own_outbox_step = 4096;

}  // namespace

bool BatchIntake::accepts(ring::Partition partition, ring::BatchKind kind) const {
  const View& view = around_.members.view();
  if (partition >= view.partitions()) return false;
  if (kind == ring::BatchKind::forward) return view.owns(partition);
  return view.keeps(partition) || around_.replication.partition_manager.holds(partition);
}

bool BatchIntake::read_wait(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  auto clock = storage::decode_wait(entry.record, now);
  if (!clock) {
    content.faults.push_back(clock.error().message);
    return true;
  }
  const storage::HostKey host = around_.state.partitioner.host_key(clock->host, entry.partition);
  if (!accepts(host.partition, kind)) return false;
  if (auto own = around_.state.store->clock(host); own && *own) {
    (*own)->next_allowed = (*own)->until(now);
    *clock = storage::merge(**own, *clock);
  }
  const auto [at, added] = content.clocks.try_emplace(host, *clock);
  if (!added) at->second = storage::merge(at->second, *clock);
  return true;
}

bool BatchIntake::read_robots(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  auto robots = storage::decode_robots(entry.record, now);
  if (!robots) {
    content.faults.push_back(robots.error().message);
    return true;
  }
  auto& [origin, fetched] = *robots;
  // A canonical redirect asks another host by name (join_www); its robots.txt is kept under the crawl's name for it.
  const Result<CanonicalUrl> url = around_.state.canonicaliser.parse(origin + "/");
  if (!url) {
    content.faults.push_back(url.error().message);
    return true;
  }
  const storage::HostKey host = around_.state.partitioner.host_key(url->host(), entry.partition);
  if (!accepts(host.partition, kind)) return false;
  const auto own = around_.state.store->robots(host, origin);
  if (own && *own && storage::merge(**own, fetched) == **own) return true;
  const auto [at, added] = content.robots.try_emplace({host, origin}, fetched);
  if (!added) at->second = storage::merge(at->second, fetched);
  return true;
}

bool BatchIntake::read_cookies(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  auto cookies = storage::decode_cookies(entry.record);
  if (!cookies || !believable(*cookies, now)) {
    content.faults.push_back(cookies ? "cookies that are none, or of a time to come" : cookies.error().message);
    return true;
  }
  const storage::HostKey site = around_.state.partitioner.host_key(cookies->site, entry.partition);
  if (!accepts(site.partition, kind)) return false;
  const auto own = around_.state.store->cookies(site);
  if (own && *own && storage::merge(**own, *cookies) == **own) return true;
  const auto [at, added] = content.cookies.try_emplace(site, *cookies);
  if (!added) at->second = storage::merge(at->second, *cookies);
  return true;
}

bool BatchIntake::read_use(const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  auto use = storage::decode_use(entry.record);
  if (!use) {
    content.faults.push_back(use.error().message);
    return true;
  }
  const storage::HostKey site = around_.state.partitioner.host_key(use->site, entry.partition);
  if (!accepts(site.partition, kind)) return false;
  if (const auto own = around_.state.store->use(site); own && *own) *use = storage::merge(**own, *use);
  const auto [at, added] = content.uses.try_emplace(site, *use);
  if (!added) at->second = storage::merge(at->second, *use);
  return true;
}

bool BatchIntake::read_unsure(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  const auto since = storage::decode_last_access_unknown(entry.record, now);
  if (!since) {
    content.faults.push_back(since.error().message);
    return true;
  }
  if (!accepts(entry.partition, kind)) return false;
  PartitionManager& partition_manager = around_.replication.partition_manager;
  if (!partition_manager.holds(entry.partition)) partition_manager.last_access_unknown(entry.partition, *since);
  return true;
}

bool BatchIntake::read_record(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  auto record = storage::decode_record(entry.record);
  if (!record) {
    content.faults.push_back(record.error().message);
    return true;
  }
  Result<CanonicalUrl> url = around_.state.canonicaliser.parse(record->url);
  if (!url) {
    content.faults.push_back(url.error().message);
    return true;
  }
  const storage::HostKey host = around_.state.partitioner.host_key(*url);
  if (!accepts(host.partition, kind)) return false;
  record->url = url->text();
  // Depth 0 means a seed: its owner must know it as one before it reads its page, even if the other message about it
  // was lost. Only a link as it was found shows that: a merged record may have its depth from one link and its steps
  // from another.
  if (kind == ring::BatchKind::forward && record->state == storage::UrlState::queued && record->depth == 0 &&
      record->steps == 0 && record->off_site == 0)
    content.seeds.push_back(record->url);
  // Kept as it is, so that copies stay equal; the workbench waits no longer than its tries give.
  if (record->state == storage::UrlState::queued) record->not_before = std::max(record->not_before, Time{});
  limit_link(*record, around_.state.settings, now);
  // A link leads to a later visit only by a sitemap, which judge() handles.
  if (kind == ring::BatchKind::forward) record->visit = 0;
  const bool link = kind == ring::BatchKind::forward && is_link(*record);
  content.records.push_back({{host, url->digest()}, std::move(*record), link});
  content.urls.push_back(std::move(*url));
  return true;
}

// False: the record is for another peer.
bool BatchIntake::read(Time now, const ring::BatchRecord& entry, ring::BatchKind kind, Content& content) const {
  switch (storage::wire_kind(entry.record)) {
    case storage::WireKind::wait:
      return read_wait(now, entry, kind, content);
    case storage::WireKind::robots:
      return read_robots(now, entry, kind, content);
    case storage::WireKind::cookies:
      return read_cookies(now, entry, kind, content);
    case storage::WireKind::use:
      return read_use(entry, kind, content);
    case storage::WireKind::last_access_unknown:
      return read_unsure(now, entry, kind, content);
    case storage::WireKind::record:
    case storage::WireKind::unknown:
      break;
  }
  return read_record(now, entry, kind, content);
}

// Judges links only: copies and moved records are as their holder judged them. Each link is judged once, and only after
// the whole batch is read, because judging uses up a budget.
void BatchIntake::judge(Content& content) {
  for (storage::Merge& link : content.records) around_.walk.visit_if_newer(link.key, link.record);
  if (!around_.traps.any_rule()) return;
  std::set<storage::UrlKey> judged;
  for (std::size_t i = 0; i < content.records.size(); ++i)
    if (storage::Merge& link = content.records[i]; judged.insert(link.key).second)
      around_.traps.judge(link.key, content.urls[i], link.record);
}

Result<void> BatchIntake::take(const Step& step, const ring::PeerId& from, const ring::Batch& batch,
                               const ring::ReplyPath& reply) {
  // Full: the sender tries again soon. Copies are taken anyway: peers that wait for each other's copies would wait
  // forever.
  if (batch.kind != ring::BatchKind::copy && around_.replication.replicator.items_full()) {
    around_.messenger.reply(reply, from, ring::BatchRefused{batch.sequence, {}, {}}, step.out);
    return {};
  }
  ORBWEAVER_TRY(around_.moves.hear(step, batch.tenures));
  around_.directives.compare(step, from, batch.directives_fingerprint);
  // Its sender may not know of an order to visit the partition's pages again, which this peer has carried out.
  if (batch.kind == ring::BatchKind::transfer && around_.directives.differing().contains(from)) {
    around_.messenger.reply(reply, from, ring::BatchRefused{batch.sequence, {}, {}}, step.out);
    return {};
  }
  const auto refuse = [&](std::vector<ring::PartitionTenure> tenures) -> Result<void> {
    const std::vector<ring::Member> members = around_.members.membership().member_list();
    around_.messenger.reply(reply, from, ring::BatchRefused{batch.sequence, members, std::move(tenures)}, step.out);
    return {};
  };
  if (std::vector<ring::PartitionTenure> newer = around_.replication.partition_manager.newer(batch.tenures, from);
      !newer.empty())
    return refuse(std::move(newer));
  Content content;
  const bool own = std::all_of(batch.records.begin(), batch.records.end(), [&](const ring::BatchRecord& entry) {
    return read(step.now, entry, batch.kind, content);
  });
  for (const std::string& fault : content.faults)
    step.log(LogLevel::warning, "ring", "malformed record", {{"peer", from.brief()}, {"cause", fault}}, true);
  if (!own) return refuse({});
  if (batch.kind == ring::BatchKind::forward) judge(content);
  storage::Commit commit;
  commit.merges = std::move(content.records);
  commit.clocks.assign(content.clocks.begin(), content.clocks.end());
  for (auto& [at, robots] : content.robots) commit.robots.emplace_back(at.first, at.second, std::move(robots));
  for (auto& [site, cookies] : content.cookies) commit.cookies.emplace_back(site, std::move(cookies));
  commit.uses.assign(content.uses.begin(), content.uses.end());
  if (!content.seeds.empty()) around_.directives.seeds().add(content.seeds, commit);
  const bool copy = batch.kind == ring::BatchKind::copy;
  Dependents& dependents = around_.replication.dependents;
  const Dependents::Id dependent = copy ? 0 : dependents.begin(Dependents::Kind::batch);
  ORBWEAVER_TRY(
      around_.writer.commit(step, commit, {.given = batch.kind != ring::BatchKind::forward, .dependent = dependent}));
  for (const auto& [host, clock] : content.clocks) around_.bench.delay(host, clock);
  around_.replication.partition_manager.completed(from, batch);
  if (batch.kind == ring::BatchKind::forward) ++counters_.batches;
  counters_.records += batch.records.size();
  counters_.malformed += content.faults.size();
  // A copy's writer waits for this answer only. Other senders forget what they sent, so it must be in two places first.
  if (copy) {
    around_.messenger.reply(reply, from, ring::BatchAck{batch.sequence}, step.out);
  } else {
    around_.moves.acknowledge(step, reply, from, batch, dependent);
  }
  return {};
}

Result<void> BatchIntake::take_own_outbox(const Step& step) {
  auto own = around_.replication.outbox.take_own(around_.members.view(), own_outbox_step);
  if (!own) return tl::make_unexpected(own.error());
  if (own->empty()) return {};
  storage::Commit commit;
  for (const storage::OutboxEntry& entry : *own) {
    commit.from_outbox.push_back(entry.key);
    auto record = storage::decode_record(entry.record);
    const auto url = record ? CanonicalUrl::of_stored(record->url) : fail(ErrorCode::io, "unreadable outbox entry");
    if (!url) continue;
    limit_link(*record, around_.state.settings, step.now);
    const storage::UrlKey key{around_.state.partitioner.host_key(*url), url->digest()};
    around_.walk.visit_if_newer(key, *record);
    around_.traps.judge(key, *url, *record);
    const bool link = is_link(*record);
    commit.merges.push_back({key, std::move(*record), link});
  }
  ORBWEAVER_TRY(around_.writer.commit(step, commit));
  return {};
}

}  // namespace orbweaver
