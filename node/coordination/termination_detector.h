// The end of a crawl, and the page limit, decided by counting waves over the ring (Mattern 1987, "Algorithms for
// distributed termination detection": the four-counter method). The member with the lowest id asks all members what
// they hold and what they sent and received. When two waves in a row find all of them passive with the same counts,
// nothing is left anywhere and nothing is in progress. Never a time-out guess. Pure. Thread rule: one owner (the peer's
// loop).
//
// The page limit: each peer has a cumulative cap of pages that its process may fetch. What is fetched in all partitions
// and what the caps still allow never exceed max_pages together. The initiator raises the caps of peers that want more
// with the next wave; a peer without work lowers its own to what it used when it replies. So a grant holds only as long
// as its receiver's last reply is the one that the grant was made from. A limit of bytes works the
// same way: pages are allowed in small shares until the bytes that all peers have counted reach it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/crawl/rising_number.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class TerminationDetector {
 public:
  struct Config {
    std::uint64_t max_pages = 0;  // 0: no limit
    std::uint64_t max_bytes = 0;  // 0: no limit; of responses, as the peers count them ("bytes")
    bool stop_when_done = false;
    std::uint32_t partitions = 0;                         // of the ring: each has one holder, or nothing is decided
    Duration quick{std::chrono::milliseconds{50}};        // between waves when the end may be near, or pages are wanted
    Duration slow{std::chrono::milliseconds{500}};        // otherwise; a young crawl waits an eighth of its age only
    Duration per_member{std::chrono::microseconds{500}};  // a young crawl of many peers waits so long for each
    Duration resend{std::chrono::seconds{1}};             // a probe not answered
  };
  struct Probe {
    ring::PeerId to;
    ring::WaveProbe probe;
  };
  struct End {
    std::uint64_t wave = 0;
    std::string reason;
    std::map<std::string, std::uint64_t> totals;
    ring::WaveReply own;  // this peer's, in the last wave
  };
  // `waves`: above all numbers of waves that this peer used before.
  TerminationDetector(Config config, RisingNumber waves) : config_(config), waves_(waves) {}

  // Called with the members that must answer (reachable ones and this peer, by id) and this peer's own reply.
  // `complete` is false when some member is down: its queue is unknown, so the crawl cannot be called ended.
  void tick(Time now, const ring::PeerId& self, const std::vector<ring::PeerId>& members, bool complete,
            std::uint64_t ring_fingerprint, const ring::WaveReply& own, std::vector<Probe>& out);
  void on_reply(const ring::PeerId& from, const ring::WaveReply& reply);
  std::optional<End> end() const { return end_; }
  // A member has work after all, or this peer has: the waves begin again, after a pause.
  void take_back(Time now);
  // What this peer may have fetched in all, if the last tick() granted it that. Take it before the next tick(): what a
  // peer has since given back is no longer its own.
  std::optional<std::uint64_t> own_grant() const { return own_grant_; }
  std::optional<Time> next_deadline() const;
  ring::TableSizes tables() const;

 private:
  void begin(Time now, const std::vector<ring::PeerId>& members);
  void ask(const ring::PeerId& self, std::uint64_t ring_fingerprint, std::vector<Probe>& out) const;
  void evaluate(Time now, const ring::PeerId& self);
  bool limited() const { return config_.max_pages > 0 || config_.max_bytes > 0; }
  void share_out(const ring::PeerId& self);
  Duration slow(Time now) const;

  struct Grant {
    std::uint64_t wave = 0;  // in whose reply it was asked for
    std::uint64_t cap = 0;
  };

  Config config_;
  RisingNumber waves_;
  std::uint64_t wave_ = 0;
  bool under_way_ = false;
  Time sent_{};
  Time next_{};
  Time evaluated_{};           // the last wave
  std::optional<Time> first_;  // the first wave's begin
  bool active_ = false;        // this peer is the initiator
  std::vector<ring::PeerId> members_;
  std::map<ring::PeerId, ring::WaveReply> replies_;       // of this wave
  std::map<ring::PeerId, ring::WaveReply> last_passive_;  // of the wave before, when all were passive
  std::map<ring::PeerId, Grant> grants_;                  // to send with the next wave
  std::optional<std::uint64_t> own_grant_;
  std::optional<End> end_;
};

// A passive peer's state is what it was: it answers a wave as it answered an earlier one.
bool same_state(const ring::WaveReply& before, const ring::WaveReply& now);

}  // namespace orbweaver
