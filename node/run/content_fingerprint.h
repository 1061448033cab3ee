// A number that tells whether two addresses of a host gave the same page (trap rule same_content): a 64-bit hash of the
// body, without the page's own path in it, which error pages like to repeat. Not against an adversary. Pure. Cost:
// about 1 us for 10 KB (tests/bench/traps_bench.cc).
#pragma once

#include <cstdint>
#include <string_view>

namespace orbweaver {

// Never 0. A path shorter than four bytes is left in: "/" is everywhere.
std::uint64_t content_fingerprint(std::string_view body, std::string_view path_and_query);

}  // namespace orbweaver
