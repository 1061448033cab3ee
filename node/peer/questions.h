// Questions from commands: to this peer, or by it to the whole ring. A question to the ring is passed on to the other
// members and answered when they all have answered, or after a few seconds; the answer names the silent ones. Bounded:
// questions in flight, their bytes, and the bytes of the answers that wait. Lifetime: the peer's. Thread rule: one
// owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/crawl/rising_number.h"
#include "node/crawl/step.h"
#include "node/replication/messenger.h"
#include "node/settings/memory_plan.h"
#include "node/url/canonicaliser.h"
#include "ring/table_sizes.h"

namespace orbweaver {

// Of all answers to one question to the ring: they go into one text of a message, with some words around them. What
// does not fit is left out; who answers at length shares it with the others.
inline constexpr std::size_t max_gathered_bytes = ring::max_text_bytes - 64 * 1024;

class Questions {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const ring::Membership& membership;
    const ring::RingId& ring;
    const Messenger& messenger;
    const MemoryPlan& memory;
    const Canonicaliser& canonicaliser;
    // The member that knows most of a URL; nothing: this peer.
    std::function<std::optional<ring::PeerId>(const CanonicalUrl&)> who_knows;
    // What all peers must get alike, added to a question before it is passed on.
    std::function<Result<void>(const Step&, const std::string& verb, nlohmann::json& body)> complete;
    // This peer's own answer to a verb. Error: the store failed.
    std::function<Result<nlohmann::json>(const Step&, const std::string& verb, const nlohmann::json& body)> answer_own;
    // Counts and logs a message that is at fault.
    std::function<void(const Step&, const ring::Message&, const std::string& cause)> refuse;
    RisingNumber sequences;  // of the questions that are passed on
  };
  explicit Questions(Around around) : around_(std::move(around)) {}

  // A question for the ring (ask.for_ring) is passed on to others.
  Result<void> on_ask(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply);
  void on_answer(const Step& step, const ring::Message& in, const ring::Answer& answer);
  // Answers the questions that have waited long enough with what there is.
  void tick(const Step& step);
  std::optional<Time> next_deadline() const;
  ring::TableSizes tables() const;

 private:
  // A question that other peers must answer first.
  struct Gathering {
    ring::ReplyPath reply;
    std::uint64_t sequence = 0;  // the asker's
    std::string verb;
    bool of_one = false;                           // another peer's answer is passed on as it is
    std::map<std::uint64_t, ring::PeerId> open{};  // our sequence -> the peer that we asked
    std::vector<std::string> answers{};            // JSON objects, of max_gathered_bytes in all
    std::size_t bytes = 0;
    std::size_t left_out = 0;  // answers beyond that
    Time deadline{};
  };
  // The peers that a question goes to. Error: it cannot be read.
  Result<std::vector<ring::PeerId>> whom(const ring::Ask& ask, const nlohmann::json& body) const;
  bool asks_all(const ring::Ask& ask) const;
  Result<ring::PeerId> member_of(const nlohmann::json& body) const;
  Result<void> ask_others(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
                          nlohmann::json body, const std::vector<ring::PeerId>& others);
  void refuse(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
              const std::string& cause) const;
  void answer(const Step& step, const ring::Message& in, const ring::Ask& ask, const ring::ReplyPath& reply,
              const nlohmann::json& content) const;
  void take(Gathering& gathering, std::string text) const;
  void finish(const Step& step, Gathering& gathering) const;
  std::string answer_of_all(const Gathering& gathering, nlohmann::json silent) const;

  Around around_;
  std::vector<Gathering> under_way_;
};

}  // namespace orbweaver
