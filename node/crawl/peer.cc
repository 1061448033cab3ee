#include "node/crawl/peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/errors/storage_error.h"
#include "node/overloaded.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

// Each message is of one of these two kinds; a new one that is in neither does not compile.
template <class Body>
concept OfAnyone = one_of<Body, ring::Ask, ring::Join, ring::Welcome, ring::Answer, ring::Refuse>;
template <class Body>
concept OfRing = one_of<Body, ring::Ping, ring::PingRequest, ring::PingAck, ring::Sync, ring::Batch, ring::BatchAck,
                        ring::BatchRefused, ring::Roots, ring::RootsCompared, ring::Leaves, ring::LeavesDiffer,
                        ring::WaveProbe, ring::WaveReply, ring::Finish, ring::FinishAck, ring::SlotRequest,
                        ring::SlotAnswer, ring::Sightings, ring::SamePages, ring::LeaseRequest, ring::LeaseAnswer>;

// Records read back from the outbox in one step when this peer turns out to be their owner.
constexpr std::size_t own_outbox_step = 4096;

Workbench::Config workbench_config(const Settings& s, const MemoryPlan& memory) {
  const std::uint64_t bytes = memory.frontier / std::max<std::uint64_t>(s.hosts_in_memory, 1);
  Workbench::Config config{s.hosts_in_memory, s.host_queue_in_memory};
  config.head_bytes_max = static_cast<std::size_t>(bytes - std::min<std::uint64_t>(bytes, Workbench::bare_host_bytes));
  return config;
}

}  // namespace

Peer::Peer(RingEntry&& entry, Time now)
    : state_(std::move(entry.start.settings.values), entry.start.memory, *entry.store, entry.membership.self().id,
             entry.ring),
      members_(state_, std::move(entry.membership)),
      replication_(state_, (entry.start.random_seed >> 2) + 1),
      messenger_(state_, members_, replication_.keeper.tenures()),
      lifecycle_(std::move(entry.lifecycle)),
      bench_(workbench_config(settings_, memory_), *store_,
             [this](ring::Partition partition) { return keeper_.fetches(partition); }),
      writer_(state_, members_, replication_, bench_),
      end_(messenger_),
      farewell_(state_, members_, lifecycle_, messenger_, writer_),
      fence_(state_, members_, messenger_, replication_, farewell_),
      moves_(state_, members_, messenger_, replication_, bench_, writer_),
      seeds_(state_, members_, messenger_, writer_, end_),
      admission_(std::move(entry.admission)),
      doorkeeper_(state_, members_, messenger_, lifecycle_, seeds_, end_, replication_.keeper.tenures()),
      ending_(state_, members_, messenger_, lifecycle_, writer_, end_, farewell_),
      robots_(memory_.robots),
      first_seeds_(std::move(entry.start.seeds)),
      wait_for_peers_(entry.start.wait_for_peers),
      access_(settings_, membership_, view_, sites_, bench_, messenger_, entry.how == RingEntry::How::made),
      trap_rules_(settings_),
      mirrors_({.settings = settings_,
                .rules = trap_rules_,
                .store = *store_,
                .view = view_,
                .partitioner = partitioner_,
                .messenger = messenger_,
                .is_seed_host = [this](const std::string& host) { return seeds_.is_host(host); },
                .write = writer()}),
      trap_judge_(settings_, trap_rules_, *store_, stepped_, mirrors_),
      trap_report_(
          *store_, partitioner_, trap_judge_, mirrors_,
          [this](ring::Partition partition) { return keeper_.holds(partition); }, writer()),
      walk_(*store_, canonicaliser_, partitioner_, stepped_, writer()),
      router_({.settings = settings_,
               .store = *store_,
               .view = view_,
               .partitioner = partitioner_,
               .scope = [this]() -> const Scope& { return seeds_.scope(); },
               .traps = trap_judge_,
               .walk = walk_}),
      redirects_({.settings = settings_,
                  .scope = [this]() -> const Scope& { return seeds_.scope(); },
                  .is_seed = [this](const std::string& url) { return seeds_.contains(url); }}),
      links_({.settings = settings_,
              .canonicaliser = canonicaliser_,
              .view = view_,
              .partitioner = partitioner_,
              .scope = [this]() -> const Scope& { return seeds_.scope(); },
              .bench = bench_,
              .traps = trap_judge_,
              .mirrors = mirrors_,
              .router = router_,
              .redirects = redirects_}),
      explanation_({.settings = settings_,
                    .canonicaliser = canonicaliser_,
                    .partitioner = partitioner_,
                    .store = *store_,
                    .scope = [this]() -> const Scope& { return seeds_.scope(); },
                    .bench = bench_,
                    .router = router_,
                    .redirects = redirects_,
                    .traps = trap_judge_,
                    .mirrors = mirrors_,
                    .membership = membership_}),
      questions_(
          {.membership = membership_,
           .ring = state_.ring,
           .messenger = messenger_,
           .memory = memory_,
           .canonicaliser = canonicaliser_,
           .who_knows = [this](const CanonicalUrl& url) { return who_knows(url); },
           .answer_own = [this](const Step& step, const std::string& verb,
                                const nlohmann::json& body) { return answer_own(step.now, verb, body, step.out); },
           .refuse = [this](const Step& step, const ring::Message& in,
                            const std::string& cause) { refuse_message(in, cause, step.out); }}),
      batches_({.state = state_,
                .members = members_,
                .messenger = messenger_,
                .replication = replication_,
                .bench = bench_,
                .writer = writer_,
                .moves = moves_,
                .seeds = seeds_,
                .router = router_,
                .walk = walk_,
                .traps = trap_judge_}),
      budgets_(settings_, *store_, settings_.hosts_in_memory),
      allowance_(settings_),
      shares_(
          TransferShares::limits(settings_.fetches_max, settings_.max_domain_fetches, settings_.max_network_fetches)) {
  state_.started = entry.started;
  state_.restarted = entry.restarted;
  state_.stepped = now;
  counters_.messages_refused = entry.messages_refused;
  link_trace_ = std::move(entry.link_trace);
  bench_.set_best_first(router_.best_first());
  bench_.set_earliest([this](ring::Partition partition, std::string_view host) {
    return std::max(state_.restarted, keeper_.held_since(partition)) + sites_.manners(host).delay;
  });
}

