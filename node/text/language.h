// Which language a text is in, by its letters and their n-grams (CLD2, which Chromium used; some 80 languages). Thread
// rule: free function, any thread. Cost: about 30 us a page.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

struct Language {
  std::string code;   // "de", "pt", "zh" (simplified), "zh-Hant"; empty: it cannot be told
  int percent = 0;    // of the text that is in it
  bool sure = false;  // far more likely than the next
};

// `text` is UTF-8 without markup; what is malformed ends it. What a page declares is no part of it: templates declare
// what their authors never wrote.
Language guess_language(std::string_view text);

}  // namespace orbweaver
