// From the bytes of a legacy encoding, or of UTF-16, to UTF-8: the Encoding Standard's decoders (sections 9 to 14) in
// its error mode "replacement": bytes without a meaning become U+FFFD. Linear in the text; `out` never takes more than
// three bytes per byte of the text. Thread rule: free function. Pure.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver::html {

// `charset`: the standard's name in lower case. Replaces the content of `out`. False, and `out` empty, for utf-8, which
// needs no decoder, and for a name that is not in the standard.
bool decode_to_utf8(std::string_view charset, std::string_view bytes, std::string& out);

}  // namespace orbweaver::html
