// What a running peer serves at its HTTP port.
#pragma once

#include <optional>
#include <string>

#include "node/base.h"
#include "node/control/http_port.h"
#include "node/control/own_door.h"
#include "node/control/status_board.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Opens the port that the settings name, with a new token in the directory (control_token.h). The board and the door
// outlive it. Errors: as HttpPort::open(); io when the token cannot be written.
Result<void> open_http_port(std::optional<HttpPort>& port, const Settings& settings, const std::string& directory,
                            StatusBoard& board, OwnDoor& door);

}  // namespace orbweaver
