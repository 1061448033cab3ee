#include "node/process/peer_file.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/system/denied.h"

namespace orbweaver {

Result<PeerFile> read_peer_file(const std::string& directory) {
  const std::string path = directory + "/peer.json";
  std::ifstream in(path);
  if (!in && (errno == EACCES || errno == EPERM)) return cannot_read(path, errno);
  if (!in) return fail(ErrorCode::unreachable, "no peer has run in " + directory + " (there is no " + path + ")");
  const nlohmann::json file = nlohmann::json::parse(in, nullptr, false);
  if (file.is_discarded() || !file.is_object()) return fail(ErrorCode::io, path + " cannot be read");
  PeerFile peer;
  const auto text = [&file](const char* name) {
    const auto found = file.find(name);
    return found != file.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  peer.id = text("id");
  peer.ring = text("ring");
  peer.address = text("address");
  peer.status_address = text("status_address");
  peer.ring_key_file = text("ring_key_file");
  if (const auto pid = file.find("pid"); pid != file.end() && pid->is_number_integer()) peer.pid = pid->get<int>();
  return peer;
}

}  // namespace orbweaver
