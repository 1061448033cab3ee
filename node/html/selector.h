// A small part of CSS selectors (Selectors Level 4), to say which links of a page are meant: compounds of a tag,
// classes and an id ("a.title", "#main", "li.result.web", "*"), one inside another ("div.results h3 a", the descendant
// combinator), and lists of those between commas. Nothing else: attributes, pseudo-classes and the combinators '>',
// '+', '~' are errors that say so. Thread rule: immutable once made; free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/html/links.h"

namespace orbweaver::html {

// An element as far as a selector asks: its tag in ASCII lower case, its id and its class attribute as written.
struct SelectedElement {
  std::string tag;
  std::string id;
  std::string classes;
};

class Selector {
 public:
  Selector() = default;
  static Result<Selector> parse(std::string_view text);

  bool empty() const { return alternatives_.empty(); }
  // Whether the last element of the path, which begins at the root, is matched.
  bool matches(const std::vector<SelectedElement>& path) const;

 private:
  struct Compound {
    std::string tag;  // empty: any
    std::string id;   // empty: any
    std::vector<std::string> classes;
    bool matches(const SelectedElement& element) const;
  };
  static Result<Compound> parse_compound(std::string_view text);
  std::vector<std::vector<Compound>> alternatives_;  // each from the outermost to the innermost
};

// The links of <a> and <area> elements that the selector matches, or that stand inside an element that it matches, in
// document order; at most links_per_page_max. The tree is the tokenizer's: elements whose end tag may be left out are
// closed by what follows them (HTML standard, 13.1.2.4), an end tag closes what is open inside its element. Cost: one
// pass; at most open_elements_max ancestors are kept, deeper elements match as if they stood there.
std::vector<PageLink> selected_links(std::string_view html, const Selector& selector);

}  // namespace orbweaver::html
