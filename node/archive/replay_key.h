// The key by which ReplayWeb.page (its engine, wabac.js) finds a URL in an index. Pure. Thread rule: free functions.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver::archive {

// "com,example:8080)/path?a=1&b=2" of "http://www.example.com:8080/Path?b=2&a=1": lower case, "www." and "www12."
// dropped, the host's labels reversed, parameters sorted as texts. `url` is canonical; one that is not http or https
// is its own key.
std::string replay_key(std::string_view url);

}  // namespace orbweaver::archive
