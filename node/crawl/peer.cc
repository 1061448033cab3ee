#include "node/crawl/peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/overloaded.h"
#include "node/storage_error.h"
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
                        ring::WaveProbe, ring::WaveReply, ring::Finish, ring::FinishAck, ring::TurnRequest, ring::Turns,
                        ring::Sightings, ring::SamePages>;

// Members of an earlier run that one who had left asks to be let in again.
constexpr std::size_t join_addresses_max = 16;
// The longest the loop sleeps.
constexpr Duration idle_wait = std::chrono::milliseconds{500};
// Records read back from the outbox in one step when this peer turns out to be their owner.
constexpr std::size_t own_outbox_step = 4096;

Workbench::Config workbench_config(const Settings& s, const MemoryPlan& memory) {
  const std::uint64_t bytes = memory.frontier / std::max<std::uint64_t>(s.hosts_in_memory, 1);
  Workbench::Config config{s.hosts_in_memory, s.host_queue_in_memory};
  config.head_bytes_max = static_cast<std::size_t>(bytes - std::min<std::uint64_t>(bytes, Workbench::bare_host_bytes));
  return config;
}

ring::MembershipConfig membership_config(const Settings& s) {
  ring::MembershipConfig config = ring::preset(s.network);
  config.probe_every = s.probe_every;
  config.probe_timeout = s.probe_timeout;
  config.suspicion_time = s.suspicion_time;
  return config;
}

std::uint64_t micros(Time time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

}  // namespace

Waves::Config Peer::waves_config(const Settings& s) {
  Waves::Config config;
  config.max_pages = s.max_pages;
  config.max_bytes = s.max_bytes;
  config.stop_when_done = s.stop_when_done;
  config.partitions = s.partitions;
  return config;
}

Peer::Peer(PeerStart start, storage::Store& store, ring::Member self, Time now)
    : state_(std::move(start.settings.values), start.memory, store, self.id, now),
      given_(std::move(start.settings.given)),
      members_(state_, ring::Membership(self, membership_config(settings_), start.random_seed)),
      replication_(state_, (start.random_seed >> 2) + 1),
      messenger_(state_, members_, replication_.keeper.tenures()),
      bench_(workbench_config(settings_, memory_), store,
             [this](ring::Partition partition) { return keeper_.fetches(partition); }),
      writer_(state_, members_, replication_, bench_),
      end_(messenger_),
      farewell_(state_, members_, lifecycle_, messenger_, writer_),
      fence_(state_, members_, messenger_, replication_, farewell_),
      moves_(state_, members_, messenger_, replication_, bench_, writer_),
      seeds_(state_, members_, messenger_, writer_, end_),
      robots_(memory_.robots),
      first_seeds_(std::move(start.seeds)),
      wait_for_peers_(start.wait_for_peers),
      link_cache_(make_link_cache(settings_.link_cache, settings_.link_cache_entries, start.random_seed >> 3)),
      link_scores_(settings_.order == CrawlOrder::best ? settings_.score_entries : 0),
      waves_(waves_config(settings_)),
      trap_rules_(settings_),
      trap_book_(settings_.hosts_in_memory),
      sighting_index_(sightings_max),
      mirrors_(mirror_hosts_max, settings_.trap_mirror_pages),
      domains_(settings_.hosts_in_memory),
      shares_(
          TransferShares::limits(settings_.fetches_max, settings_.max_domain_fetches, settings_.max_network_fetches)) {
  set_order();
  bench_.set_earliest([this](ring::Partition partition, std::string_view host) {
    return std::max(state_.restarted, keeper_.held_since(partition)) + sites_.manners(host).delay;
  });
}

void Peer::start_access(bool made_ring) {
  access_.emplace(settings_, membership_, view_, sites_, bench_, messenger_, made_ring);
}

