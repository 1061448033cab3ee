#include "node/peer/peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/overloaded.h"
#include "node/peer/meta_row.h"
#include "node/settings/disk_room.h"
#include "node/try.h"

namespace orbweaver {

Peer::Peer(RingEntry& entry, Time now)
    : state_(std::move(entry.start.settings.values), entry.start.memory, *entry.store, entry.membership.self().id,
             entry.ring, entry.life, entry.start.recovery_steps),
      members_(state_, std::move(entry.membership)),
      records_(state_, members_),
      messenger_(state_, members_, records_.replication.partition_manager.tenures()),
      lifecycle_(std::move(entry.lifecycle)),
      ends_(state_, members_, lifecycle_, messenger_, records_.writer),
      fence_(state_, members_, messenger_, records_.replication, ends_.process),
      moves_(state_, members_, messenger_, records_.replication, records_.bench, records_.writer),
      directives_(state_, members_, messenger_, records_.writer, ends_.crawl),
      admission_(std::move(entry.admission)),
      doorkeeper_(state_, members_, messenger_, lifecycle_, directives_, ends_.crawl,
                  records_.replication.partition_manager.tenures()),
      verdicts_(state_, members_, messenger_, directives_.seeds(), records_.writer),
      links_(state_, members_, directives_.seeds(), records_.bench, verdicts_),
      intake_({.state = state_,
               .members = members_,
               .lifecycle = lifecycle_,
               .writer = records_.writer,
               .seeds = directives_.seeds(),
               .router = links_.router,
               .links = links_.follower},
              std::move(entry.start.seeds), entry.start.wait_for_peers),
      fetches_({.state = state_,
                .members = members_,
                .messenger = messenger_,
                .lifecycle = lifecycle_,
                .fence = fence_,
                .records = records_,
                .directives = directives_,
                .links = links_,
                .intake = intake_,
                .made_ring = entry.how == RingEntry::How::made}),
      batches_({.state = state_,
                .members = members_,
                .messenger = messenger_,
                .replication = records_.replication,
                .bench = records_.bench,
                .writer = records_.writer,
                .moves = moves_,
                .directives = directives_,
                .router = links_.router,
                .walk = verdicts_.walk,
                .traps = verdicts_.traps}),
      faults_(members_, entry.messages_refused),
      status_({.state = state_,
               .members = members_,
               .records = records_,
               .fence = fence_,
               .directives = directives_,
               .doorkeeper = doorkeeper_,
               .links = links_,
               .fetches = fetches_,
               .batches = batches_,
               .faults = faults_},
              std::move(entry.link_trace)),
      snapshots_(state_, members_, records_.replication.partition_manager),
      answers_({.state = state_,
                .members = members_,
                .lifecycle = lifecycle_,
                .records = records_,
                .ends = ends_,
                .directives = directives_,
                .verdicts = verdicts_,
                .links = links_,
                .intake = intake_,
                .gate = fetches_.gate,
                .status = status_,
                .snapshots = snapshots_,
                .events = events_,
                .history = history_}),
      questions_({.membership = members_.membership(),
                  .ring = state_.ring,
                  .messenger = messenger_,
                  .memory = state_.memory,
                  .canonicaliser = state_.canonicaliser,
                  .who_knows = [this](const CanonicalUrl& url) { return answers_.who_knows(url); },
                  .complete = [this](const Step& step, const std::string& verb,
                                     nlohmann::json& body) { return answers_.complete(step, verb, body); },
                  .answer_own = [this](const Step& step, const std::string& verb,
                                       const nlohmann::json& body) { return answers_.answer(step, verb, body); },
                  .refuse = [this](const Step& step, const ring::Message& in,
                                   const std::string& cause) { faults_.refuse(step, in, cause); },
                  .sequences = RisingNumber(state_.life)}) {
  state_.started = entry.started;
  state_.restarted = entry.restarted;
  state_.stepped = now;
  state_.sites.obey(directives_.orders().hosts());
  directives_.on_visit([this](const OperatorOrder& visit, storage::Commit& commit) {
    // What another peer says and this one cannot read is not for this release.
    if (Result<RecrawlWalk::Wanted> wanted = RecrawlWalk::read_order(visit))
      verdicts_.walk.begin(std::move(*wanted), commit);
  });
}

Result<std::unique_ptr<Peer>> Peer::enter(RingEntry entry, const Step& step) {
  std::unique_ptr<Peer> peer(new Peer(entry, step.now));
  // What is left of the entry are the values that the constructor did not take.
  ORBWEAVER_TRY(peer->restore(entry, step));
  return peer;
}

// Restores what the last run left, or writes all of a new ring.
Result<void> Peer::restore(const RingEntry& entry, const Step& step) {
  const bool joined = entry.how == RingEntry::How::joined;
  storage::Commit commit;
  if (!joined) commit.meta.emplace_back(meta_name::peer, id().hex());
  if (entry.how != RingEntry::How::restored) {
    commit.meta.emplace_back(meta_name::ring, state_.ring.hex());
    if (joined) commit.meta.emplace_back(meta_name::left, "no");
    commit.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(state_.settings)).dump());
  }
  PartitionManager& partition_manager = records_.replication.partition_manager;
  if (entry.how == RingEntry::How::made) partition_manager.learn(partition_manager.make_ring(), commit);
  for (const LeftOutRow& row : entry.left_out) faults_.drop_row(row.name, row.cause);
  ORBWEAVER_TRY(restore_tenures(entry, step.now));
  ORBWEAVER_TRY(start_seen_set(entry.start.random_seed));
  ORBWEAVER_TRY(restore_crawl(entry, step, commit));
  ORBWEAVER_TRY(restore_counts(commit));
  ORBWEAVER_TRY(restore_copies(step.now, commit));
  directives_.seeds().make_scope();
  if (!joined) members_.membership().set_state(ring::MemberState::active, step.now);
  if (const auto written = state_.store->commit(commit); !written)
    return tl::make_unexpected(error_of(written.error()));
  if (!joined) ORBWEAVER_TRY(membership_changed(step));
  // The last write: a start that fails is repeated with the same pages, and must not have counted them.
  storage::Commit crashes;
  ORBWEAVER_TRY(fetches_.crashes.restore(*state_.store, entry.start.at_work, crashes));
  if (crashes.meta.empty()) return {};
  if (const auto written = state_.store->commit(crashes); !written)
    return tl::make_unexpected(error_of(written.error()));
  return {};
}

