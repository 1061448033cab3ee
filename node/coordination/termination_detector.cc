#include "node/coordination/termination_detector.h"

#include <algorithm>

namespace orbweaver {

namespace {

// Maximum pages that one wave grants a peer; under a limit of bytes few, because each may be a large one.
constexpr std::uint64_t max_share = 4096;
constexpr std::uint64_t max_share_by_bytes = 32;

std::uint64_t count(const ring::WaveReply& reply, const std::string& name) {
  const auto found = reply.counts.find(name);
  return found == reply.counts.end() ? 0 : found->second;
}

bool same_counts(const ring::WaveReply& a, const ring::WaveReply& b) {
  return a.life == b.life && a.sent == b.sent && a.received == b.received && a.ring_fingerprint == b.ring_fingerprint &&
         a.tenures_fingerprint == b.tenures_fingerprint && a.directives_fingerprint == b.directives_fingerprint;
}

}  // namespace

void TerminationDetector::begin(Time now, const std::vector<ring::PeerId>& members) {
  wave_ = waves_.next();
  under_way_ = true;
  if (!first_) first_ = now;
  sent_ = now;
  members_ = members;
  replies_.clear();
}

// Those that have not replied yet. A probe that is sent again has the wave's number again: whichever copy is answered,
// the answer is of this wave.
void TerminationDetector::ask(const ring::PeerId& self, std::uint64_t ring_fingerprint, std::vector<Probe>& out) const {
  for (const ring::PeerId& member : members_) {
    if (member == self || replies_.contains(member)) continue;
    ring::WaveProbe probe{.wave = wave_, .ring_fingerprint = ring_fingerprint};
    if (const auto grant = grants_.find(member); grant != grants_.end()) {
      probe.grant_wave = grant->second.wave;
      probe.grant_pages = grant->second.cap;
    }
    out.push_back({member, probe});
  }
}

void TerminationDetector::tick(Time now, const ring::PeerId& self, const std::vector<ring::PeerId>& members,
                               bool complete, std::uint64_t ring_fingerprint, const ring::WaveReply& own,
                               std::vector<Probe>& out) {
  own_grant_.reset();
  const bool lowest = !members.empty() && members.front() == self;
  active_ = lowest && complete && !end_ && (config_.stop_when_done || limited());
  if (!active_) {
    under_way_ = false;
    last_passive_.clear();
    grants_.clear();
    return;
  }
  if (under_way_ && members != members_) under_way_ = false;  // begun again below
  if (!under_way_) {
    // One that is alone knows at once that it has nothing left.
    if (own.passive && members.size() == 1) next_ = std::min(next_, evaluated_ + config_.quick);
    if (now < next_ && members == members_) return;
    begin(now, members);
    ask(self, ring_fingerprint, out);
  } else if (now - sent_ >= config_.resend) {
    sent_ = now;
    ask(self, ring_fingerprint, out);
  }
  replies_[self] = own;
  if (replies_.size() == members_.size()) evaluate(now, self);
}

void TerminationDetector::on_reply(const ring::PeerId& from, const ring::WaveReply& reply) {
  if (!under_way_ || reply.wave != wave_) return;
  if (std::find(members_.begin(), members_.end(), from) == members_.end()) return;
  replies_[from] = reply;
}

void TerminationDetector::evaluate(Time now, const ring::PeerId& self) {
  under_way_ = false;
  grants_.clear();  // all have received them
  bool all_passive = true;
  bool one_view = true;
  bool unchanged = last_passive_.size() == replies_.size();
  bool wanting = false;
  std::uint64_t pages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t partitions = 0;
  for (const auto& [peer, reply] : replies_) {
    all_passive = all_passive && reply.passive;
    one_view = one_view && reply.ring_fingerprint == replies_.at(self).ring_fingerprint &&
               reply.tenures_fingerprint == replies_.at(self).tenures_fingerprint &&
               reply.directives_fingerprint == replies_.at(self).directives_fingerprint;
    partitions += count(reply, "partitions");
    const auto before = last_passive_.find(peer);
    unchanged = unchanged && before != last_passive_.end() && same_counts(before->second, reply);
    wanting = wanting || count(reply, "wants") > 0;
    pages += count(reply, "fetched");
    bytes += count(reply, "bytes");
  }
  // Every partition is counted by its holder, and by no other peer.
  one_view = one_view && partitions == config_.partitions;
  evaluated_ = now;
  next_ = now + (all_passive || wanting ? config_.quick : slow(now));
  const bool no_pages = config_.max_pages > 0 && pages >= config_.max_pages;
  const bool limit_reached = no_pages || (config_.max_bytes > 0 && bytes >= config_.max_bytes);
  // A peer that only lacks pages to spend is passive; that is an end only when the limit is reached.
  if (!all_passive || !one_view || (wanting && !limit_reached)) {
    last_passive_.clear();
    if (limited() && one_view) share_out(self);
    return;
  }
  if (!unchanged) {
    last_passive_ = replies_;
    return;
  }
  if (!config_.stop_when_done) return;
  End end;
  end.wave = wave_;
  end.own = replies_.at(self);
  end.reason = no_pages        ? "the page limit is reached"
               : limit_reached ? "the byte limit is reached"
                               : "nothing is left to fetch";
  for (const auto& [peer, reply] : replies_)
    for (const auto& [name, value] : reply.counts) end.totals[name] += value;
  end_ = std::move(end);
}

// A short crawl ends soon after its last page, and a long one is not asked often.
Duration TerminationDetector::slow(Time now) const {
  const Duration least = std::max(config_.quick, config_.per_member * static_cast<std::int64_t>(members_.size()));
  return std::clamp((now - first_.value_or(now)) / 8, std::min(least, config_.slow), config_.slow);
}

void TerminationDetector::take_back(Time now) {
  end_.reset();
  last_passive_.clear();
  next_ = evaluated_ = now + config_.slow;
}

// What is neither fetched nor in the cap of any peer is shared among the peers that want pages, a part at a time, so
// that the last pages go where the work is.
void TerminationDetector::share_out(const ring::PeerId& self) {
  std::uint64_t granted = 0;
  std::uint64_t bytes = 0;
  std::vector<ring::PeerId> wanting;
  for (const auto& [peer, reply] : replies_) {
    granted += count(reply, "fetched") + count(reply, "unspent");
    bytes += count(reply, "bytes");
    if (count(reply, "wants") > 0) wanting.push_back(peer);
  }
  if (config_.max_bytes > 0 && bytes >= config_.max_bytes) return;
  const std::uint64_t most = config_.max_bytes > 0 ? max_share_by_bytes : max_share;
  std::uint64_t free = config_.max_pages > granted ? config_.max_pages - granted : 0;
  if (config_.max_pages == 0) free = wanting.size() * 2 * most;
  for (std::size_t i = 0; i < wanting.size() && free > 0; ++i) {
    const std::uint64_t share = std::clamp<std::uint64_t>(free / (2 * (wanting.size() - i)), 1, most);
    free -= share;
    const std::uint64_t cap = count(replies_.at(wanting[i]), "cap") + share;
    if (wanting[i] == self) {
      own_grant_ = cap;
    } else {
      grants_[wanting[i]] = {.wave = wave_, .cap = cap};
    }
  }
}

bool same_state(const ring::WaveReply& before, const ring::WaveReply& now) {
  return before.passive && now.passive && same_counts(before, now) && before.counts == now.counts;
}

std::optional<Time> TerminationDetector::next_deadline() const {
  if (!active_ || end_) return std::nullopt;
  return under_way_ ? sent_ + config_.resend : next_;
}

}  // namespace orbweaver