Result<std::unique_ptr<Peer>> Peer::open(PeerStart start, storage::Store& store, Time now) {
  ring::Member self;
  self.id = start.fresh_id;
  const auto stored_id = store.meta(meta_name::peer);
  if (!stored_id) return tl::make_unexpected(error_of(stored_id.error()));
  if (*stored_id) {
    const auto id = ring::PeerId::from_hex(**stored_id);
    if (!id) return fail(ErrorCode::io, "the identity in the data directory cannot be read: '" + **stored_id + "'");
    self.id = *id;
  }
  self.address = start.address;
  self.capacity = start.settings.values.capacity;
  // Above all that it ever used, also when the clock was set back.
  self.incarnation = std::max(micros(now), last_incarnation(store, now) + 1);

  // The ring's values come first: everything below is made with them.
  const auto stored_settings = store.meta(meta_name::settings);
  if (!stored_settings) return tl::make_unexpected(error_of(stored_settings.error()));
  if (*stored_settings) {
    ring::Settings values;
    try {
      values = nlohmann::json::parse(**stored_settings).get<ring::Settings>();
    } catch (const nlohmann::json::exception& error) {
      return fail(ErrorCode::io,
                  std::string("the ring's settings in the data directory cannot be read: ") + error.what());
    }
    for (const auto& [name, value] : values) {
      const auto asked = start.settings.given.find(name);
      if (asked == start.settings.given.end() || setting_text(start.settings.values, name) == value) continue;
      return fail(ErrorCode::mismatch, "ring-wide setting '" + name + "' is " + value +
                                           " in this directory's crawl, but " + asked->second + " says " +
                                           setting_text(start.settings.values, name) +
                                           "; leave it out to go on with the crawl, or use a new directory");
    }
    if (Result<void> applied = apply_ring_wide(start.settings.values, values); !applied)
      return tl::make_unexpected(applied.error());
  }
  std::unique_ptr<Peer> peer(new Peer(start, store, self, now));
  if (Result<void> restored = peer->restore(start, now); !restored) return tl::make_unexpected(restored.error());
  return peer;
}

