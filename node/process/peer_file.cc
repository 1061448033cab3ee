#include "node/process/peer_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/system/denied.h"
#include "node/system/private_file.h"

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

// Its paths are for commands that run in other directories.
Result<void> write_peer_file(const std::string& directory, const PeerFile& peer, Durability durability,
                             storage::OpenWaiter* waiter) {
  std::error_code unknown;
  const std::filesystem::path key_file = std::filesystem::absolute(peer.ring_key_file, unknown);
  const bool known = !peer.ring_key_file.empty() && !unknown;
  const nlohmann::json file = {{"id", peer.id},
                               {"ring", peer.ring},
                               {"address", peer.address},
                               {"status_address", peer.status_address},
                               {"ring_key_file", known ? key_file.string() : peer.ring_key_file},
                               {"pid", peer.pid}};
  return write_whole(directory + "/peer.json", file.dump(2) + "\n", durability, waiter);
}

}  // namespace orbweaver
