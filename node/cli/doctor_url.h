// `orbweaver doctor URL`: one page, step by step as a crawl would come to it: form, scope, address, robots.txt, TLS,
// the answer and where it redirects to. Asks the site: its robots.txt, then the page if that allows it, with the
// crawl's delay between requests. Thread rule: main thread.
#pragma once

#include <string>

#include "node/cli/ask.h"
#include "node/cli/doctor_findings.h"
#include "node/cli/doctor_ring.h"

namespace orbweaver {

void look_at_url(const std::string& text, const PeerTarget& target, const SettingsSeen& settings, Findings& findings);

}  // namespace orbweaver
