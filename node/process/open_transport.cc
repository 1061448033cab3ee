#include "node/process/open_transport.h"

#include <string_view>
#include <vector>

#include "node/process/peer_file.h"

namespace orbweaver {

Result<std::unique_ptr<ring::ZmqTransport>> open_transport(
    const Settings& settings, const std::string& directory, const std::string& secret, const TransportBounds& bounds,
    const std::function<void(const std::string& bytes, ring::ReplyPath reply)>& on_message) {
  std::vector<std::string> tries = {settings.listen};
  if (settings.listen.ends_with(":0"))
    if (const Result<PeerFile> last = read_peer_file(directory)) tries.insert(tries.begin(), last->address);
  for (const std::string& listen : tries) {
    auto opened = ring::ZmqTransport::open({listen, secret, bounds.unknown_connections,
                                            settings.max_unknown_connections_per_address, bounds.waiting_bytes},
                                           on_message);
    if (opened) return std::move(*opened);
    if (&listen != &tries.back()) continue;
    const std::string& cause = opened.error().message;
    const auto says = [&cause](std::string_view words) { return cause.find(words) != std::string::npos; };
    return fail(says("in use")              ? ErrorCode::in_use
                : says("not enough memory") ? ErrorCode::out_of_memory
                                            : ErrorCode::invalid_setting,
                cause);
  }
  return fail(ErrorCode::invalid_setting, "listen: no address");
}

}  // namespace orbweaver