Result<void> Peer::restore_tenures(const RingEntry& entry, Time now) {
  PartitionManager& partition_manager = records_.replication.partition_manager;
  // A newcomer holds nothing: it has left behind what the directory says of an earlier time.
  if (entry.how != RingEntry::How::joined) {
    const Result<std::vector<std::string>> lost = partition_manager.restore(now);
    if (!lost) return tl::make_unexpected(lost.error());
    for (const std::string& cause : *lost) faults_.drop_row(tenure_prefix, cause);
  }
  const auto address = meta_row(*state_.store, meta_name::address);
  if (!address) return tl::make_unexpected(address.error());
  address_written_ = *address == members_.membership().self().address;
  if (*address && !address_written_ && entry.how == RingEntry::How::restored) fence_.note_moved(**address);
  // If it does not know all holders, it must learn from the others before it judges which peers are gone.
  if (entry.members_left_out)
    for (const ring::PartitionTenure& held : partition_manager.tenures().all())
      if (members_.membership().find(held.tenure.holder) == nullptr) fence_.note_lost_members();
  return {};
}

// A filter for links when one is asked for, filled from what the store has; else sets of what is known of active hosts.
Result<void> Peer::start_seen_set(std::uint64_t random_seed) {
  if (state_.settings.seen != SeenSet::bloom) {
    state_.store->use_sets({state_.memory.seen_sets, random_seed});
    return {};
  }
  if (storage::Result<void> filled = state_.store->use_filter(seen_filter_config(state_.settings)); !filled)
    return tl::make_unexpected(error_of(filled.error()));
  return {};
}

