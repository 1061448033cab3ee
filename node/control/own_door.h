// Questions that this process asks its own peer: events of the peer's loop, like those that commands ask, but without a
// connection. Thread rule: ask() from any thread but the loop's, take() from the loop's, close() from any.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "node/control/peer_question.h"
#include "ring/messages.h"
#include "ring/transport.h"

namespace orbweaver {

class OwnDoor {
 public:
  static constexpr std::size_t max_open = 8;  // questions that wait for their answer
  // Gives a message to the loop, with the way of its answer. False: there is no room for it.
  using Push = std::function<bool(ring::Message, ring::ReplyPath)>;
  explicit OwnDoor(Push push) : push_(std::move(push)) {}
  OwnDoor(const OwnDoor&) = delete;
  OwnDoor& operator=(const OwnDoor&) = delete;

  // Blocks until the answer is there, for `timeout` at most: a JSON object. Errors: as ask_at(), and unreachable when
  // too many wait or the peer ends.
  Result<std::string> ask(const PeerQuestion& question);
  // True: it is the way of an answer to one of these.
  bool take(const ring::ReplyPath& path, const ring::Body& body);
  // Who waits gets an error at once, and nobody may ask any more.
  void close();

 private:
  Push push_;
  std::mutex mutex_;  // of what follows
  std::condition_variable answered_;
  bool closed_ = false;
  std::uint64_t next_ = 1;
  std::map<std::string, std::optional<std::string>> open_;  // by route: the answer, once it is there
};

}  // namespace orbweaver
