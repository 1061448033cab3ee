// The names of an exchange's properties in archives and records. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "node/http/fetch_error.h"

namespace orbweaver {

// The value of WARC-Truncated; empty for a whole body.
std::string_view truncated_name(Truncated truncated);

// WARC has no form for HTTP/2 frames. So libcurl's version of them is stored as the HTTP/1.1 message of the same
// meaning (RFC 9113, 8.3), which every reader of archives can read.
std::string as_http_1(std::string_view head);

// The validator for a later conditional request (RFC 9110, 13.1: an ETag comes first); nothing when it is longer than
// `max_bytes` or not plain ASCII.
std::string validator_of(std::string_view head, std::size_t max_bytes);

}  // namespace orbweaver
