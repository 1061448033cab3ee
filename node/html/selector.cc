#include "node/html/selector.h"

#include <algorithm>
#include <array>

#include "node/html/link_rules.h"
#include "node/html/tree_context.h"
#include "node/text/shown.h"

namespace orbweaver::html {

namespace {

constexpr std::size_t max_compounds = 64;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower_ascii);
  return out;
}

tl::unexpected<Error> wrong(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid_input, shown(text) + " is not a selector: " + why +
                                            "; tags, .class, #id, one inside another, and commas are known");
}

bool has_class(std::string_view classes, std::string_view wanted) {
  for (std::size_t at = 0; at < classes.size();) {
    while (at < classes.size() && is_html_space(classes[at])) ++at;
    std::size_t end = at;
    while (end < classes.size() && !is_html_space(classes[end])) ++end;
    if (classes.substr(at, end - at) == wanted) return true;
    at = end;
  }
  return false;
}

bool is_void(NameKey key) { return tag_facts(key).is_void; }

// Groups of elements: the start tag of one closes an open one of the same group.
constexpr std::array<NameKey, 2> terms = {name_key("dt"), name_key("dd")};
constexpr std::array<NameKey, 2> cells = {name_key("td"), name_key("th")};
constexpr std::array<NameKey, 3> sections = {name_key("tbody"), name_key("thead"), name_key("tfoot")};
// Limits of that: a list item or a cell closes nothing outside the innermost of these.
constexpr std::array<NameKey, 8> walls = {name_key("ul"),   name_key("ol"),       name_key("dl"),     name_key("table"),
                                          name_key("html"), name_key("template"), name_key("button"), name_key("menu")};
// Start tags that close an open <p> (HTML standard, 13.1.2.4).
constexpr std::array<NameKey, 30> blocks = {
    name_key("address"), name_key("article"), name_key("aside"),  name_key("blockquote"), name_key("details"),
    name_key("div"),     name_key("dl"),      name_key("figure"), name_key("figcaption"), name_key("footer"),
    name_key("form"),    name_key("h1"),      name_key("h2"),     name_key("h3"),         name_key("h4"),
    name_key("h5"),      name_key("h6"),      name_key("header"), name_key("hr"),         name_key("main"),
    name_key("menu"),    name_key("nav"),     name_key("ol"),     name_key("p"),          name_key("pre"),
    name_key("section"), name_key("table"),   name_key("ul"),     name_key("fieldset"),   name_key("hgroup")};

template <class List>
bool among(const List& list, NameKey key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

// The open elements, and for each one whether it or an ancestor matches.
class Path {
 public:
  // A document has its root element even without the tag.
  explicit Path(const Selector& selector) : selector_(selector) { open(name_key("html"), {"html", {}, {}}); }

  void open(NameKey key, SelectedElement element) {
    close_implied(key);
    elements_.push_back(std::move(element));
    const bool inside = !matched_.empty() && matched_.back() != 0;
    matched_.push_back(inside || selector_.matches(elements_) ? 1 : 0);
    keys_.push_back(key);
  }
  bool matched() const { return !matched_.empty() && matched_.back() != 0; }
  bool full() const { return keys_.size() >= max_open_elements; }
  void pop() { shrink(keys_.size() - 1); }
  void close(NameKey key) {
    for (std::size_t at = keys_.size(); at-- > 1;)
      if (keys_[at] == key) return shrink(at);
  }

 private:
  void shrink(std::size_t size) {
    elements_.resize(size);
    matched_.resize(size);
    keys_.resize(size);
  }

  template <class List>
  void close_any(const List& list) {
    for (std::size_t at = keys_.size(); at-- > 0;) {
      if (among(list, keys_[at])) return shrink(at);
      if (among(walls, keys_[at])) return;
    }
  }

  void close_implied(NameKey key) {
    if (among(blocks, key)) close_any(std::array{name_key("p")});
    if (key == name_key("li")) close_any(std::array{name_key("li")});
    if (among(terms, key)) close_any(terms);
    if (key == name_key("option")) close_any(std::array{name_key("option")});
    if (among(cells, key)) close_any(cells);
    if (key == name_key("tr")) close_any(std::array{name_key("tr")});
    if (among(sections, key)) close_any(sections);
    if (key == name_key("a")) close_any(std::array{name_key("a")});  // links do not nest (13.2.6.4.7)
  }

  const Selector& selector_;
  std::vector<SelectedElement> elements_;
  std::vector<char> matched_;
  std::vector<NameKey> keys_;
};

std::string value_of(const Token& token, NameKey name) {
  std::string value;
  if (const std::string_view* raw = token.attribute(name)) decode_attribute(*raw, value);
  return value;
}

}  // namespace

