#include "node/crawl/peer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/overloaded.h"
#include "node/storage_error.h"
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

// The last word of a peer that leaves is said again until someone answers, so long at most.
constexpr Duration farewell_every = std::chrono::milliseconds{300};
constexpr Duration farewell_max = std::chrono::minutes{1};
// Members of an earlier run that one who had left asks to be let in again.
constexpr std::size_t join_addresses_max = 16;
// The longest the loop sleeps.
constexpr Duration idle_wait = std::chrono::milliseconds{500};
// Between the last word to the others and the end of the process: the transport has sent it by then.
constexpr Duration last_words = std::chrono::milliseconds{300};
// A forwarder's batch is acknowledged after its copies: they do not wait long for company.
constexpr Duration copy_age_max = std::chrono::milliseconds{5};
// Records read back from the outbox in one step when this peer turns out to be their owner.
constexpr std::size_t own_outbox_step = 4096;

// A quarter of their share is for foreign links, a quarter for copies, and half for what the transport has to send.
Forwarder::Config forwarder_config(const Settings& s, const MemoryPlan& memory) {
  return {s.batch_records,
          static_cast<std::size_t>(s.batch_bytes),
          s.batch_age,
          s.batches_under_way,
          s.batch_timeout,
          s.outbox_memory_records,
          memory.messages_out / 4};
}

Copier::Config copier_config(const Settings& s, const MemoryPlan& memory) {
  Copier::Config config;
  config.bytes_max = memory.messages_out / 8;  // and as much for outcomes
  config.batch_records = s.batch_records;
  config.batch_bytes = static_cast<std::size_t>(s.batch_bytes);
  config.age = std::min(s.batch_age, copy_age_max);
  config.under_way_max = s.batches_under_way;
  config.timeout = s.batch_timeout;
  config.items_max = std::max<std::size_t>(s.outbox_memory_records, 1);
  return config;
}

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

Keeper::Config Peer::keeper_config(const Settings& s) {
  Keeper::Config config;
  config.transfers.batch_records = s.batch_records;
  config.transfers.batch_bytes = static_cast<std::size_t>(s.batch_bytes);
  config.transfers.under_way_max = s.batches_under_way;
  config.transfers.timeout = s.batch_timeout;
  config.unknown_wait = s.suspicion_time;
  return config;
}

