// A number that shows whether two addresses gave the same page (trap rules same_content and mirror): a 64-bit hash of
// the body, without the page's own path and host, which error pages and links often repeat. Not safe against an
// adversary. Pure. Cost: about 2 us for 10 KB (tests/bench/traps_bench.cc).
#pragma once

#include <cstdint>
#include <string_view>

namespace orbweaver {

// Never 0. A path or host shorter than four bytes is not removed, because "/" is everywhere;
// nor is a host without a slash before it.
std::uint64_t content_fingerprint(std::string_view body, std::string_view path_and_query, std::string_view host);

}  // namespace orbweaver
