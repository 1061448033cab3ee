// Reading an HTTP response as it came over the wire: header fields, chunked framing, content codings. Outside input:
// bounded, never throws. Thread rule: free functions and values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// The first value of a field, trimmed, case-insensitive name; obs-fold unfolded. `head` is a status line and header
// lines.
std::optional<std::string> header_value(std::string_view head, std::string_view name);
// All values of a field in order.
std::vector<std::string> header_values(std::string_view head, std::string_view name);

// The Content-Type that counts, of several fields or of one with commas in it (Fetch, "extract a MIME type"): the last
// that can be read, with the charset of one before it of the same type. Where none can be read the first field as it
// stands; empty when there is none.
std::string content_type_of(std::string_view head);

// "text/html" of "Text/HTML; charset=x": lower case, trimmed.
std::string media_type(std::string_view content_type);

struct Decoded {
  std::string bytes;
  bool cut = false;      // stopped at the limit
  bool damaged = false;  // truncated or corrupt input; `bytes` is what could be decoded
  std::string problem;   // for people, when cut or damaged or an unknown coding
};

// Removes chunked framing (RFC 9112, 7.1). Extensions and trailers are skipped.
Decoded decode_chunked(std::string_view body, std::size_t bytes_max);

// Undoes Content-Encoding ("gzip", "x-gzip", "deflate" (zlib or raw), "br", "zstd", lists applied in reverse,
// "identity", "none"). Multi-member gzip is decoded whole. Unknown codings: bytes unchanged, `problem` says so,
// `damaged` is true. Never makes more than bytes_max bytes (a bomb is cut: cut = true).
Decoded decode_content(std::string_view body, std::string_view content_encoding, std::size_t bytes_max);

// Retry-After: seconds or an HTTP-date (RFC 9110, 10.2.3), as a wait from `now`; nothing when absent or unreadable.
// Never negative.
std::optional<Duration> retry_after(std::string_view head, Time now);
// An HTTP-date in its three forms (RFC 9110, 5.6.7).
std::optional<Time> parse_http_date(std::string_view text);

}  // namespace orbweaver