Peer::Peer(PeerStart start, storage::Store& store, ring::Member self, Time now)
    : settings_(std::move(start.settings.values)),
      memory_(start.memory),
      canonicaliser_(settings_),
      given_(std::move(start.settings.given)),
      store_(&store),
      membership_(self, membership_config(settings_), start.random_seed),
      view_(self.id, settings_.partitions, settings_.replicas),
      partitioner_(settings_.partition_by, settings_.partitions),
      robots_(memory_.robots),
      first_seeds_(std::move(start.seeds)),
      wait_for_peers_(start.wait_for_peers),
      bench_(workbench_config(settings_, memory_), store,
             [this](ring::Partition partition) { return keeper_.fetches(partition); }),
      forwarder_(forwarder_config(settings_, memory_), store, (start.random_seed >> 2) + 1),
      copier_(copier_config(settings_, memory_)),
      keeper_(keeper_config(settings_), self.id, settings_.partitions, store),
      messenger_(membership_, keeper_.tenures()),
      sites_(settings_),
      waves_(waves_config(settings_)),
      trap_rules_(settings_),
      mirrors_({.settings = settings_,
                .rules = trap_rules_,
                .store = store,
                .view = view_,
                .partitioner = partitioner_,
                .messenger = messenger_,
                .is_seed_host = [this](const std::string& host) { return seed_hosts_.contains(host); },
                .write = writer()}),
      trap_judge_(settings_, trap_rules_, store, stepped_, mirrors_),
      trap_report_(
          store, partitioner_, trap_judge_, mirrors_,
          [this](ring::Partition partition) { return keeper_.holds(partition); }, writer()),
      walk_(store, canonicaliser_, partitioner_, stepped_, writer()),
      router_({.settings = settings_,
               .store = store,
               .view = view_,
               .partitioner = partitioner_,
               .scope = [this]() -> const Scope& { return *scope_; },
               .traps = trap_judge_,
               .walk = walk_},
              start.random_seed >> 3),
      redirects_({.settings = settings_,
                  .canonicaliser = canonicaliser_,
                  .scope = [this]() -> const Scope& { return *scope_; },
                  .is_seed = [this](const std::string& url) { return seeds_.contains(url); }}),
      links_({.settings = settings_,
              .canonicaliser = canonicaliser_,
              .view = view_,
              .partitioner = partitioner_,
              .scope = [this]() -> const Scope& { return *scope_; },
              .bench = bench_,
              .traps = trap_judge_,
              .mirrors = mirrors_,
              .router = router_,
              .redirects = redirects_}),
      explanation_({.settings = settings_,
                    .canonicaliser = canonicaliser_,
                    .partitioner = partitioner_,
                    .store = store,
                    .scope = [this]() -> const Scope& { return *scope_; },
                    .bench = bench_,
                    .router = router_,
                    .redirects = redirects_,
                    .traps = trap_judge_,
                    .mirrors = mirrors_,
                    .membership = membership_}),
      questions_(
          {.membership = membership_,
           .ring = ring_,
           .messenger = messenger_,
           .memory = memory_,
           .canonicaliser = canonicaliser_,
           .who_knows = [this](const CanonicalUrl& url) { return who_knows(url); },
           .answer_own = [this](const Step& step, const std::string& verb,
                                const nlohmann::json& body) { return answer_own(step.now, verb, body, step.out); },
           .refuse = [this](const Step& step, const ring::Message& in,
                            const std::string& cause) { refuse_message(in, cause, step.out); }}),
      budgets_(settings_, store, settings_.hosts_in_memory),
      allowance_(settings_),
      shares_(
          TransferShares::limits(settings_.fetches_max, settings_.max_domain_fetches, settings_.max_network_fetches)),
      stepped_(now),
      started_(now) {
  bench_.set_best_first(router_.best_first());
  bench_.set_earliest([this](ring::Partition partition, std::string_view host) {
    return std::max(restarted_, keeper_.held_since(partition)) + sites_.manners(host).delay;
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
    ring_ = *id;
    // Who has left holds nothing, and comes back as a newcomer does.
    const auto left = store_->meta(meta_name::left);
    if (!left) return tl::make_unexpected(error_of(left.error()));
    has_ring_ = !*left || **left != "yes";
    // After a restart no host is asked before its delay has passed since the start: what was under way then is not
    // known any more.
    restarted_ = now;
  } else if (settings_.join.empty()) {
    ring_ = start.fresh_ring;
    has_ring_ = true;
    commit.meta.emplace_back(meta_name::ring, ring_.hex());
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
  start_access(!*ring && has_ring_);
  if (has_ring_) messenger_.set_ring(ring_);
  if (*ring && !has_ring_)
    for (const auto& [peer, member] : membership_.members())
      if (peer != id() && join_.size() < join_addresses_max) join_.push_back(member.address);
  // What was left out is written as it is now, so that the next start finds nothing to leave out.
  if (*seeds) {
    const std::uint64_t dropped = counters_.rows_dropped;
    restore_seeds(**seeds);
    std::string lines;
    for (const std::string& seed : seeds_) lines += seed + "\n";
    if (counters_.rows_dropped > dropped) commit.meta.emplace_back(meta_name::seeds, std::move(lines));
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
  if (*ended && !(*ended)->empty() && !start.recrawl) {
    const std::uint64_t dropped = counters_.rows_dropped;
    restore_end(**ended);
    if (counters_.rows_dropped > dropped)
      commit.meta.emplace_back(meta_name::ended, ring::encode(messenger_.message(*ended_, {})));
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
  Commands ignored;
  add_seeds(now, {}, ignored);
  if (has_ring_) membership_.set_state(ring::MemberState::active, now);
  if (const auto written = store_->commit(commit); !written) return tl::make_unexpected(error_of(written.error()));
  membership_changed(now, ignored);
  // What went wrong meanwhile ended the peer before it began.
  for (const Command& command : ignored)
    if (const auto* end = std::get_if<Exit>(&command)) return fail(static_cast<ErrorCode>(end->code), end->message);
  // The last write: a start that fails is made again with the same pages, and must not have counted them.
  storage::Commit crashes;
  if (Result<void> noted = crashes_.restore(*store_, start.at_work, crashes); !noted) return noted;
  if (crashes.meta.empty()) return {};
  if (const auto written = store_->commit(crashes); !written) return tl::make_unexpected(error_of(written.error()));
  return {};
}

void Peer::step(Time now, Event event, Commands& out) {
  if (exited_) return;
  // A process that stood still for so long may have been given up by the others.
  if (now - stepped_ >= settings_.suspicion_time) doubt();
  stepped_ = std::max(stepped_, now);
  for (Note& healed : std::exchange(healed_, {})) out.push_back(std::move(healed));
  std::visit(Overloaded{[&](MessageEvent& message) { receive(now, message, out); },
                        [&](const FetchEnded& ended) { on_fetch_ended(now, ended, out); },
                        [&](PageDone& page) { on_page_done(now, page, out); },
                        [&](HostResolved& resolved) { on_resolved(now, resolved); },
                        [&](const StopEvent& wanted) { wanted.leave ? leave(now) : stop(); }, [](const TickEvent&) {}},
             event);
  after(now, out);
  if (!exited_) return;
  // What was said after the store had failed may tell of what is not durable.
  const auto ended = std::find_if(out.begin(), out.end(),
                                  [](const Command& command) { return std::holds_alternative<Exit>(command); });
  if (ended != out.end()) out.erase(std::next(ended), out.end());
}

void Peer::handle(Time now, MessageEvent& event, Commands& out) {
  if (handle_before_ring(now, event, out) || !has_ring_) return;
  const ring::Message& in = event.message;
  if (in.ring != ring_) {
    ++counters_.messages_refused;
    note(out, LogLevel::warning, "ring", "message of another ring",
         {{"peer", in.from.brief()}, {"ring", in.ring.hex()}}, true);
    return messenger_.reply(
        event.reply, in.from,
        ring::Refuse{"this peer belongs to ring " + ring_.hex() + ", the message to ring " + in.ring.hex(), false},
        out);
  }
  membership_.heard_from(in.from, now);
  if (membership_.find(in.from) != nullptr) spoken_[in.from] = in.version;
  handle_within_ring(now, event, out);
}

// What is taken whether or not there is a ring, and from whoever sends it. False: it is of another kind.
bool Peer::handle_before_ring(Time now, MessageEvent& event, Commands& out) {
  const ring::Message& in = event.message;
  const auto handled = Overloaded{
      [&](ring::Ask ask) {
        if (!has_ring_) ask.for_ring = false;
        if (const Result<void> asked = questions_.on_ask({now, out}, in, ask, event.reply); !asked)
          fail_for_good(asked.error(), out);
      },
      [&](const ring::Join& join) { on_join(now, in, join, event.reply, out); },
      [&](const ring::Welcome& welcome) { on_welcome(now, welcome, out); },
      [&](const ring::Answer& answer) {
        questions_.on_answer({now, out}, in, answer);
      },
      [&](const ring::Refuse& refuse) {
        ++counters_.messages_refused;
        if (refuse.join && !welcomed_ && !join_.empty())
          return exit(now, static_cast<int>(ErrorCode::mismatch), "the ring refused this peer: " + refuse.reason, out);
        note(out, LogLevel::warning, "ring", "message refused", {{"peer", in.from.brief()}, {"reason", refuse.reason}},
             true);
      },
  };
  return std::visit(Overloaded{[](const OfRing auto&) { return false; },
                               [&](const OfAnyone auto& body) {
                                 handled(body);
                                 return true;
                               }},
                    in.body);
}

void Peer::handle_within_ring(Time now, MessageEvent& event, Commands& out) {
  const ring::Message& in = event.message;
  std::vector<ring::Send> sends;
  const auto check = [&](std::uint64_t seeds, std::uint64_t tenures) {
    check_seeds(now, in.from, seeds, out);
    check_tenures(now, in.from, tenures, out);
  };
  const auto handled = Overloaded{
      [&](const ring::Ping& ping) {
        membership_.on_ping(in.from, ping, now, sends);
        // More is said of it than it knows, perhaps by another process with its identity. It is told on the connection
        // that it came by, for the address may be that other's.
        if (const ring::Member* known = membership_.find(in.from);
            known != nullptr && known->incarnation > in.incarnation)
          messenger_.reply(event.reply, in.from, ring::Sync{false, {*known}, {}}, out);
        check(ping.seeds_fingerprint, ping.tenures_fingerprint);
      },
      [&](const ring::PingRequest& request) { membership_.on_ping_request(in.from, request, now, sends); },
      [&](const ring::PingAck& ack) {
        membership_.on_ping_ack(in.from, ack, now, sends);
        check(ack.seeds_fingerprint, ack.tenures_fingerprint);
      },
      [&](const ring::Sync& sync) { on_sync(now, in, sync, event.reply, out); },
      [&](const ring::Batch& batch) { on_batch(now, in, batch, event.reply, out); },
      [&](const ring::BatchAck& ack) { on_batch_ack(now, in.from, ack.sequence, out); },
      [&](const ring::BatchRefused& refused) { on_batch_refused(now, in.from, refused, out); },
      [&](const ring::Roots& roots) {
        if (hear(now, roots.tenures, out))
          messenger_.reply(event.reply, in.from, keeper_.on_roots(in.from, roots, view_), out);
      },
      [&](const ring::RootsCompared& compared) {
        keeper_.on_compared(in.from, compared, now);
        hear(now, compared.tenures, out);
      },
      [&](const ring::Leaves& leaves) { on_leaves(in, leaves, event.reply, out); },
      [&](const ring::LeavesDiffer& differ) { keeper_.on_leaves_differ(in.from, differ); },
      [&](const ring::WaveProbe& probe) { on_wave_probe(now, in, probe, event.reply, out); },
      [&](const ring::WaveReply& wave) { waves_.on_reply(in.from, wave); },
      [&](const ring::Finish& finish) { on_finish(now, in, finish, event.reply, out); },
      [&](const ring::FinishAck&) {
        if (membership_.find(in.from) != nullptr) finish_acks_.insert(in.from);
      },
      [&](const ring::TurnRequest& request) {
        access_->on_request({now, out}, in, request, event.reply);
      },
      [&](const ring::Turns& answer) { access_->on_answer(now, in.from, answer); },
      [&](const ring::Sightings& sightings) {
        if (const Result<void> heard = mirrors_.on_sightings({now, out}, sightings); !heard)
          fail_for_good(heard.error(), out);
      },
      [&](const ring::SamePages& same) {
        if (const Result<void> heard = mirrors_.on_same_pages({now, out}, same); !heard)
          fail_for_good(heard.error(), out);
      },
  };
  std::visit(Overloaded{[&](const OfRing auto& body) { handled(body); }, [](const OfAnyone auto&) {}}, in.body);
  messenger_.send_all(sends, out);
}

// Everything that time or the last event has made due, in one order.
void Peer::after(Time now, Commands& out) {
  if (exited_) return;
  if (has_ring_) {
    std::vector<ring::Send> sends;
    membership_.tick(now, sends);
    messenger_.send_all(sends, out);
  }
  // The other one was there first: no farewell, it would be taken for that one's.
  if (const auto other = membership_.duplicate(); other && !exit_at_) {
    leaving_ = false;
    return exit(now, static_cast<int>(ErrorCode::in_use),
                "a peer with this peer's identity is running at " + *other +
                    ": was its data directory copied? Start this one with a new directory",
                out);
  }
  if (membership_.version() != seen_version_) membership_changed(now, out);
  join_tick(now, out);
  if (has_ring_) {
    auto own = forwarder_.take_own(view_, own_outbox_step);
    if (!own) return fail_for_good(own.error(), out);
    if (!own->empty()) {
      storage::Commit commit;
      for (const storage::OutboxEntry& entry : *own) {
        commit.from_outbox.push_back(entry.key);
        auto record = storage::decode_record(entry.record);
        const auto url = record ? canonicaliser_.parse(record->url) : fail(ErrorCode::io, "unreadable outbox entry");
        if (!url) continue;
        router_.limit(*record, now);
        const storage::UrlKey key{partitioner_.host_key(*url), url->digest()};
        walk_.visit_if_newer(key, *record);
        trap_judge_.judge(key, *url, *record);
        const bool link = is_link(*record);
        commit.merges.push_back({key, std::move(*record), link});
      }
      if (!apply(now, commit, out)) return;
    }
    if (!commit_piece(now, out)) return;
    first_seeds_tick(now, out);
    if (!admit_own_seeds(now, out)) return;
    if (!partitions_tick(now, out)) return;
    if (may_walk())
      if (const Result<void> walked = walk_.walk_on({now, out}); !walked) return fail_for_good(walked.error(), out);
    issue_fetches(now, out);
    if (exited_) return;
    access_->tick({now, out});
    if (const Result<void> told = mirrors_.tick({now, out}); !told) return fail_for_good(told.error(), out);
    std::vector<Forwarder::Out> batches;
    if (Result<void> formed = forwarder_.tick(now, view_, batches); !formed) return fail_for_good(formed.error(), out);
    copier_.tick(
        now, view_, keeper_.tenures(), forwarder_.safe(), [this] { return forwarder_.new_sequence(); }, batches);
    for (Forwarder::Out& batch : batches) messenger_.send(batch.to, std::move(batch.batch), out);
    waves_tick(now, out);
    leave_tick(now, out);
  }
  questions_.tick({now, out});
  if (stopping_ && jobs_.empty() && !exit_at_)
    exit(now, 0, "stopped; the crawl goes on where it was when this directory is started again", out);
  say_farewell(now, out);
  if (exit_at_ && now >= *exit_at_) {
    exited_ = true;
    out.push_back(exit_);
  }
}

Time Peer::next_deadline(Time now) const {
  Time at = now + idle_wait;
  const auto consider = [&](std::optional<Time> other) {
    if (other) at = std::min(at, *other);
  };
  if (has_ring_) {
    consider(membership_.next_deadline());
    consider(forwarder_.next_deadline());
    consider(copier_.next_deadline());
    if (!view_.empty()) consider(keeper_.next_deadline());
    if (leaving_ && !exit_at_) consider(leave_by_);
    if (!confirmed_) consider(next_question_);
    if (may_walk() || !in_pieces_.empty()) at = now;
    // Only what after() would act upon: a deadline that nothing serves is a loop that never sleeps.
    if (!exit_at_ && waves_wanted()) consider(waves_.next_deadline());
    consider(access_->next_deadline());
    consider(mirrors_.next_deadline());
    if (may_fetch() && jobs_.size() < settings_.fetches_max && allowance_.may_start()) {
      consider(bench_.next_deadline());
      if (!parsed_.empty() || (!parse_next_.empty() && parsing_may_start())) at = now;
    }
  }
  if (!welcomed_ && !join_.empty() && !stopping_ && !exit_at_) consider(next_join_);
  consider(questions_.next_deadline());
  consider(exit_at_);
  if (exit_at_ && membership_.self().state == ring::MemberState::left) consider(next_farewell_);
  return std::max(at, now);
}

// A filter for links, when one is asked for; filled from what the store has.
Result<void> Peer::start_filter() {
  if (settings_.seen != SeenSet::bloom) return {};
  if (storage::Result<void> filled = store_->use_filter(seen_filter_config(settings_)); !filled)
    return tl::make_unexpected(error_of(filled.error()));
  return {};
}

// Commits, and tells the parts in memory what came of it. False: the store failed, the peer is on its way out.
bool Peer::apply(Time now, const storage::Commit& commit, Commands& out, storage::CommitResult* result,
                 const storage::UrlKey* outcome) {
  if (exited_) return false;  // the store failed earlier in this step
  applying_ = true;
  auto done = store_->commit(commit);
  if (!done) {
    applying_ = false;
    fail_for_good(error_of(done.error()), out);
    return false;
  }
  for (const storage::NewlyQueued& queued : done->queued)
    bench_.admit(queued.url, host_of(queued.url.url), queued.moved);
  for (const storage::UrlKey& key : done->unqueued) bench_.withdraw(key);
  if (const storage::SeenFilter* filter = store_->filter();
      filter != nullptr && filter->overfull() && !overfull_told_) {
    overfull_told_ = true;
    note(out, LogLevel::warning, "crawl", "the seen-set's filter holds more than it was planned for and may lose more",
         {{"seen_urls", std::to_string(settings_.seen_urls)},
          {"mend", "start this peer again with a larger seen_urls, or with seen = exact"}});
  }
  forwarder_.taken_out(commit.from_outbox);
  copy_changes(now, *done, outcome);
  copy_long_waits(now, commit);
  applying_ = false;
  if (result != nullptr) *result = std::move(*done);
  return true;
}

Result<storage::CommitResult> Peer::write(const Step& step, const storage::Commit& commit) {
  storage::CommitResult result;
  if (!apply(step.now, commit, step.out, &result)) return fail(ErrorCode::io, "the store cannot be written");
  return result;
}

// The store or the archive cannot be written: nothing more is taken on, what is durable stays, the process ends and
// says why. Nothing that this step would have said leaves: it may tell of what is not durable.
void Peer::fail_for_good(const Error& error, Commands& out) {
  if (exited_) return;
  exited_ = true;
  std::erase_if(out, [](const Command& command) { return !std::holds_alternative<Note>(command); });
  note(out, LogLevel::error, "node", "cannot go on", {{"cause", error.message}});
  out.push_back(Exit{static_cast<int>(error.code), error.message, false, {}});
}

// Hands everything over, then ends; without anybody to hand over to, or after leave_timeout, ends as it is.
// Ends a leave too: what was not handed over stays here, and comes back with this directory.
void Peer::stop() {
  stopping_ = true;
  leaving_ = false;
}

void Peer::leave(Time now) {
  if (leaving_) return;
  leaving_ = true;
  leave_by_ = now + settings_.leave_timeout;
  if (membership_.self().state < ring::MemberState::leaving) membership_.set_state(ring::MemberState::leaving, now);
}

// The process ends once the last words to the others are sent. Who leaves says so; who stops keeps its partitions and
// comes back.
void Peer::exit(Time now, int code, std::string message, Commands& out) {
  if (exit_at_) return;
  exit_ = Exit{code, std::move(message), false, {}};
  exit_at_ = now + last_words;
  if (!leaving_ || !has_ring_) return;
  storage::Commit left;
  left.meta.emplace_back(meta_name::left, "yes");
  if (store_->counts().discovered() == 0 && !apply(now, left, out)) return;
  membership_.set_state(ring::MemberState::left, now);
  if (reachable_members().size() > 0) exit_at_ = now + farewell_max;
  say_farewell(now, out);
}

// Who leaves is gone only when someone has heard it: for the others a peer that is silent is down, and waited for.
void Peer::say_farewell(Time now, Commands& out) {
  if (membership_.self().state != ring::MemberState::left || now < next_farewell_) return;
  next_farewell_ = now + farewell_every;
  for (const ring::PeerId& member : reachable_members())
    if (member != id()) messenger_.send(member, membership_.sync_message(true), out);
}

// The crawl has ended: every peer of the ring ends with the same totals, and keeps its partitions for a later run.
void Peer::finish(Time now, std::string reason, std::map<std::string, std::uint64_t> totals, Commands& out) {
  if (exit_at_) return;
  note(out, LogLevel::info, "crawl", "crawl ended", {{"reason", reason}});
  exit_ = Exit{0, std::move(reason), true, std::move(totals)};
  exit_at_ = now + last_words;
}

void Peer::note(Commands& out, LogLevel level, std::string_view channel, std::string_view event,
                std::vector<std::pair<std::string_view, std::string>> fields, bool limited) const {
  out.push_back(Note{level, channel, event, std::move(fields), limited});
}

}  // namespace orbweaver