// Seeds, a recrawl, the end. Where something was left out, the row is written without it, so that the next start finds
// nothing to leave out.
Result<void> Peer::restore_crawl(const RingEntry& entry, const Step& step, storage::Commit& commit) {
  const auto seeds = meta_row(*state_.store, meta_name::seeds);
  if (!seeds) return tl::make_unexpected(seeds.error());
  if (*seeds) {
    SeedSet::Restored restored = directives_.seeds().restore(**seeds);
    for (const std::string& cause : restored.left_out) faults_.drop_row(meta_name::seeds, cause);
    if (!restored.left_out.empty()) commit.meta.emplace_back(meta_name::seeds, std::move(restored.row));
  }
  const auto orders = meta_row(*state_.store, meta_name::orders);
  if (!orders) return tl::make_unexpected(orders.error());
  if (*orders)
    for (const std::string& cause : directives_.restore_orders(**orders)) faults_.drop_row(meta_name::orders, cause);
  const auto recrawl = meta_row(*state_.store, meta_name::recrawl);
  if (!recrawl) return tl::make_unexpected(recrawl.error());
  if (*recrawl && !(*recrawl)->empty())
    if (const Result<void> walk = verdicts_.walk.restore(**recrawl); !walk) {
      faults_.drop_row(meta_name::recrawl, walk.error().message);
      commit.meta.emplace_back(meta_name::recrawl, "");
    }
  if (entry.start.recrawl) {
    const RecrawlWalk::Wanted wanted{.before = *entry.start.recrawl};
    directives_.learn({RecrawlWalk::order_of(wanted, directives_.orders(), id(), step.now)}, commit);
    commit.meta.emplace_back(meta_name::ended, "");
    return {};
  }
  const auto ended = meta_row(*state_.store, meta_name::ended);
  if (!ended) return tl::make_unexpected(ended.error());
  if (*ended && !(*ended)->empty())
    if (const Result<void> restored = ends_.crawl.restore(**ended); !restored) {
      faults_.drop_row(meta_name::ended, restored.error().message);
      ends_.crawl.write(commit);
    }
  return {};
}

// Of what an earlier process fetched, this one does not know which links have their copies. Without pages the row says
// that there are none: no row stands for a store that others have filled.
Result<void> Peer::restore_copies(Time now, storage::Commit& commit) {
  if (state_.settings.replicas < 2) return {};
  CopiedUntil& copied_until = records_.replication.copied_until;
  const auto row = meta_row(*state_.store, meta_name::copied_until);
  if (!row) return tl::make_unexpected(row.error());
  if (state_.store->counts().discovered() == 0) {
    if (!*row) commit.meta.emplace_back(meta_name::copied_until, copied_until.row());
    return {};
  }
  if (const Result<void> restored = copied_until.restore(row->value_or(""), now); !restored)
    faults_.drop_row(meta_name::copied_until, restored.error().message);
  return {};
}

Result<void> Peer::restore_counts(storage::Commit& commit) {
  const auto waited = meta_row(*state_.store, meta_name::waited);
  if (!waited) return tl::make_unexpected(waited.error());
  if (*waited) intake_.restore(**waited);
  const auto bytes = meta_row(*state_.store, meta_name::bytes);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (*bytes) fetches_.allowance.restore(**bytes);
  const auto redirects = links_.redirects.restore(*state_.store, commit);
  if (!redirects) return tl::make_unexpected(redirects.error());
  if (*redirects) faults_.drop_row(meta_name::redirects_out, **redirects);
  return {};
}

