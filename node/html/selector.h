// A small part of CSS selectors (Selectors Level 4), to name the links of a page that count: compounds of a tag,
// classes and an id ("a.title", "#main", "li.result.web", "*"), one inside another ("div.results h3 a", the descendant
// combinator), and lists of these separated by commas. Attributes, pseudo-classes and the combinators '>', '+' and '~'
// are refused with an error that says so. Thread rule: immutable once made; free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/html/links.h"

namespace orbweaver::html {

// An element as selectors see it: its tag in ASCII lower case, its id and its class attribute as written.
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
  // Whether the selector matches the last element of the path. The path begins at the root.
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

// The links of <a> and <area> elements that match the selector, or that are inside an element that matches, in document
// order; at most max_links_per_page. The tree is the tokenizer's: an element whose end tag may be left out is closed by
// what follows it (HTML standard, 13.1.2.4); an end tag closes what is open inside its element. Cost: one pass. At most
// max_open_elements ancestors are kept; deeper elements match as if they were at that depth.
std::vector<PageLink> selected_links(std::string_view html, const Selector& selector);

}  // namespace orbweaver::html
