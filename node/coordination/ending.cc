#include "node/coordination/ending.h"

#include <algorithm>

#include "node/try.h"

namespace orbweaver {

namespace {

constexpr Duration tell_every = std::chrono::milliseconds{300};
constexpr Duration question_every = std::chrono::seconds{1};
// Of another peer's reason, in a log.
constexpr std::size_t max_reason_bytes = 200;
// No transport delays a message longer. After that, a wave whose number is lower than the last is not a late copy: the
// last one's number was wrong, or its sender has an older copy of its directory.
constexpr Duration max_late_copy = std::chrono::minutes{1};

TerminationDetector::Config detector_config(const Settings& s) {
  TerminationDetector::Config config;
  config.max_pages = s.max_pages;
  config.max_bytes = s.max_bytes;
  config.stop_when_done = s.stop_when_done;
  config.partitions = s.partitions;
  return config;
}

}  // namespace

Ending::Ending(const PeerState& state, const Members& members, const Messenger& messenger, const Lifecycle& lifecycle,
               RecordWriter& writer, AnnouncedEnd& end, Farewell& farewell)
    : state_(&state),
      members_(&members),
      messenger_(&messenger),
      lifecycle_(&lifecycle),
      writer_(&writer),
      end_(&end),
      farewell_(&farewell),
      detector_(detector_config(state.settings), RisingNumber(state.life)) {}

std::optional<std::string> Ending::fault(const ring::PeerId& from, const ring::WaveProbe& probe) const {
  const ring::Member* const member = members_->membership().find(from);
  if (member == nullptr || RisingNumber::life_of(probe.wave) <= member->incarnation / ring::incarnations_a_life)
    return std::nullopt;
  return "its wave is of a later life than its sender's";
}

bool Ending::hear(Time now, const ring::PeerId& from, const ring::WaveProbe& probe,
                  std::optional<std::uint64_t>& granted) {
  if (from == last_wave_from_ && probe.wave < last_wave_ && now - last_wave_at_ < max_late_copy) return false;
  // A grant was made from one reply. Who has replied to another wave since, to whichever peer, may have returned what
  // the grant counts on, and others may have it now.
  if (probe.grant_wave != 0 && from == last_wave_from_ && probe.grant_wave == last_wave_ && probe.wave > last_wave_)
    granted = probe.grant_pages;
  last_wave_from_ = from;
  last_wave_ = probe.wave;
  last_wave_at_ = now;
  return true;
}

void Ending::note_reply(const ring::PeerId& to, const ring::WaveReply& reply) {
  // The waves may have counted another answer to the same probe.
  const bool repeated = replied_ && replied_to_ == to && replied_->wave == reply.wave;
  if (repeated && !same_state(*replied_, reply)) return replied_.reset();
  replied_ = reply;
  replied_to_ = to;
}

Result<void> Ending::write(const Step& step, const std::function<void(storage::Commit&)>& change) {
  storage::Commit commit;
  change(commit);
  // The others may end by it, and be gone: a power cut must not make this peer forget it.
  commit.synced = !members_->others().empty();
  if (!commit.meta.empty()) ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> Ending::reopen(const Step& step) {
  return write(step, [this](storage::Commit& commit) { end_->reopen(commit); });
}

// ---- an end that another peer brings ----

// Of an agreement alone: work may have come to a peer that is gone, and be on this disk in a copy, or in a partition
// that this peer has not taken over because of the agreement. A limit leaves URLs queued.
bool Ending::undisturbed(const Own& own) const {
  if (!own.rests || !end_->agreed()) return own.rests;
  const auto queued = end_->agreed()->totals.find("queued");
  const bool by_limit = queued != end_->agreed()->totals.end() && queued->second > 0;
  return by_limit || own.queued() == 0;
}

std::string Ending::objection(const ring::PeerId& from, const ring::Finish& finish, const Own& own) const {
  if (lifecycle_->crawl_finished()) return {};
  const auto& members = members_->membership().members();
  const ring::WaveReply state = own.reply();
  const bool same_directives = state.directives_fingerprint == finish.directives_fingerprint;
  if (own.holds_nothing && same_directives) return {};
  if (end_->knows(finish.by, finish.wave)) return undisturbed(own) ? "" : "it has new work";
  if (finish.stage == ring::EndStage::decided) {
    if (!same_directives) return "it has other seeds or orders";
    if (!state.passive) return "it has work";
    return state.tenures_fingerprint == finish.tenures_fingerprint ? "" : "other peers hold what it knows";
  }
  if (!replied_ || replied_to_ != from || replied_->wave != finish.wave) return "it did not answer that wave";
  if (!same_state(*replied_, state)) return "it has new work";
  const bool joins = std::any_of(members.begin(), members.end(),
                                 [](const auto& entry) { return entry.second.state == ring::MemberState::joining; });
  return joins ? "a peer is joining" : "";
}

void Ending::answer(const Step& step, const ring::PeerId& from, const ring::Finish& finish,
                    const ring::ReplyPath& reply, std::string why) const {
  const bool agrees = why.empty();
  messenger_->reply(reply, from, ring::FinishAck{finish.wave, finish.stage, finish.by, agrees, std::move(why), false},
                    step.out);
}

// What it agrees to, and what it learns, is on disk before another peer learns that.
Result<void> Ending::hear(const Step& step, const ring::PeerId& from, const ring::Finish& finish,
                          const ring::ReplyPath& reply, const Own& own) {
  if (finish.stage == ring::EndStage::taken_back) {
    if (!end_->knows(finish.by, finish.wave) || lifecycle_->ending()) return {};
    if (round_ && (round_->own || end_->announced())) return {};
    round_.reset();
    return reopen(step);
  }
  // The process ends for another reason: whether its state is that of the end, its next life knows.
  if (lifecycle_->ending() && !lifecycle_->crawl_finished()) return {};
  if (own.starting && !own.holds_nothing && !lifecycle_->ending()) return {};  // the question is repeated
  std::string why = objection(from, finish, own);
  if (!why.empty()) {
    if (end_->knows(finish.by, finish.wave) && !round_) ORBWEAVER_TRY(reopen(step));
    answer(step, from, finish, reply, std::move(why));
    return {};
  }
  if (finish.stage == ring::EndStage::proposed) {
    ORBWEAVER_TRY(write(step, [&](storage::Commit& commit) { end_->agree(finish, commit); }));
    next_question_ = step.now + question_every;
    answer(step, from, finish, reply, {});
    return {};
  }
  ORBWEAVER_TRY(write(step, [&](storage::Commit& commit) { end_->remember(finish, commit); }));
  answer(step, from, finish, reply, {});
  // The peer that decided an end itself ends when all have acknowledged it.
  if (!round_ || !round_->decided) farewell_->finish(step, finish.reason, finish.totals);
  return {};
}

void Ending::tell_newcomer(const Step& step, const ring::PeerId& from, const ring::ReplyPath& reply) const {
  if (lifecycle_->crawl_finished() && end_->announced() && !acknowledged_.contains(from))
    messenger_->reply(reply, from, *end_->announced(), step.out);
}

// No member is missing that may have work.
bool Ending::complete(Time now) const {
  const std::vector<ring::PeerId>& down = members_->down();
  return !members_->any_joins() && std::none_of(down.begin(), down.end(), [&](const ring::PeerId& peer) {
    return members_->waited_for(peer, now);
  });
}

bool Ending::lowest() const {
  const std::vector<ring::PeerId>& members = members_->reachable();
  return !members.empty() && members.front() == state_->id;
}

// ---- an end that this peer brings ----

void Ending::answer_question(const Step& step, const ring::PeerId& from, const ring::FinishAck& ack,
                             const ring::ReplyPath& reply) const {
  ring::Finish known{.wave = ack.wave, .reason = {}, .totals = {}, .stage = ring::EndStage::taken_back, .by = ack.by};
  if (round_ && round_->end.by == ack.by && round_->end.wave == ack.wave) {
    known = round_->end;
  } else if (end_->knows(ack.by, ack.wave)) {
    if (!lifecycle_->crawl_finished()) return;  // it asks itself, or will ask all
    known = *end_->announced();
  }
  messenger_->reply(reply, from, std::move(known), step.out);
}

Result<void> Ending::hear(const Step& step, const ring::PeerId& from, const ring::FinishAck& ack,
                          const ring::ReplyPath& reply) {
  if (members_->membership().find(from) == nullptr) return {};
  if (ack.asks) {
    if (ack.stage == ring::EndStage::decided && end_->agreed() && end_->knows(ack.by, ack.wave))
      return write(step, [this](storage::Commit& commit) { end_->remember(ring::Finish(*end_->agreed()), commit); });
    answer_question(step, from, ack, reply);
    return {};
  }
  if (lifecycle_->crawl_finished() && ack.agrees) acknowledged_.insert(from);
  if (!round_ || ack.by != round_->end.by || ack.wave != round_->end.wave || ack.stage != round_->end.stage) return {};
  if (std::find(round_->members.begin(), round_->members.end(), from) == round_->members.end()) return {};
  if (!ack.agrees)
    return lifecycle_->ending() ? Result<void>()
                                : take_back(step, from.brief() + ": " + ack.reason.substr(0, max_reason_bytes));
  (round_->decided ? acknowledged_ : round_->agreed).insert(from);
  return {};
}

void Ending::begin(const ring::Finish& end, std::optional<ring::WaveReply> own) {
  round_ = Round{};
  round_->end = end;
  round_->end.stage = ring::EndStage::proposed;
  round_->own = std::move(own);
  round_->members = members_->others();
  acknowledged_.clear();
}

Result<void> Ending::take_back(const Step& step, const std::string& why) {
  step.log(LogLevel::info, "crawl", "the end is taken back", {{"reason", why}}, true);
  ring::Finish end = round_->end;
  end.stage = ring::EndStage::taken_back;
  for (const ring::PeerId& member : round_->members) messenger_->send(member, end, step.out);
  round_.reset();
  acknowledged_.clear();
  detector_.take_back(step.now);
  return end_->knows(end.by, end.wave) ? reopen(step) : Result<void>();  // it may have agreed to another's meanwhile
}

// Why an end that was proposed is none; empty: nothing is in the way.
std::string Ending::obstacle(Time now, const Own& own) const {
  if (!round_->own) return end_->known() && undisturbed(own) ? "" : "this peer has new work";
  if (lifecycle_->stopping() || lifecycle_->leaving()) return "this peer goes";
  if (!same_state(*round_->own, own.reply())) return "this peer has new work";
  return round_->members == members_->others() && lowest() && complete(now) ? "" : "the members have changed";
}

Result<void> Ending::go_on(const Step& step, const Own& own) {
  Round& round = *round_;
  if (round.decided) return tell(step);
  const bool agreed_alone = !round.own && end_->agreed();
  const bool not_its_own = agreed_alone && (!end_->knows(round.end.by, round.end.wave) || !lowest());
  if (not_its_own || (!round.own && lifecycle_->stopping())) {
    round_.reset();  // others may know how far that end is, or this peer's next life asks again
    return {};
  }
  if (!round.own && own.starting) {  // it stood still; the decision stays
    round.next_word = step.now + tell_every;
    return {};
  }
  if (const std::string why = obstacle(step.now, own); !why.empty()) return take_back(step, why);
  // Those that are gone may have ended with it in an earlier life of this peer.
  if (!round.own) round.members = members_->others();
  std::vector<ring::PeerId> open;
  for (const ring::PeerId& member : round.members)
    if (!round.agreed.contains(member)) open.push_back(member);
  if (open.empty() && agreed_alone && !complete(step.now)) {
    round.next_word = step.now + tell_every;
    return {};
  }
  if (open.empty()) {
    round.end.stage = ring::EndStage::decided;
    ORBWEAVER_TRY(write(step, [&](storage::Commit& commit) { end_->remember(round.end, commit); }));
    round.decided = true;
    round.decided_at = step.now;
    round.next_word = step.now;
    return tell(step);
  }
  if (step.now < round.next_word) return {};
  round.next_word = step.now + tell_every;
  for (const ring::PeerId& member : open) messenger_->send(member, round.end, step.out);
  return {};
}

// On a bad network, a member that only now looks dead may still receive it. With one copy of everything, it would come
// back, find no peer, and wait for this one forever: so it gets the time in which it may come back. One that is silent
// for that long has ended, and its answer was lost; where answers are often late, it counts as down only much later.
std::vector<ring::PeerId> Ending::waiting(const Round& round, Time now) const {
  const Settings& settings = state_->settings;
  const Duration patience =
      std::max(2 * settings.suspicion_time, settings.replicas < 2 ? settings.presume_dead_after : Duration{});
  std::vector<ring::PeerId> waiting;
  for (const ring::PeerId& peer : round.members) {
    const ring::Member* member = members_->membership().find(peer);
    const bool answers = member != nullptr && ring::reachable(*member) && !member->suspect;
    const bool may_come = member != nullptr && (ring::reachable(*member) || member->state == ring::MemberState::down);
    const bool may_hear = answers || (may_come && now - round.decided_at < patience);
    if (may_hear && !acknowledged_.contains(peer)) waiting.push_back(peer);
  }
  return waiting;
}

Result<void> Ending::tell(const Step& step) {
  Round& round = *round_;
  const std::vector<ring::PeerId> waiting = this->waiting(round, step.now);
  if (waiting.empty()) {
    farewell_->finish(step, round.end.reason, round.end.totals);
    return {};
  }
  if (step.now < round.next_word) return {};
  round.next_word = step.now + tell_every;
  for (const ring::PeerId& member : waiting) messenger_->send(member, round.end, step.out);
  return {};
}

// ---- what is due ----

// An end that an earlier life of this peer knew, or that it agreed to and has heard nothing more of.
Result<void> Ending::resolve(const Step& step, const Own& own) {
  if (own.starting || (!end_->announced() && !end_->agreed())) return {};
  if (!undisturbed(own)) return reopen(step);
  const bool decided = end_->announced().has_value();
  if (decided && !state_->settings.stop_when_done) return {};
  if (!lowest()) {
    if (step.now < next_question_) return {};
    next_question_ = step.now + question_every;
    const ring::Finish& end = decided ? *end_->announced() : *end_->agreed();
    messenger_->send(members_->reachable().front(), ring::FinishAck{end.wave, end.stage, end.by, true, {}, true},
                     step.out);
    return {};
  }
  // One that leaves asks too: until the end is decided or taken back its partitions cannot go.
  if (lifecycle_->stopping()) return {};
  if (!decided) end_->release();
  begin(*end_->known(), std::nullopt);
  return {};
}

Result<std::optional<std::uint64_t>> Ending::search(const Step& step, const Own& own) {
  if (!own.sends_waves) return std::nullopt;
  std::vector<TerminationDetector::Probe> probes;
  detector_.tick(step.now, state_->id, members_->reachable(),
                 complete(step.now) && !lifecycle_->stopping() && !lifecycle_->leaving(),
                 members_->view().ring().fingerprint(), own.reply(), probes);
  for (TerminationDetector::Probe& probe : probes) messenger_->send(probe.to, probe.probe, step.out);
  const auto granted = detector_.own_grant();
  if (const auto found = detector_.end()) {
    const ring::Finish end{.wave = found->wave,
                           .reason = found->reason,
                           .totals = found->totals,
                           .by = state_->id,
                           .tenures_fingerprint = found->own.tenures_fingerprint,
                           .directives_fingerprint = found->own.directives_fingerprint};
    // A peer that dies now, and comes back when the others have decided, must know of it.
    ORBWEAVER_TRY(write(step, [&](storage::Commit& commit) { end_->agree(end, commit); }));
    begin(end, found->own);
  }
  return granted;
}

Result<std::optional<std::uint64_t>> Ending::tick(const Step& step, const Own& own) {
  if (lifecycle_->ending()) return std::nullopt;
  if (!round_) ORBWEAVER_TRY(resolve(step, own));
  std::optional<std::uint64_t> granted;
  if (!round_ && (!end_->announced() || !state_->settings.stop_when_done)) {
    auto found = search(step, own);
    if (!found) return found;
    granted = *found;
  }
  if (round_) ORBWEAVER_TRY(go_on(step, own));
  return granted;
}

std::optional<Time> Ending::next_deadline(bool sends_waves) const {
  if (lifecycle_->ending()) return std::nullopt;
  if (round_) return round_->next_word;
  return sends_waves ? detector_.next_deadline() : std::nullopt;
}

}  // namespace orbweaver
