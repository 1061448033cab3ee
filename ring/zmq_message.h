// Messages as ZeroMQ takes and gives them. Only for ring/zmq_*.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "ring/send_room.h"

namespace orbweaver::ring {

// A message's bytes, with their room reserved until they are freed.
struct RoomedBytes {
  std::string bytes;
  std::string to;
  std::shared_ptr<SendRoom> room;

  RoomedBytes(std::string text, std::string destination, std::shared_ptr<SendRoom> taken_from)
      : bytes(std::move(text)), to(std::move(destination)), room(std::move(taken_from)) {}
  RoomedBytes(const RoomedBytes&) = delete;
  RoomedBytes& operator=(const RoomedBytes&) = delete;
  ~RoomedBytes() { room->give_back(to, bytes.size()); }
};

// The bytes travel without a copy; ZeroMQ frees them, on its own thread, when they are sent.
zmq::message_t message_of(std::unique_ptr<RoomedBytes> waiting);

// One message: up to `max_frames` of its frames; nothing when none waits. Further frames are read and discarded.
std::optional<std::vector<zmq::message_t>> receive(zmq::socket_ref socket, std::size_t max_frames);

}  // namespace orbweaver::ring
