// Session ids as servers write them into paths: what SURT keys and the canonical form leave out. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// A path segment that ASP.NET puts in for cookies: "(S(4hqa0555fwsecu455xqckv45))", "(4hqa0555fwsecu455xqckv45)", or
// several: "(A(24 characters)F(24 characters))". `segment` is without its '/'.
bool is_session_segment(std::string_view segment);

// The path without session ids: the path parameters ";jsessionid=…", ";phpsessid=…", ";sid=…" of any segment, and
// segments of ASP.NET's but for the last. What would leave a dot segment stays. Idempotent.
std::string without_path_sessions(std::string_view path);

}  // namespace orbweaver