Result<std::unique_ptr<Peer>> Peer::enter(RingEntry entry, const Step& step) {
  std::unique_ptr<Peer> peer(new Peer(std::move(entry), step.now));
  // What is left of the entry are values that the constructor did not take.
  ORBWEAVER_TRY(peer->restore(entry, step));
  return peer;
}

// Tenures, view and seeds of the last run; or all of a new ring.
Result<void> Peer::restore(const RingEntry& entry, const Step& step) {
  const bool joined = entry.how == RingEntry::How::joined;
  const PeerStart& start = entry.start;
  storage::Commit commit;
  if (!joined) commit.meta.emplace_back(meta_name::peer, id().hex());
  if (entry.how != RingEntry::How::restored) {
    commit.meta.emplace_back(meta_name::ring, state_.ring.hex());
    if (joined) commit.meta.emplace_back(meta_name::left, "no");
    commit.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(settings_)).dump());
  }
  if (entry.how == RingEntry::How::made) keeper_.learn(keeper_.make_ring(), commit);
  for (const LeftOutRow& row : entry.left_out) note_dropped(row.name, row.cause);
  // A newcomer holds nothing; what the directory says of an earlier time it has left behind.
  if (!joined) {
    const Result<std::vector<std::string>> lost = keeper_.restore(step.now);
    if (!lost) return tl::make_unexpected(lost.error());
    for (const std::string& cause : *lost) note_dropped(tenure_prefix, cause);
  }
  // Whether it knows all who hold something. If not it must hear from the others before it judges who is gone.
  if (entry.members_left_out)
    for (const ring::PartitionTenure& held : keeper_.tenures().all())
      if (membership_.find(held.tenure.holder) == nullptr) fence_.note_lost_members();
  ORBWEAVER_TRY(start_filter());
  if (settings_.seen != SeenSet::bloom) store_->use_sets({memory_.seen_sets, start.random_seed});
  const auto seeds = store_->meta(meta_name::seeds);
  if (!seeds) return tl::make_unexpected(error_of(seeds.error()));
  // What was left out is written as it is now, so that the next start finds nothing to leave out.
  if (*seeds) {
    SeedSet::Restored restored = seeds_.restore(**seeds);
    for (const std::string& cause : restored.left_out) note_dropped(meta_name::seeds, cause);
    if (!restored.left_out.empty()) commit.meta.emplace_back(meta_name::seeds, std::move(restored.row));
  }
  const auto recrawl = store_->meta(meta_name::recrawl);
  if (!recrawl) return tl::make_unexpected(error_of(recrawl.error()));
  if (*recrawl && !(*recrawl)->empty())
    if (const Result<void> walk = walk_.restore(**recrawl); !walk) {
      note_dropped(meta_name::recrawl, walk.error().message);
      commit.meta.emplace_back(meta_name::recrawl, "");
    }
  if (start.recrawl) {
    walk_.begin({.before = *start.recrawl, .host = {}, .match = {}}, commit);
    commit.meta.emplace_back(meta_name::ended, "");
  }
  const auto ended = store_->meta(meta_name::ended);
  if (!ended) return tl::make_unexpected(error_of(ended.error()));
  if (*ended && !(*ended)->empty() && !start.recrawl)
    if (const Result<void> restored = end_.restore(**ended); !restored) {
      note_dropped(meta_name::ended, restored.error().message);
      end_.write(commit);
    }
  // Who has waited for as many before does not wait again: the ring may be smaller now.
  const auto waited = store_->meta(meta_name::waited);
  if (!waited) return tl::make_unexpected(error_of(waited.error()));
  const auto bytes = store_->meta(meta_name::bytes);
  if (!bytes) return tl::make_unexpected(error_of(bytes.error()));
  if (*bytes) allowance_.restore(**bytes);
  if (*waited) waited_ = std::strtoull((*waited)->c_str(), nullptr, 10);
  if (waited_ >= wait_for_peers_) wait_for_peers_ = 1;
  const auto redirects = redirects_.restore(*store_, commit);
  if (!redirects) return tl::make_unexpected(redirects.error());
  if (*redirects) note_dropped(meta_name::redirects_out, **redirects);
  seeds_.make_scope();
  if (!joined) membership_.set_state(ring::MemberState::active, step.now);
  if (const auto written = store_->commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  if (!joined) ORBWEAVER_TRY(membership_changed(step));
  // The last write: a start that fails is made again with the same pages, and must not have counted them.
  storage::Commit crashes;
  ORBWEAVER_TRY(crashes_.restore(*store_, start.at_work, crashes));
  if (crashes.meta.empty()) return {};
  if (const auto written = store_->commit(crashes); !written) return tl::make_unexpected(error_of(written.error()));
  return {};
}

