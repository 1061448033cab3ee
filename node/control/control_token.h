// The secret that a request to the control API needs: <directory>/control-token, which its owner alone may read. Each
// start of a peer makes a new one: another process that gets the port after it may be sent the old one. Thread rule:
// free functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// Writes a new one: 64 hexadecimal digits of the system's random numbers. Error: io, with the file's name.
Result<std::string> new_control_token(const std::string& directory);
// Errors: unreachable when there is none; io when it cannot be read or is none.
Result<std::string> read_control_token(const std::string& directory);

// Whether an Authorization field has the token ("Bearer " and it; RFC 6750, 2.1). It takes as long for each wrong one
// of the same length. No field has an empty token.
bool is_authorized(std::string_view authorization, std::string_view token);

}  // namespace orbweaver
