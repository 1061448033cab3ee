// From UTF-8 to the bytes of a legacy encoding: the Encoding Standard's encoders (sections 9 to 14), for URLs' queries.
// A character that the encoding lacks is written "%26%23N%3B" (URL Standard, "percent-encode after encoding"). Linear
// in the text. Thread rule: free function. Pure.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver::html {

// Whether `charset`, the standard's name in lower case, is written as UTF-8: utf-8 itself, utf-16be, utf-16le and
// replacement ("get an output encoding"), and any name that is not in the standard.
bool is_written_as_utf8(std::string_view charset);

// `charset` must not be one of these. Ill-formed UTF-8 is read as U+FFFD.
std::string encode_from_utf8(std::string_view charset, std::string_view utf8);

}  // namespace orbweaver::html
