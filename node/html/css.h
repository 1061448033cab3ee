// URLs in style sheets, by a tokenizer according to CSS Syntax Module Level 3, section 4. Pure functions; linear in the
// text. Memory: one entry per open function or block, at most max_open.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orbweaver::html {

struct CssUrl {
  std::string url;      // escapes decoded, not yet resolved
  bool import = false;  // from an @import: it is a style sheet itself
};

// The URLs of url(), src(), image-set() and @import; not of @namespace, whose URL is only a name. Empty URLs and mere
// fragments are left out. `css` is UTF-8: a style sheet, or the value of a style attribute.
std::vector<CssUrl> css_urls(std::string_view css);

}  // namespace orbweaver::html
