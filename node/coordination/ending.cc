#include "node/coordination/ending.h"

#include <algorithm>

#include "node/crawl/lead_text.h"
#include "node/try.h"

namespace orbweaver {

namespace {

constexpr Duration tell_every = std::chrono::milliseconds{300};
// No transport holds a message longer; a wave whose number is lower than the last after that is not a late copy, but
// the last one's number was not true.
constexpr Duration late_copy_max = std::chrono::minutes{1};

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
               RecordWriter& writer, CrawlEnd& end, Farewell& farewell)
    : state_(&state),
      members_(&members),
      messenger_(&messenger),
      lifecycle_(&lifecycle),
      writer_(&writer),
      end_(&end),
      farewell_(&farewell),
      detector_(detector_config(state.settings)) {}

std::optional<std::string> Ending::fault(Time now, const ring::WaveProbe& probe) const {
  const std::int64_t ahead = (now + ring::clock_lead_max).time_since_epoch().count();
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(ahead, 0));
  if (probe.wave <= most && probe.grant_sequence <= most) return std::nullopt;
  return "its wave is more than " + lead_text() + " ahead";
}

bool Ending::hear(Time now, const ring::PeerId& from, const ring::WaveProbe& probe,
                  std::optional<std::uint64_t>& granted) {
  if (from == last_wave_from_ && probe.wave < last_wave_ && now - last_wave_at_ < late_copy_max) return false;
  if (from != last_wave_from_ || probe.wave < last_wave_) grant_heard_ = 0;
  last_wave_from_ = from;
  last_wave_ = probe.wave;
  last_wave_at_ = now;
  if (probe.grant_sequence > grant_heard_) {
    grant_heard_ = probe.grant_sequence;
    granted = probe.grant_pages;
  }
  return true;
}

// On disk before another hears that this peer knows it: started again, it does not wait for others that have ended.
Result<void> Ending::remember(const Step& step, const ring::Finish& finish) {
  if (end_->announced()) return {};
  storage::Commit commit;
  end_->remember(finish, commit);
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> Ending::hear(const Step& step, const ring::PeerId& from, const ring::Finish& finish,
                          const ring::ReplyPath& reply) {
  ORBWEAVER_TRY(remember(step, finish));
  messenger_->reply(reply, from, ring::FinishAck{finish.wave}, step.out);
  // A peer that found it itself ends when all have heard.
  if (!found()) farewell_->finish(step, finish.reason, finish.totals);
  return {};
}

void Ending::acknowledged(const ring::PeerId& from) {
  if (members_->membership().find(from) != nullptr) acknowledged_.insert(from);
}

void Ending::tell_newcomer(const Step& step, const ring::PeerId& from, const ring::ReplyPath& reply) const {
  if (lifecycle_->crawl_finished() && end_->announced() && !acknowledged_.contains(from))
    messenger_->reply(reply, from, *end_->announced(), step.out);
}

// Nobody is missing who may have work.
bool Ending::complete(Time now) const {
  const auto& members = members_->membership().members();
  return std::none_of(members.begin(), members.end(), [&](const auto& entry) {
    return entry.second.state == ring::MemberState::joining || members_->waited_for(entry.first, now);
  });
}

// One that looks dead only now may hear it yet, on a bad network. With one copy of everything it would come back, find
// no peer, and wait for this one forever: it is given the time in which it may come back.
std::vector<ring::PeerId> Ending::waiting(Time now) const {
  const Settings& settings = state_->settings;
  const Duration patience =
      std::max(2 * settings.suspicion_time, settings.replicas < 2 ? settings.presume_dead_after : Duration{});
  std::vector<ring::PeerId> waiting;
  for (const ring::PeerId& peer : told_) {
    const ring::Member* member = members_->membership().find(peer);
    const bool may_hear =
        member != nullptr &&
        (ring::reachable(*member) || (member->state == ring::MemberState::down && now - found_at_ < patience));
    if (peer != state_->id && may_hear && !acknowledged_.contains(peer)) waiting.push_back(peer);
  }
  return waiting;
}

Result<void> Ending::tell(const Step& step, const TerminationDetector::End& end) {
  const ring::Finish finish{end.wave, end.reason, end.totals};
  ORBWEAVER_TRY(remember(step, finish));
  if (told_.empty()) {
    told_ = members_->reachable();
    found_at_ = step.now;
  }
  const std::vector<ring::PeerId> waiting = this->waiting(step.now);
  if (waiting.empty()) {
    farewell_->finish(step, end.reason, end.totals);
    return {};
  }
  if (step.now < next_word_) return {};
  next_word_ = step.now + tell_every;
  for (const ring::PeerId& member : waiting) messenger_->send(member, finish, step.out);
  return {};
}

Result<std::optional<std::uint64_t>> Ending::tick(const Step& step, const Own& own) {
  if (lifecycle_->ending()) return std::nullopt;
  const std::vector<ring::PeerId> members = members_->reachable();
  // The crawl had ended when this peer last ran, and no peer is there that has taken it up again.
  if (!found() && end_->announced() && state_->settings.stop_when_done && members.size() == 1 && own.rests) {
    farewell_->finish(step, end_->announced()->reason, end_->announced()->totals);
    return std::nullopt;
  }
  std::optional<std::uint64_t> granted;
  if (!found()) {
    if (!own.sends_waves) return std::nullopt;
    std::vector<TerminationDetector::Probe> probes;
    detector_.tick(step.now, state_->id, members,
                   complete(step.now) && !lifecycle_->stopping() && !lifecycle_->leaving(),
                   members_->view().ring().fingerprint(), own.reply(), probes);
    for (TerminationDetector::Probe& probe : probes) messenger_->send(probe.to, probe.probe, step.out);
    granted = detector_.own_grant();
  }
  if (const auto end = detector_.end()) ORBWEAVER_TRY(tell(step, *end));
  return granted;
}

}  // namespace orbweaver