Result<Selector::Compound> Selector::parse_compound(std::string_view text) {
  Compound made;
  for (std::size_t at = 0; at < text.size();) {
    const char kind = text[at];
    if (kind == '*' && at == 0) {
      ++at;
      continue;
    }
    const bool marked = kind == '.' || kind == '#';
    const std::size_t begin = at + (marked ? 1 : 0);
    std::size_t end = begin;
    while (end < text.size() && is_name_char(text[end])) ++end;
    if (end == begin || (!marked && at != 0)) return wrong(text, "'" + std::string(1, kind) + "' is not known here");
    std::string name(text.substr(begin, end - begin));
    if (kind == '.') {
      made.classes.push_back(std::move(name));
    } else if (kind == '#') {
      if (!made.id.empty()) return wrong(text, "an element has one id");
      made.id = std::move(name);
    } else {
      made.tag = lower(name);
    }
    at = end;
  }
  return made;
}

Result<Selector> Selector::parse(std::string_view text) {
  Selector made;
  std::size_t compounds = 0;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::string_view rest = text.substr(start, end - start);
    start = end + 1;
    std::vector<Compound> one;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (space > 0) {
        Result<Compound> compound = parse_compound(rest.substr(0, space));
        if (!compound) return tl::make_unexpected(compound.error());
        one.push_back(std::move(*compound));
      }
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    if (one.empty()) return wrong(text, "there is nothing to match");
    compounds += one.size();
    made.alternatives_.push_back(std::move(one));
  }
  if (compounds > max_compounds) return wrong(text, "it has more than " + std::to_string(max_compounds) + " parts");
  return made;
}

bool Selector::Compound::matches(const SelectedElement& element) const {
  return (tag.empty() || tag == element.tag) && (id.empty() || id == element.id) &&
         std::all_of(classes.begin(), classes.end(),
                     [&](const std::string& wanted) { return has_class(element.classes, wanted); });
}

// The last compound must match the last element; for the others, the nearest fitting ancestor never loses a match.
bool Selector::matches(const std::vector<SelectedElement>& path) const {
  if (path.empty()) return false;
  return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const std::vector<Compound>& one) {
    if (!one.back().matches(path.back())) return false;
    std::size_t left = one.size() - 1;
    for (std::size_t at = path.size() - 1; at-- > 0 && left > 0;)
      if (one[left - 1].matches(path[at])) --left;
    return left == 0;
  });
}

std::vector<PageLink> selected_links(std::string_view html, const Selector& selector) {
  PageLinks found;
  Tokenizer tokenizer(html);
  TreeContext context(tokenizer);  // decides how the tokenizer continues, and which tags make no element
  Path path(selector);
  Token token;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) {
      if (context.text_matters()) context.text(token);
      continue;
    }
    if (token.kind == TokenKind::end_tag) {
      context.end_tag(token);
      tokenizer.allow_cdata(context.in_foreign_content());
      path.close(token.key);
      continue;
    }
    const TreeContext::Verdict verdict = context.start_tag(token);
    tokenizer.allow_cdata(context.in_foreign_content());
    if (verdict.model != TextModel::data) tokenizer.enter(verdict.model, token.key);
    if (!verdict.inserted || verdict.model != TextModel::data) continue;
    if (path.full()) path.pop();
    path.open(token.key, {lower(token.name), value_of(token, name_key("id")), value_of(token, name_key("class"))});
    const bool is_link = verdict.tag == Tag::a || verdict.tag == Tag::area;
    if (is_link && path.matched() && token.attribute(name_key("href")) != nullptr)
      add_link(found, value_of(token, name_key("href")), LinkKind::anchor,
               has_token(value_of(token, name_key("rel")), "nofollow"));
    if (is_void(token.key)) path.pop();
  }
  return std::move(found.links);
}

}  // namespace orbweaver::html
