// The pages of an archive, as page lists show them (json-pages-1.0). Outside bytes: bounded, never throws. Pure. Thread
// rule: a function.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "node/archive/capture.h"

namespace orbweaver::archive {

// One row: id, url, ts, title (the URL when the page has none), mime, status. Nothing: the capture is no page
// that a person would open, being no HTML with status 200.
std::optional<nlohmann::ordered_json> page_of(const Capture& capture);

}  // namespace orbweaver::archive
