// Opens a peer's transport at the address of its settings. Thread rule: free function.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "node/base.h"
#include "node/settings/settings.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

struct TransportBounds {
  std::size_t unknown_connections = 0;
  std::size_t waiting_bytes = 0;  // of messages that are not sent yet
};

// A peer whose port is free to choose tries that of its last life first, so that others find it at once. Errors:
// in_use, out_of_memory, or invalid_setting.
Result<std::unique_ptr<ring::ZmqTransport>> open_transport(
    const Settings& settings, const std::string& directory, const std::string& secret, const TransportBounds& bounds,
    const std::function<void(const std::string& bytes, ring::ReplyPath reply)>& on_message);

}  // namespace orbweaver
