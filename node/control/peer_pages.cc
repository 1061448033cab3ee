#include "node/control/peer_pages.h"

#include <utility>

#include "node/control/control_token.h"

namespace orbweaver {

Result<void> open_http_port(std::optional<HttpPort>& port, const Settings& settings, const std::string& directory,
                            StatusBoard& board, OwnDoor& door) {
  Result<std::string> token = new_control_token(directory);
  if (!token) return tl::make_unexpected(token.error());
  HttpPages pages;
  pages.status_json = [&board] { return board.text(StatusBoard::Page::status); };
  pages.metrics_text = [&board] { return board.text(StatusBoard::Page::metrics); };
  pages.healthy = [&board] { return board.healthy(); };
  pages.ask = [&door](const PeerQuestion& question) { return door.ask(question); };
  pages.token = std::move(*token);
  port.emplace(std::move(pages), settings.status_hosts);
  return port->open(settings.status_listen);
}

}  // namespace orbweaver