// Identity, ring, view and seeds of the last run; or a new ring when there is none to join.
Result<void> Peer::restore(const PeerStart& start, Time now) {
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::peer, id().hex());
  const auto ring = store_->meta(meta_name::ring);
  const auto members = store_->meta(meta_name::members);
  const auto seeds = store_->meta(meta_name::seeds);
  for (const auto* read : {&ring, &members, &seeds})
    if (!*read) return tl::make_unexpected(error_of(read->error()));
  if (*ring) {
    const auto id = ring::RingId::from_hex(**ring);
    if (!id) return fail(ErrorCode::io, "the ring's identity in the data directory cannot be read: '" + **ring + "'");
    state_.ring = *id;
    // Who has left holds nothing, and comes back as a newcomer does.
    const auto left = store_->meta(meta_name::left);
    if (!left) return tl::make_unexpected(error_of(left.error()));
    state_.has_ring = !*left || **left != "yes";
    // After a restart no host is asked before its delay has passed since the start: what was under way then is not
    // known any more.
    state_.restarted = now;
  } else if (settings_.join.empty()) {
    state_.ring = start.fresh_ring;
    state_.has_ring = true;
    commit.meta.emplace_back(meta_name::ring, state_.ring.hex());
    commit.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(settings_)).dump());
    keeper_.learn(keeper_.make_ring(), commit);
  }
  const Result<std::vector<std::string>> lost = keeper_.restore(now);
  if (!lost) return tl::make_unexpected(lost.error());
  for (const std::string& cause : *lost) note_dropped(tenure_prefix, cause);
  if (Result<void> filled = start_filter(); !filled) return filled;
  if (settings_.seen != SeenSet::bloom) store_->use_sets({memory_.seen_sets, start.random_seed});
  if (*members) restore_members(**members, now);
  join_ = settings_.join;
  start_access(!*ring && state_.has_ring);
  if (*ring && !state_.has_ring)
    for (const auto& [peer, member] : membership_.members())
      if (peer != id() && join_.size() < join_addresses_max) join_.push_back(member.address);
  // What was left out is written as it is now, so that the next start finds nothing to leave out.
  if (*seeds) {
    SeedSet::Restored restored = seeds_.restore(**seeds);
    for (const std::string& cause : restored.left_out) note_dropped(meta_name::seeds, cause);
    if (!restored.left_out.empty()) commit.meta.emplace_back(meta_name::seeds, std::move(restored.row));
  }
  const auto recrawl = store_->meta(meta_name::recrawl);
  if (!recrawl) return tl::make_unexpected(error_of(recrawl.error()));
  if (*recrawl && !(*recrawl)->empty())
    if (const Result<void> walk = restore_recrawl(**recrawl); !walk) {
      note_dropped(meta_name::recrawl, walk.error().message);
      commit.meta.emplace_back(meta_name::recrawl, "");
    }
  if (start.recrawl) {
    recrawl_ = Recrawl{*start.recrawl, {}, {}, nullptr, {}, 0};
    last_walk_ = *start.recrawl;
    commit.meta.emplace_back(meta_name::recrawl, stored(*recrawl_));
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
  if (*bytes) bytes_spent_ = std::strtoull((*bytes)->c_str(), nullptr, 10);
  if (*waited) waited_ = std::strtoull((*waited)->c_str(), nullptr, 10);
  if (waited_ >= wait_for_peers_) wait_for_peers_ = 1;
  if (Result<void> noted = note_crashes(start.at_work, commit); !noted) return noted;
  if (Result<void> restored = restore_redirects(commit); !restored) return restored;
  seeds_.make_scope();
  if (state_.has_ring) membership_.set_state(ring::MemberState::active, now);
  if (const auto written = store_->commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  Commands ignored;
  return membership_changed({now, ignored});
}

void Peer::step(Time now, Event event, Commands& out) {
  if (lifecycle_.has_exited()) return;
  // A process that stood still for so long may have been given up by the others.
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
  if (taken && !lifecycle_.has_exited()) taken = after(now, out);
  if (!taken) fail_for_good(taken.error(), out);
  if (!lifecycle_.has_exited()) return;
  // What was said after the store had failed may tell of what is not durable.
  const auto ended = std::find_if(out.begin(), out.end(),
                                  [](const Command& command) { return std::holds_alternative<Exit>(command); });
  if (ended != out.end()) out.erase(std::next(ended), out.end());
}

Result<void> Peer::handle(Time now, MessageEvent& event, Commands& out) {
  if (std::visit(Overloaded{[](const OfRing auto&) { return false; }, [](const OfAnyone auto&) { return true; }},
                 event.message.body))
    return handle_before_ring(now, event, out);
  if (!state_.has_ring) return {};
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
  return handle_within_ring(now, event, out);
}

// What is taken whether or not there is a ring, and from any sender.
Result<void> Peer::handle_before_ring(Time now, MessageEvent& event, Commands& out) {
  const Step step{now, out};
  const ring::Message& in = event.message;
  const auto handled = Overloaded{
      [&](const ring::Ask& ask) {
        on_ask(now, in, ask, event.reply, out);
        return Result<void>{};
      },
      [&](const ring::Join& join) {
        on_join(now, in, join, event.reply, out);
        return Result<void>{};
      },
      [&](const ring::Welcome& welcome) { return on_welcome(now, welcome, out); },
      [&](const ring::Answer& answer) {
        on_answer(in, answer, out);
        return Result<void>{};
      },
      [&](const ring::Refuse& refuse) {
        ++counters_.messages_refused;
        if (refuse.join && !welcomed_ && !join_.empty())
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

Result<void> Peer::handle_within_ring(Time now, MessageEvent& event, Commands& out) {
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
      [&](const ring::Batch& batch) { return on_batch(now, in, batch, event.reply, out); },
      [&](const ring::BatchAck& ack) { return on_batch_ack(now, in.from, ack.sequence, out); },
      [&](const ring::BatchRefused& refused) { return on_batch_refused(now, in.from, refused, out); },
      [&](const ring::Roots& roots) -> Result<void> {
        ORBWEAVER_TRY(moves_.hear(step, roots.tenures));
        messenger_.reply(event.reply, in.from, keeper_.on_roots(in.from, roots, view_), out);
        return {};
      },
      [&](const ring::RootsCompared& compared) {
        keeper_.on_compared(in.from, compared, now);
        return moves_.hear(step, compared.tenures);
      },
      [&](const ring::Leaves& leaves) { return on_leaves(in, leaves, event.reply, out); },
      [&](const ring::LeavesDiffer& differ) { keeper_.on_leaves_differ(in.from, differ); },
      [&](const ring::WaveProbe& probe) { on_wave_probe(now, in, probe, event.reply, out); },
      [&](const ring::WaveReply& wave) { waves_.on_reply(in.from, wave); },
      [&](const ring::Finish& finish) { return on_finish(now, in, finish, event.reply, out); },
      [&](const ring::FinishAck&) {
        if (membership_.find(in.from) != nullptr) finish_acks_.insert(in.from);
      },
      [&](const ring::TurnRequest& request) { access_->on_request(step, in, request, event.reply); },
      [&](const ring::Turns& answer) { access_->on_answer(now, in.from, answer); },
      [&](const ring::Sightings& sightings) { on_sightings(now, sightings, out); },
      [&](const ring::SamePages& same) { on_same_pages(now, same, out); },
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
    const auto url = record ? canonicaliser_.parse(record->url) : fail(ErrorCode::io, "unreadable outbox entry");
    if (!url) continue;
    admission_limits(*record, step.now);
    const storage::UrlKey key{partitioner_.host_key(*url), url->digest()};
    visit_if_newer(key, *record);
    judge_trap(key, *url, *record);
    const bool link = is_link(*record);
    commit.merges.push_back({key, std::move(*record), link});
  }
  ORBWEAVER_TRY(writer_.commit(step, commit));
  return {};
}

// Everything that time or the last event has made due, in one order.
Result<void> Peer::after(Time now, Commands& out) {
  const Step step{now, out};
  if (state_.has_ring) {
    std::vector<ring::Send> sends;
    membership_.tick(now, sends);
    messenger_.send_all(sends, out);
  }
  // The other one was there first: no farewell, it would be taken for that one's.
  if (const auto other = membership_.duplicate(); other && !lifecycle_.ending()) {
    lifecycle_.stay();
    return farewell_.exit(step, ErrorCode::in_use,
                          "a peer with this peer's identity is running at " + *other +
                              ": was its data directory copied? Start this one with a new directory");
  }
  if (members_.changed()) ORBWEAVER_TRY(membership_changed(step));
  ORBWEAVER_TRY(join_tick(step));
  if (state_.has_ring) {
    ORBWEAVER_TRY(take_own_outbox(step));
    if (!commit_piece(now, out)) return {};
    first_seeds_tick(now, out);
    if (lifecycle_.has_exited()) return {};
    ORBWEAVER_TRY(seeds_.admit_own(step));
    ORBWEAVER_TRY(fence_.tick(step));
    const bool may_take = fence_.confirmed() && !lifecycle_.ending() && !end_.told();
    ORBWEAVER_TRY(moves_.tick(step, may_take, [this](ring::Partition partition) { return walk_awaits(partition); }));
    if (!recrawl_tick(now, out)) return {};
    issue_fetches(now, out);
    if (lifecycle_.has_exited()) return {};
    access_->tick(step);
    sightings_tick(now, out);
    if (lifecycle_.has_exited()) return {};
    std::vector<Forwarder::Out> batches;
    ORBWEAVER_TRY(forwarder_.tick(now, view_, batches));
    copier_.tick(
        now, view_, keeper_.tenures(), forwarder_.safe(), [this] { return forwarder_.new_sequence(); }, batches);
    for (Forwarder::Out& batch : batches) messenger_.send(batch.to, std::move(batch.batch), out);
    ORBWEAVER_TRY(waves_tick(now, out));
    ORBWEAVER_TRY(leave_tick(step));
  }
  gather_tick(now, out);
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
  if (state_.has_ring) {
    consider(membership_.next_deadline());
    consider(forwarder_.next_deadline());
    consider(copier_.next_deadline());
    if (!view_.empty()) consider(keeper_.next_deadline());
    if (lifecycle_.leaving() && !lifecycle_.ending()) consider(lifecycle_.leave_by());
    consider(fence_.next_deadline());
    if (may_walk() || !in_pieces_.empty()) at = now;
    // Only what after() would act upon: a deadline that nothing serves is a loop that never sleeps.
    if (!lifecycle_.ending() && waves_wanted()) consider(waves_.next_deadline());
    consider(access_->next_deadline());
    if (!sightings_.empty() && !view_.empty()) consider(next_sightings_);
    if (may_fetch() && jobs_.size() < settings_.fetches_max && may_start_page()) {
      consider(bench_.next_deadline());
      if (!parsed_.empty() || (!parse_next_.empty() && parsing_may_start())) at = now;
    }
  }
  if (!welcomed_ && !join_.empty() && !lifecycle_.stopping() && !lifecycle_.ending()) consider(next_join_);
  for (const Gathering& gathering : gatherings_) consider(gathering.deadline);
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
  if (lifecycle_.has_exited()) return false;  // the store failed earlier in this step
  auto done = writer_.commit({now, out}, commit, outcome);
  if (!done) {
    fail_for_good(done.error(), out);
    return false;
  }
  if (result != nullptr) *result = std::move(*done);
  return true;
}

// The store or the archive cannot be written: nothing more is taken on, what is durable stays, the process ends and
// says why. Nothing that this step would have said leaves: it may tell of what is not durable.
void Peer::fail_for_good(const Error& error, Commands& out) {
  if (lifecycle_.has_exited()) return;
  lifecycle_.exited();
  std::erase_if(out, [](const Command& command) { return !std::holds_alternative<Note>(command); });
  note(out, LogLevel::error, "node", "cannot go on", {{"cause", error.message}});
  out.push_back(Exit{static_cast<int>(error.code), error.message, false, {}});
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