Result<void> Peer::step(const Step& step, Event& event) {
  const Time now = step.now;
  Commands& out = step.out;
  // A process that stood still for this long may have been given up by the others.
  if (now - stepped_ >= settings_.suspicion_time) fence_.doubt();
  state_.note_step(now);
  for (Note& healed : std::exchange(healed_, {})) out.push_back(std::move(healed));
  Result<void> taken = std::visit(Overloaded{[&](MessageEvent& message) { return receive(now, message, out); },
                                             [&](const FetchEnded& ended) {
                                               on_fetch_ended(now, ended, out);
                                               return Result<void>{};
                                             },
                                             [&](PageDone& page) {
                                               on_page_done(now, page, out);
                                               return Result<void>{};
                                             },
                                             [&](HostResolved& resolved) {
                                               on_resolved(now, resolved);
                                               return Result<void>{};
                                             },
                                             [&](const StopEvent& wanted) {
                                               wanted.leave ? leave(now) : lifecycle_.stop();
                                               return Result<void>{};
                                             },
                                             [](const TickEvent&) { return Result<void>{}; }},
                                  event);
  if (taken && !failure_) taken = after(now, out);
  if (failure_) return tl::make_unexpected(*failure_);
  return taken;
}

Result<void> Peer::handle(Time now, MessageEvent& event, Commands& out) {
  if (std::visit(Overloaded{[](const OfRing auto&) { return false; }, [](const OfAnyone auto&) { return true; }},
                 event.message.body))
    return handle_of_anyone(now, event, out);
  const ring::Message& in = event.message;
  if (in.ring != state_.ring) {
    ++counters_.messages_refused;
    note(out, LogLevel::warning, "ring", "message of another ring",
         {{"peer", in.from.brief()}, {"ring", in.ring.hex()}}, true);
    messenger_.reply(
        event.reply, in.from,
        ring::Refuse{"this peer belongs to ring " + state_.ring.hex() + ", the message to ring " + in.ring.hex(),
                     false},
        out);
    return {};
  }
  membership_.heard_from(in.from, now);
  members_.note_version(in.from, in.version);
  return handle_of_ring(now, event, out);
}

