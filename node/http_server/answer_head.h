// The head of an answer as bytes (RFC 9112, 4). Pure.
#pragma once

#include <cstddef>
#include <string>

#include "node/http_server/http_server.h"

namespace orbweaver {

// "Not Found"; "Unknown" for a status without a name here.
const char* reason_phrase(unsigned status);

// Status line, fields in order of their names, blank line. `kept_seconds`: how long the connection waits for another
// request; empty when it ends with this answer.
std::string answer_head(const HttpAnswer& answer, const std::string& kept_seconds, std::size_t max_requests);

}  // namespace orbweaver
