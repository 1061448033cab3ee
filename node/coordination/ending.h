// The end of the crawl: waves over the ring find it (termination_detector.h), every peer is told, and the peer that
// found it ends when all have heard. Under a limit of pages the waves bring what each peer may fetch too. Thread rule:
// one owner (the peer's loop).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/coordination/crawl_end.h"
#include "node/coordination/farewell.h"
#include "node/coordination/termination_detector.h"

namespace orbweaver {

class Ending {
 public:
  // What this peer knows of itself.
  struct Own {
    bool sends_waves = false;  // it has nothing to do, or there is a limit to share out
    bool rests = false;        // nothing is begun that a new crawl would begin with
    std::function<ring::WaveReply()> reply;
  };

  // All outlive it.
  Ending(const PeerState& state, const Members& members, const Messenger& messenger, const Lifecycle& lifecycle,
         RecordWriter& writer, CrawlEnd& end, Farewell& farewell);

  bool found() const { return detector_.end().has_value(); }  // by this peer's own waves
  // What a probe is refused for: both its numbers follow the sender's clock.
  std::optional<std::string> fault(Time now, const ring::WaveProbe& probe) const;
  // False: a late copy of one that was heard before. Else what it grants is in `granted`, if that is new.
  bool hear(Time now, const ring::PeerId& from, const ring::WaveProbe& probe, std::optional<std::uint64_t>& granted);
  std::uint64_t grant_heard() const { return grant_heard_; }  // its number, for the reply
  void hear(const ring::PeerId& from, const ring::WaveReply& reply) { detector_.on_reply(from, reply); }
  // Another peer found the end.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Finish& finish,
                    const ring::ReplyPath& reply);
  // A member knows the end.
  void acknowledged(const ring::PeerId& from);
  // The end is told once more to one that was let in while it was being told.
  void tell_newcomer(const Step& step, const ring::PeerId& from, const ring::ReplyPath& reply) const;

  // Pages that this peer grants itself are the answer.
  Result<std::optional<std::uint64_t>> tick(const Step& step, const Own& own);
  std::optional<Time> next_deadline() const { return detector_.next_deadline(); }

 private:
  bool complete(Time now) const;
  std::vector<ring::PeerId> waiting(Time now) const;
  Result<void> tell(const Step& step, const TerminationDetector::End& end);
  Result<void> remember(const Step& step, const ring::Finish& finish);

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  const Lifecycle* lifecycle_;
  RecordWriter* writer_;
  CrawlEnd* end_;
  Farewell* farewell_;
  TerminationDetector detector_;
  std::uint64_t last_wave_ = 0;  // probes older than this are late copies, for a while
  Time last_wave_at_{};
  ring::PeerId last_wave_from_;
  std::uint64_t grant_heard_ = 0;
  std::set<ring::PeerId> acknowledged_;
  std::vector<ring::PeerId> told_;  // the members when the end was found
  Time found_at_{};
  Time next_word_{};
};

}  // namespace orbweaver