// What is taken from any sender.
Result<void> Peer::handle_of_anyone(Time now, MessageEvent& event, Commands& out) {
  const Step step{now, out};
  const ring::Message& in = event.message;
  const auto handled = Overloaded{
      [&](const ring::Ask& ask) { return questions_.on_ask(step, in, ask, event.reply); },
      [&](const ring::Join& join) {
        doorkeeper_.on_join(step, in, join, event.reply);
        return Result<void>{};
      },
      [&](const ring::Welcome& welcome) { return on_welcome(now, welcome, out); },
      [&](const ring::Answer& answer) {
        questions_.on_answer(step, in, answer);
        return Result<void>{};
      },
      [&](const ring::Refuse& refuse) {
        ++counters_.messages_refused;
        if (refuse.join && admission_.asks())
          return farewell_.exit(step, ErrorCode::mismatch, "the ring refused this peer: " + refuse.reason);
        step.log(LogLevel::warning, "ring", "message refused", {{"peer", in.from.brief()}, {"reason", refuse.reason}},
                 true);
        return Result<void>{};
      },
  };
  return std::visit(Overloaded{[](const OfRing auto&) { return Result<void>{}; },
                               [&](const OfAnyone auto& body) { return handled(body); }},
                    in.body);
}

Result<void> Peer::handle_of_ring(Time now, MessageEvent& event, Commands& out) {
  const Step step{now, out};
  const ring::Message& in = event.message;
  std::vector<ring::Send> sends;
  const auto compare = [&](std::uint64_t seeds, std::uint64_t tenures) {
    seeds_.compare(step, in.from, seeds);
    moves_.compare(step, in.from, tenures);
  };
  // Those that cannot fail answer nothing.
  const auto handled = Overloaded{
      [&](const ring::Ping& ping) {
        membership_.on_ping(in.from, ping, now, sends);
        // More is said of it than it knows, perhaps by another process with its identity. It is told on the connection
        // that it came by, for the address may be that other's.
        if (const ring::Member* known = membership_.find(in.from);
            known != nullptr && known->incarnation > in.incarnation)
          messenger_.reply(event.reply, in.from, ring::Sync{false, {*known}, {}}, out);
        compare(ping.seeds_fingerprint, ping.tenures_fingerprint);
      },
      [&](const ring::PingRequest& request) { membership_.on_ping_request(in.from, request, now, sends); },
      [&](const ring::PingAck& ack) {
        membership_.on_ping_ack(in.from, ack, now, sends);
        compare(ack.seeds_fingerprint, ack.tenures_fingerprint);
      },
      [&](const ring::Sync& sync) { return on_sync(now, in, sync, event.reply, out); },
      [&](const ring::Batch& batch) {
        return lifecycle_.ending() ? Result<void>{} : batches_.take(step, in.from, batch, event.reply);
      },
      [&](const ring::BatchAck& ack) { return moves_.hear(step, in.from, ack); },
      [&](const ring::BatchRefused& refused) {
        membership_.merge(refused.members, now);
        return moves_.hear(step, in.from, refused);
      },
      [&](const ring::Roots& roots) { return moves_.hear(step, in.from, roots, event.reply); },
      [&](const ring::RootsCompared& compared) { return moves_.hear(step, in.from, compared); },
      [&](const ring::Leaves& leaves) { return moves_.hear(step, in.from, leaves, event.reply); },
      [&](const ring::LeavesDiffer& differ) { keeper_.on_leaves_differ(in.from, differ); },
      [&](const ring::WaveProbe& probe) { on_wave_probe(now, in, probe, event.reply, out); },
      [&](const ring::WaveReply& wave) { ending_.hear(in.from, wave); },
      [&](const ring::Finish& finish) { return ending_.hear(step, in.from, finish, event.reply); },
      [&](const ring::FinishAck&) { ending_.acknowledged(in.from); },
      [&](const ring::SlotRequest& request) { access_.on_request(step, in, request, event.reply); },
      [&](const ring::SlotAnswer& answer) { access_.on_answer(now, in.from, answer); },
      [&](const ring::LeaseRequest& request) { access_.leases().on_request(step, in.from, request, event.reply); },
      [&](const ring::LeaseAnswer& answer) { access_.leases().on_answer(now, answer); },
      [&](const ring::Sightings& sightings) { return mirrors_.on_sightings(step, sightings); },
      [&](const ring::SamePages& same) { return mirrors_.on_same_pages(step, same); },
  };
  const Result<void> done = std::visit(Overloaded{[&](const OfRing auto& body) -> Result<void> {
                                                    if constexpr (std::is_void_v<decltype(handled(body))>) {
                                                      handled(body);
                                                      return {};
                                                    } else {
                                                      return handled(body);
                                                    }
                                                  },
                                                  [](const OfAnyone auto&) { return Result<void>{}; }},
                                       in.body);
  if (done) messenger_.send_all(sends, out);
  return done;
}