Result<void> Peer::step(const Step& step, Event& event) {
  const Result<void> done = act(step, event);
  for (const Command& command : step.out)
    if (const auto* const line = std::get_if<LogEntry>(&command)) events_.note(step.now, *line);
  return done;
}

Result<void> Peer::act(const Step& step, Event& event) {
  // A process that stood still for this long may count as down for the others.
  if (step.now - state_.stepped >= state_.settings.suspicion_time) fence_.raise();
  state_.note_step(step.now);
  faults_.say_dropped_rows(step);
  say_disk_room(step);
  ORBWEAVER_TRY(
      std::visit(Overloaded{[&](MessageEvent& message) { return receive(step, message); },
                            [&](const FetchEnded& ended) { return fetches_.outcomes.on_fetch_ended(step, ended); },
                            [&](PageDone& page) { return fetches_.outcomes.on_page_done(step, page); },
                            [&](HostResolved& resolved) {
                              fetches_.scheduler.on_resolved(step.now, resolved);
                              return Result<void>{};
                            },
                            [&](const CheckpointMade& made) {
                              snapshots_.hear(step, made);
                              return Result<void>{};
                            },
                            [&](const CheckpointListed& listed) {
                              snapshots_.hear(step, listed);
                              return Result<void>{};
                            },
                            [&](const StopEvent& wanted) {
                              wanted.leave ? ends_.process.leave(step.now) : lifecycle_.stop();
                              return Result<void>{};
                            },
                            // A page of very many links does not keep waiting what else has come.
                            [&](const TickEvent&) { return fetches_.outcomes.commit_piece(step); }},
                 event));
  return after(step);
}

// Does everything that time or the last event has made due, in one order.
Result<void> Peer::after(const Step& step) {
  ring::Membership& membership = members_.membership();
  std::vector<ring::Send> sends;
  membership.tick(step.now, sends);
  messenger_.send_all(sends, step.out);
  // The other process was there first: no farewell, it would be treated as the other's.
  if (const auto other = membership.duplicate(); other && !lifecycle_.ending()) {
    lifecycle_.stay();
    return ends_.process.exit(step, ErrorCode::in_use,
                              "a peer with this peer's identity is running at " + *other +
                                  ": was its data directory copied? Start this one with a new directory");
  }
  if (members_.changed()) ORBWEAVER_TRY(membership_changed(step));
  ask_for_admission(step);
  snapshots_.tick(step);
  for (MessageEvent& waited : snapshots_.take_waiting()) ORBWEAVER_TRY(receive(step, waited));
  ORBWEAVER_TRY(batches_.take_own_outbox(step));
  if (fetches_.outcomes.many_in_pieces()) ORBWEAVER_TRY(fetches_.outcomes.commit_piece(step));
  ORBWEAVER_TRY(fetches_.outcomes.store_clocks(step));
  ORBWEAVER_TRY(intake_.tick(step));
  ORBWEAVER_TRY(fence_.tick(step));
  if (fence_.confirmed()) ORBWEAVER_TRY(directives_.seeds().admit_own(step));
  ORBWEAVER_TRY(write_address(step));
  const bool may_take = fence_.confirmed() && !lifecycle_.ending() && !ends_.search.keeps_from_taking();
  if (std::exchange(might_take_, may_take) != may_take) records_.replication.plan_due = true;
  ORBWEAVER_TRY(
      moves_.tick(step, may_take, [this](ring::Partition partition) { return verdicts_.walk.awaits(partition); }));
  for (const ring::Partition partition : moves_.take_changed())
    if (!records_.replication.partition_manager.holds(partition)) fetches_.redirects.forget(partition);
  ORBWEAVER_TRY(moves_.note_copied(step, fence_.confirmed()));
  if (may_walk()) ORBWEAVER_TRY(verdicts_.walk.walk_on(step));
  ORBWEAVER_TRY(fetches_.scheduler.tick(step));
  fetches_.access.tick(step);
  ORBWEAVER_TRY(verdicts_.mirrors.tick(step));
  ORBWEAVER_TRY(send_batches(step));
  ORBWEAVER_TRY(end_tick(step));
  ORBWEAVER_TRY(leave_tick(step));
  questions_.tick(step);
  if (lifecycle_.stopping() && fetches_.jobs.empty() && drained(step.now))
    ORBWEAVER_TRY(
        ends_.process.exit(step, 0, "stopped; the crawl continues where it was when this directory is started again"));
  ends_.process.tick(step);
  fetches_.limits.note(step.now);
  return {};
}

