// The HTML of one page of the sample web.
// Pure; thread rule: functions of an immutable SampleWeb. Cost: 50 to 100 microseconds per page.
#pragma once

#include <string>

#include "node/sampleweb/sample_text.h"
#include "node/sampleweb/sample_web.h"

namespace orbweaver::sample {

struct PageLook {
  Encoding encoding = Encoding::utf_8;
  bool charset_in_header = true;
  bool charset_in_meta = true;
  bool has_base = false;  // <base href="/docs/base/">
};

PageLook page_look(const SampleWeb& web, unsigned host, unsigned page);
// The path that the page's relative links are resolved against: its own, or that of its <base>.
std::string page_base(const SampleWeb& web, unsigned host, unsigned page);
std::string page_html(const SampleWeb& web, unsigned host, unsigned page);
// A short page with these links (each spelling is written unchanged), for the extras.
std::string small_html(std::string_view title, const std::vector<std::string>& spellings);

}  // namespace orbweaver::sample
