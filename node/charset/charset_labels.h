// The Encoding standard's labels (https://encoding.spec.whatwg.org/#names-and-labels).
#pragma once

#include <string_view>

namespace orbweaver::html {

// The standard's name, in lower case, for a lower-case label without spaces around it; empty when there is none.
std::string_view encoding_of_label(std::string_view lower_label);

}  // namespace orbweaver::html
