#include "ring/zmq_message.h"

namespace orbweaver::ring {

zmq::message_t message_of(std::unique_ptr<RoomedBytes> waiting) {
  const auto free_waiting = [](void*, void* hint) { delete static_cast<RoomedBytes*>(hint); };
  zmq::message_t message(waiting->bytes.data(), waiting->bytes.size(), free_waiting, waiting.get());
  static_cast<void>(waiting.release());  // the message owns it now
  return message;
}

std::optional<std::vector<zmq::message_t>> receive(zmq::socket_ref socket, std::size_t max_frames) {
  std::vector<zmq::message_t> frames;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    zmq::message_t frame;
    if (!socket.recv(frame, zmq::recv_flags::dontwait)) return std::nullopt;
    more = frame.more();
    if (++count <= max_frames) frames.push_back(std::move(frame));
  }
  if (count > max_frames) frames.clear();
  return frames;
}

}  // namespace orbweaver::ring
