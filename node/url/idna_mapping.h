// The mappings of UTS #46 revision 33 (Unicode 16) that revision 30, which ICU 72 follows, still refuses or maps
// otherwise. Thread rule: free function. With a newer ICU it changes nothing in the outcome.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// `domain` (well-formed UTF-8) with those characters mapped or, where they are ignored, left out. What only newer
// Unicode versions have assigned stays unknown: that needs a newer ICU.
std::string apply_newer_idna_mappings(std::string_view domain);

}  // namespace orbweaver
