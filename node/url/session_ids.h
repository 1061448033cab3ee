// Session ids as servers write them into paths: SURT keys and the canonical form omit them. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// A path segment that ASP.NET inserts instead of cookies: "(S(4hqa0555fwsecu455xqckv45))",
// "(4hqa0555fwsecu455xqckv45)", or several: "(A(24 characters)F(24 characters))". `segment` is without its '/'.
bool is_session_segment(std::string_view segment);

// The path without session ids: the path parameters ";jsessionid=…", ";phpsessid=…", ";sid=…" of any segment, and
// ASP.NET's segments, except the last segment. A segment stays when its removal would leave a dot segment. Idempotent.
std::string without_path_sessions(std::string_view path);

}  // namespace orbweaver
