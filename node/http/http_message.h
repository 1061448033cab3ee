// Reads an HTTP response from its bytes on the wire: header fields, chunked framing, content codings. Outside input:
// bounded, never throws. Thread rule: free functions and values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// The first value of a field, trimmed; the name is case-insensitive, obs-fold is unfolded. `head` is a status line and
// header lines.
std::optional<std::string> header_value(std::string_view head, std::string_view name);
// All values of a field in order.
std::vector<std::string> header_values(std::string_view head, std::string_view name);

// The Content-Type that counts, of several fields or of one field with commas (Fetch, "extract a MIME type"): the last
// readable one, with the charset of an earlier one of the same type. If none is readable, the first field as it is;
// empty when there is none.
std::string content_type_of(std::string_view head);

// "text/html" of "Text/HTML; charset=x": lower case, trimmed.
std::string media_type(std::string_view content_type);

struct Decoded {
  std::string bytes;
  bool cut = false;      // stopped at the limit
  bool damaged = false;  // truncated or corrupt input; `bytes` is the decoded part
  std::string problem;   // for people; set when cut, damaged or an unknown coding
};

// Removes chunked framing (RFC 9112, 7.1). Extensions and trailers are skipped.
Decoded decode_chunked(std::string_view body, std::size_t max_bytes);

// Undoes Content-Encoding ("gzip", "x-gzip", "deflate" (zlib or raw), "br", "zstd", "identity", "none"; lists in
// reverse order). Multi-member gzip is decoded whole. Unknown codings: bytes unchanged, `problem` says so, `damaged` is
// true. The output never exceeds max_bytes bytes (a bomb is cut: cut = true).
Decoded decode_content(std::string_view body, std::string_view content_encoding, std::size_t max_bytes);

// A body as a WARC has it, without its framing and its codings: what could be decoded of it.
std::string decoded_body(std::string_view head, std::string_view body, std::size_t max_body_bytes,
                         std::size_t max_decoded_bytes);

// Retry-After: seconds or an HTTP-date (RFC 9110, 10.2.3), as a wait from `now`; nothing when absent or unreadable.
// Never negative.
std::optional<Duration> retry_after(std::string_view head, Time now);
// An HTTP-date in its three forms (RFC 9110, 5.6.7).
std::optional<Time> parse_http_date(std::string_view text);

}  // namespace orbweaver
