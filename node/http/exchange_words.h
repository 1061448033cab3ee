// What an exchange is called where it is kept: in archives and in records. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "node/http/fetch_error.h"

namespace orbweaver {

// The value of WARC-Truncated; empty for a whole body.
std::string_view truncated_name(Truncated truncated);

// WARC has no form for HTTP/2's frames: what libcurl makes of them is kept as the HTTP/1.1 message that means the same
// (RFC 9113, 8.3), which every reader of archives knows.
std::string as_http_1(std::string_view head);

// What a later request may ask by (RFC 9110, 13.1: an ETag comes first); nothing when it is longer than `bytes_max` or
// not plain ASCII.
std::string validator_of(std::string_view head, std::size_t bytes_max);

}  // namespace orbweaver
