// URLs in style sheets, by a tokenizer after CSS Syntax Module Level 3, section 4. Pure functions; linear in the text;
// memory: one entry for each open function or block, open_max at most.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orbweaver::html {

struct CssUrl {
  std::string url;      // escapes decoded, not yet resolved
  bool import = false;  // of an @import: a style sheet itself
};

// Of url(), src(), image-set() and @import; not of @namespace, whose URL is a name. Empty URLs and those of a fragment
// alone load nothing and are left out. `css` is UTF-8: a style sheet, or the value of a style attribute.
std::vector<CssUrl> css_urls(std::string_view css);

}  // namespace orbweaver::html
