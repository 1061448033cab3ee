// A page's bytes to UTF-8, by the HTML standard's order (13.2.3.2): byte order mark, Content-Type's charset, the
// declaration in the first 1024 bytes (<meta>, else an XML declaration), then detection: valid UTF-8, a <meta> further
// down, ICU's detector if it is sure enough, else windows-1252. Labels, decoders and encoders are the Encoding
// Standard's (charset_labels.h, text_decoders.h, text_encoders.h). Thread rule: free functions; encoders are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "node/url/url.h"

namespace orbweaver {

struct DecodedText {
  std::string charset;    // the Encoding standard's name, lower case: "utf-8", "windows-1252", "shift_jis"
  std::string storage;    // contains the converted text when one was needed
  std::string_view utf8;  // the text: a view of `storage`, or of the input (less its BOM) when that was UTF-8 already
  // Set this before the call: the limit of `storage`; input that might exceed it is left out.
  std::size_t max_storage_bytes = SIZE_MAX;
  bool cut = false;  // some input was left out
  DecodedText() = default;
  DecodedText(DecodedText&&) = delete;  // utf8 may view storage
};

// `content_type` is the header's whole value ("text/html; charset=koi8-r"), empty when there is none.
// The result is filled in place because `utf8` may point into it. `bytes` must outlive it.
void decode_html(std::string_view bytes, std::string_view content_type, DecodedText& out);

// Formats of a body other than HTML, and where such a text declares its encoding.
//   css    BOM, Content-Type, @charset at its very beginning, else UTF-8 (CSS Syntax 3, 3.2)
//   plain  BOM, Content-Type, then detection as for HTML
enum class TextFormat : std::uint8_t { css, plain };
void decode_text_body(std::string_view bytes, std::string_view content_type, TextFormat format, DecodedText& out);

// The Encoding standard's name for a label ("latin1" -> "windows-1252"); nothing when unknown.
std::optional<std::string> charset_from_label(std::string_view label);

// For URLs' queries in a legacy charset; null for utf-8, utf-16 and the replacement encoding, which are written as
// UTF-8. A character that the charset lacks becomes "%26%23N%3B", which the URL parser leaves unchanged.
std::unique_ptr<QueryEncoder> make_query_encoder(std::string_view charset);

}  // namespace orbweaver
