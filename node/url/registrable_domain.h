// The part of a host's name that can be registered, by the public suffix list (libpsl, used only here, with its
// built-in list). Pure. Thread rule: free function, any thread. Cost: about a microsecond.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// The registrable domain ("example.co.uk" of "a.b.example.co.uk"); the host itself for IP addresses, single labels and
// public suffixes.
std::string registrable_domain(std::string_view host);

}  // namespace orbweaver
