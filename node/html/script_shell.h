// Whether a page is a shell that its scripts fill in a browser: who runs no scripts finds next to nothing in it. Judged
// by what is there, not by names of frameworks alone, and so that a page with text or links is none. Pure; one pass of
// the tokenizer. Thread rule: free function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orbweaver::html {

struct ScriptShell {
  std::size_t text_bytes = 0;     // of visible text without white space; not that for browsers without scripts
  std::size_t links = 0;          // <a href>
  std::size_t scripts = 0;        // that a browser runs: with a src, or longer than a counter's snippet
  std::string root;               // the element that scripts fill: "div#root", "app-root"; empty: none is known
  bool asks_for_scripts = false;  // <noscript> says that JavaScript is needed

  static constexpr std::size_t max_text_bytes = 250;
  static constexpr std::size_t max_links = 2;
  bool is_shell() const {
    return scripts > 0 && text_bytes <= max_text_bytes && links <= max_links && (!root.empty() || asks_for_scripts);
  }
  // "12 bytes of text, 0 links, 3 scripts; scripts fill div#root; it asks for JavaScript".
  std::string why() const;
};

// `html`: UTF-8.
ScriptShell look_for_shell(std::string_view html);

}  // namespace orbweaver::html