// Not before the others agree that it is this peer: a process that is killed until then is a stranger again.
Result<void> Peer::write_address(const Step& step) {
  if (address_written_ || !fence_.confirmed()) return {};
  address_written_ = true;
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::address, members_.membership().self().address);
  ORBWEAVER_TRY(records_.writer.commit(step, commit));
  return {};
}

void Peer::note_use(MemoryUse memory, ProcessUse process) {
  // Where the system does not tell the size, nothing is known of the room either.
  if (process.disk_size > 0) {
    const std::uint64_t least = min_free_disk(state_.settings.min_free_disk, process.disk_size);
    state_.disk_low = is_disk_low(process.disk_free, least, state_.disk_low);
  }
  const storage::Counts& held = state_.store->held();
  history_.note(process.at, {.pages = fetches_.allowance.fetched(),
                             .bytes = fetches_.outcomes.counters().bytes_received,
                             .queued = held.queued,
                             .failed = held.failed});
  status_.note_use(std::move(memory), process);
}

void Peer::say_disk_room(const Step& step) {
  if (std::exchange(disk_was_low_, state_.disk_low) == state_.disk_low) return;
  if (state_.disk_low) step.log(LogLevel::warning, "node", "the disk is almost full: nothing is asked for", {});
  if (!state_.disk_low) step.log(LogLevel::info, "node", "the disk has room again", {});
}

// What was fetched last is known elsewhere too: else a peer that takes over would ask for it again. Others may be slow.
bool Peer::drained(Time now) { return records_.replication.replicator.idle() || lifecycle_.has_drained(now); }

Result<void> Peer::send_batches(const Step& step) {
  OutboxSender& outbox = records_.replication.outbox;
  std::vector<BatchOut> batches;
  ORBWEAVER_TRY(outbox.tick(step.now, members_.view(), batches));
  records_.replication.replicator.tick(
      step.now, members_.view(), tenures(), [&] { return outbox.new_sequence(); }, batches);
  for (BatchOut& batch : batches) messenger_.send(batch.to, std::move(batch.batch), step.out);
  return {};
}

Time Peer::next_deadline(Time now) const {
  Time at = now + idle_wait;
  const auto consider = [&](std::optional<Time> other) {
    if (other) at = std::min(at, *other);
  };
  consider(members_.membership().next_deadline());
  consider(records_.replication.outbox.next_deadline());
  consider(records_.replication.replicator.next_deadline());
  if (!members_.view().empty()) consider(records_.replication.partition_manager.next_deadline());
  if (state_.settings.replicas > 1 && !members_.others().empty())
    consider(records_.replication.copied_until.next_deadline());
  consider(lifecycle_.next_deadline());
  consider(fence_.next_deadline());
  if (may_walk() || fetches_.outcomes.any_in_pieces()) at = now;
  // Only what after() would act upon: a deadline that nothing serves makes a loop that never sleeps.
  consider(ends_.search.next_deadline(sends_waves()));
  consider(fetches_.access.next_deadline());
  consider(verdicts_.mirrors.next_deadline());
  consider(fetches_.scheduler.next_deadline(now));
  if (!lifecycle_.stopping() && !lifecycle_.ending()) consider(admission_.next_deadline());
  consider(questions_.next_deadline());
  consider(snapshots_.next_deadline());
  consider(ends_.process.next_deadline());
  return std::max(at, now);
}

}  // namespace orbweaver
