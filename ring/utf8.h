// Whether bytes are UTF-8 (RFC 3629: no surrogates, nothing beyond U+10FFFF, no longer form than needed). Pure. Cost:
// one check of each byte, eight at a time while they are ASCII.
#pragma once

#include <string_view>

namespace orbweaver::ring {

bool is_utf8(std::string_view bytes);

}  // namespace orbweaver::ring
