// The language of a text, by its letters and their n-grams (CLD2, which Chromium used; about 80 languages). Thread
// rule: free function, any thread. Cost: about 30 us per page.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

struct Language {
  std::string code;   // "de", "pt", "zh" (simplified), "zh-Hant"; empty: unknown
  int percent = 0;    // of the text in that language
  bool sure = false;  // far more likely than the next
};

// `text` is UTF-8 without markup; it ends at malformed bytes. The language that a page declares is ignored: templates
// declare languages that their authors never chose.
Language guess_language(std::string_view text);

}  // namespace orbweaver
