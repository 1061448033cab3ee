// Which part of a host's name somebody can register, by the public suffix list (libpsl, its only home; the list that
// is built into it). Pure. Thread rule: free function, any thread. Cost: about a microsecond.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// The registrable domain ("example.co.uk" of "a.b.example.co.uk"); the host itself for IP addresses, single labels and
// public suffixes.
std::string registrable_domain(std::string_view host);

}  // namespace orbweaver
