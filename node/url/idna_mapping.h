// The mappings of UTS #46 revision 33 (Unicode 16) that revision 30, which ICU 72 follows, still refuses or maps
// differently. Thread rule: free function. With a newer ICU it does not change the result.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// `domain` (well-formed UTF-8) with those characters mapped or, where they are ignored, removed. Characters that only
// newer Unicode versions have assigned stay unknown: they need a newer ICU.
std::string apply_newer_idna_mappings(std::string_view domain);

}  // namespace orbweaver