// What this peer itself owns of the outbox, after a change of owners.
Result<void> Peer::take_own_outbox(const Step& step) {
  auto own = forwarder_.take_own(view_, own_outbox_step);
  if (!own) return tl::make_unexpected(own.error());
  if (own->empty()) return {};
  storage::Commit commit;
  for (const storage::OutboxEntry& entry : *own) {
    commit.from_outbox.push_back(entry.key);
    auto record = storage::decode_record(entry.record);
    const auto url = record ? CanonicalUrl::of_stored(record->url) : fail(ErrorCode::io, "unreadable outbox entry");
    if (!url) continue;
    router_.limit(*record, step.now);
    const storage::UrlKey key{partitioner_.host_key(*url), url->digest()};
    walk_.visit_if_newer(key, *record);
    trap_judge_.judge(key, *url, *record);
    const bool link = is_link(*record);
    commit.merges.push_back({key, std::move(*record), link});
  }
  ORBWEAVER_TRY(writer_.commit(step, commit));
  return {};
}

// Everything that time or the last event has made due, in one order.
Result<void> Peer::after(Time now, Commands& out) {
  const Step step{now, out};
  std::vector<ring::Send> sends;
  membership_.tick(now, sends);
  messenger_.send_all(sends, out);
  // The other one was there first: no farewell, it would be taken for that one's.
  if (const auto other = membership_.duplicate(); other && !lifecycle_.ending()) {
    lifecycle_.stay();
    return farewell_.exit(step, ErrorCode::in_use,
                          "a peer with this peer's identity is running at " + *other +
                              ": was its data directory copied? Start this one with a new directory");
  }
  if (members_.changed()) ORBWEAVER_TRY(membership_changed(step));
  ask_for_admission(step);
  ORBWEAVER_TRY(take_own_outbox(step));
  if (!commit_piece(now, out)) return {};
  first_seeds_tick(now, out);
  if (failure_) return {};
  ORBWEAVER_TRY(seeds_.admit_own(step));
  ORBWEAVER_TRY(fence_.tick(step));
  const bool may_take = fence_.confirmed() && !lifecycle_.ending() && !end_.told();
  ORBWEAVER_TRY(moves_.tick(step, may_take, [this](ring::Partition partition) { return walk_.awaits(partition); }));
  if (may_walk()) ORBWEAVER_TRY(walk_.walk_on(step));
  issue_fetches(now, out);
  if (failure_) return {};
  access_.tick(step);
  ORBWEAVER_TRY(mirrors_.tick(step));
  std::vector<BatchOut> batches;
  ORBWEAVER_TRY(forwarder_.tick(now, view_, batches));
  copier_.tick(
      now, view_, keeper_.tenures(), forwarder_.safe(), [this] { return forwarder_.new_sequence(); }, batches);
  for (BatchOut& batch : batches) messenger_.send(batch.to, std::move(batch.batch), out);
  ORBWEAVER_TRY(end_tick(step));
  ORBWEAVER_TRY(leave_tick(step));
  questions_.tick(step);
  if (lifecycle_.stopping() && jobs_.empty())
    ORBWEAVER_TRY(
        farewell_.exit(step, 0, "stopped; the crawl goes on where it was when this directory is started again"));
  farewell_.tick(step);
  return {};
}

