// The end of the crawl. Waves over the ring find it (termination_detector.h); then it is agreed and decided, so that
// nothing that a peer accepts meanwhile is left behind:
//
//   proposed     the peer that found it, the lowest, asks every member. One agrees when its state is what it answered
//                to that wave; from then on it takes no new work from commands. Else it says why not
//   decided      all have agreed. The finder writes that down, and repeats it until each has acknowledged it and ends
//   taken back   one has work, or the members have changed: all go on, and the waves begin again
//
// What a peer knows of an end is on its disk, also the finder's own, before it proposes it. The lowest that knows of a
// decision, or that has agreed while the finder is away, proposes that end once more, also when it leaves, so no peer
// waits for others that have ended. It decides what it has only agreed to when no member is waited for. The rest ask
// the lowest how far the end is. A process that ends for another reason says nothing to an end. A peer that was cut off
// for so long that others ended without it has another state: it does not end with them.
//
// Under a limit of pages, the waves also bring what each peer may fetch. Thread rule: one owner (the peer's loop).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/coordination/announced_end.h"
#include "node/coordination/farewell.h"
#include "node/coordination/termination_detector.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Ending {
 public:
  // What this peer knows of itself.
  struct Own {
    bool sends_waves = false;    // it has nothing to do, or there is a limit to share out
    bool starting = false;       // since its start it has not learned what the others know, or its seeds wait
    bool rests = false;          // no work here: no fetch, recrawl, seed or link, and nothing to fetch
    bool holds_nothing = false;  // a newcomer: no record, link or partition is here
    // URLs that are queued on this disk, in partitions that it holds, or whose holder is out of reach. Slow.
    std::function<std::uint64_t()> queued;
    std::function<ring::WaveReply()> reply;
  };

  // All outlive it.
  Ending(const PeerState& state, const Members& members, const Messenger& messenger, const Lifecycle& lifecycle,
         RecordWriter& writer, AnnouncedEnd& end, Farewell& farewell);

  // Why a probe is refused: a wave that its sender's life cannot have numbered would hold up the true ones.
  std::optional<std::string> fault(const ring::PeerId& from, const ring::WaveProbe& probe) const;
  // False: a late copy of an earlier probe. Else what it grants is in `granted`, if the grant holds.
  bool hear(Time now, const ring::PeerId& from, const ring::WaveProbe& probe, std::optional<std::uint64_t>& granted);
  // What was answered to that probe: an end may be found on it.
  void note_reply(const ring::PeerId& to, const ring::WaveReply& reply);
  void hear(const ring::PeerId& from, const ring::WaveReply& reply) { detector_.on_reply(from, reply); }
  // Another peer proposes an end, has decided it, or takes it back.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::Finish& finish,
                    const ring::ReplyPath& reply, const Own& own);
  // A member's answer, or its question.
  Result<void> hear(const Step& step, const ring::PeerId& from, const ring::FinishAck& ack,
                    const ring::ReplyPath& reply);
  // Sends the end once more to a peer that was let in while the end was being sent.
  void tell_newcomer(const Step& step, const ring::PeerId& from, const ring::ReplyPath& reply) const;

  // Whether an end that is known here keeps partitions from being taken over. While this peer proposes an end that it
  // has found itself, a take-over is no harm: it changes its state, and so takes that end back.
  bool keeps_from_taking() const { return end_->known() && !(round_ && round_->own && !round_->decided); }
  // Returns the cap of pages that this peer grants itself, if any.
  Result<std::optional<std::uint64_t>> tick(const Step& step, const Own& own);
  std::optional<Time> next_deadline(bool sends_waves) const;
  ring::TableSizes tables() const;

 private:
  // An end that this peer brings to the others.
  struct Round {
    ring::Finish end;
    // This peer's, in the wave that found it; nothing: an earlier life knew it, or this peer has agreed to it.
    std::optional<ring::WaveReply> own;
    std::vector<ring::PeerId> members;  // the others
    std::set<ring::PeerId> agreed;
    bool decided = false;
    Time decided_at{};
    Time next_word{};
  };
  bool complete(Time now) const;
  bool lowest() const;
  std::vector<ring::PeerId> waiting(const Round& round, Time now) const;
  // Nothing has come here since it agreed to the end that it knows, or learned that it is decided.
  bool undisturbed(const Own& own) const;
  // Why this peer does not agree to an end; empty: it does.
  std::string objection(const ring::PeerId& from, const ring::Finish& finish, const Own& own) const;
  void answer(const Step& step, const ring::PeerId& from, const ring::Finish& finish, const ring::ReplyPath& reply,
              std::string why) const;
  void answer_question(const Step& step, const ring::PeerId& from, const ring::FinishAck& ack,
                       const ring::ReplyPath& reply) const;
  Result<void> write(const Step& step, const std::function<void(storage::Commit&)>& change);
  Result<void> reopen(const Step& step);
  Result<void> resolve(const Step& step, const Own& own);
  Result<std::optional<std::uint64_t>> search(const Step& step, const Own& own);
  void begin(const ring::Finish& end, std::optional<ring::WaveReply> own);
  std::string obstacle(Time now, const Own& own) const;
  Result<void> go_on(const Step& step, const Own& own);
  Result<void> take_back(const Step& step, const std::string& why);
  Result<void> tell(const Step& step);

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  const Lifecycle* lifecycle_;
  RecordWriter* writer_;
  AnnouncedEnd* end_;
  Farewell* farewell_;
  TerminationDetector detector_;
  std::uint64_t last_wave_ = 0;  // the last one replied to; its sender's older probes are late copies, for a while
  Time last_wave_at_{};
  ring::PeerId last_wave_from_;
  std::optional<ring::WaveReply> replied_;  // to that wave
  ring::PeerId replied_to_;
  std::optional<Round> round_;
  std::set<ring::PeerId> acknowledged_;  // members that know the decision
  Time next_question_{};
};

}  // namespace orbweaver