Time Peer::next_deadline(Time now) const {
  Time at = now + idle_wait;
  const auto consider = [&](std::optional<Time> other) {
    if (other) at = std::min(at, *other);
  };
  consider(membership_.next_deadline());
  consider(forwarder_.next_deadline());
  consider(copier_.next_deadline());
  if (!view_.empty()) consider(keeper_.next_deadline());
  if (lifecycle_.leaving() && !lifecycle_.ending()) consider(lifecycle_.leave_by());
  consider(fence_.next_deadline());
  if (may_walk() || !in_pieces_.empty()) at = now;
  // Only what after() would act upon: a deadline that nothing serves is a loop that never sleeps.
  if (!lifecycle_.ending() && waves_wanted()) consider(ending_.next_deadline());
  consider(access_.next_deadline());
  consider(mirrors_.next_deadline());
  if (may_fetch() && jobs_.size() < settings_.fetches_max && allowance_.may_start()) {
    consider(bench_.next_deadline());
    if (!parsed_.empty() || (!parse_next_.empty() && parsing_may_start())) at = now;
  }
  if (!lifecycle_.stopping() && !lifecycle_.ending()) consider(admission_.next_deadline());
  consider(questions_.next_deadline());
  consider(farewell_.next_deadline());
  return std::max(at, now);
}

// A filter for links, when one is asked for; filled from what the store has.
Result<void> Peer::start_filter() {
  if (settings_.seen != SeenSet::bloom) return {};
  if (storage::Result<void> filled = store_->use_filter(seen_filter_config(settings_)); !filled)
    return tl::make_unexpected(error_of(filled.error()));
  return {};
}

// Commits. False: the store failed, the peer is on its way out.
bool Peer::apply(Time now, const storage::Commit& commit, Commands& out, storage::CommitResult* result,
                 const storage::UrlKey* outcome) {
  if (failure_) return false;  // the store failed earlier in this step
  auto done = writer_.commit({now, out}, commit, outcome);
  if (!done) {
    fail_for_good(done.error());
    return false;
  }
  if (result != nullptr) *result = std::move(*done);
  return true;
}

// The step ends, and the process.
void Peer::fail_for_good(const Error& error) {
  if (!failure_) failure_ = error;
}

// Hands everything over, then ends; when no peer is there to take it, or after leave_timeout, ends as it is.
void Peer::leave(Time now) {
  if (lifecycle_.leave(now + settings_.leave_timeout) && membership_.self().state < ring::MemberState::leaving)
    membership_.set_state(ring::MemberState::leaving, now);
}

void Peer::note(Commands& out, LogLevel level, std::string_view channel, std::string_view event,
                std::vector<std::pair<std::string_view, std::string>> fields, bool limited) const {
  out.push_back(Note{level, channel, event, std::move(fields), limited});
}

}  // namespace orbweaver
