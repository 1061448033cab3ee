// The document tree by tidy-html5. Only this file and tidy_guard use that library. Pages that tidy must not get are
// read by the tokenizer instead.
#include <tidy/tidy.h>
#include <tidy/tidybuffio.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "node/html/link_rules.h"
#include "node/html/tidy_guard.h"
#include "node/html/visible_text.h"

namespace orbweaver {
namespace {

Bool TIDY_CALL no_report(TidyDoc /*doc*/, TidyReportLevel /*level*/, uint /*line*/, uint /*column*/, ctmbstr /*text*/) {
  return no;
}
void TIDY_CALL no_byte(void* /*sink*/, byte /*b*/) {}

void configure(TidyDoc doc, TidyOutputSink* silence) {
  tidySetErrorSink(doc, silence);
  tidySetReportFilter(doc, no_report);
  tidySetCharEncoding(doc, "utf8");
  for (const TidyOptionId off : {TidyShowWarnings, TidyShowInfo, TidyFixUri, TidyFixBackslash, TidyDropEmptyElems,
                                 TidyDropEmptyParas, TidyMark, TidyJoinStyles, TidyCoerceEndTags, TidyAnchorAsName}) {
    tidyOptSetBool(doc, off, no);
  }
  tidyOptSetBool(doc, TidyQuiet, yes);
  tidyOptSetBool(doc, TidyForceOutput, yes);
  tidyOptSetInt(doc, TidyShowErrors, 0);
  tidyOptSetInt(doc, TidyDuplicateAttrs, TidyKeepFirst);
  tidyOptSetInt(doc, TidyUseCustomTags, TidyCustomBlocklevel);
}

// Parses into `doc`. False when tidy gave up: then neither `doc` nor anything in it may be touched. Owns nothing that a
// jump would leak.
bool parse(html::TidyArena& arena, std::string_view page, TidyOutputSink* silence, TidyDoc* doc) {
  if (setjmp(arena.panic_exit) != 0) return false;
  arena.panic_exit_is_set = true;
  *doc = tidyCreateWithAllocator(&arena);
  if (*doc == nullptr) return false;
  configure(*doc, silence);
  TidyBuffer input;
  tidyBufInit(&input);
  // Tidy only reads the buffer, so the const_cast is safe.
  tidyBufAttach(&input, reinterpret_cast<byte*>(const_cast<char*>(page.data())), static_cast<uint>(page.size()));
  const int status = tidyParseBuffer(*doc, &input);
  tidyBufDetach(&input);
  arena.panic_exit_is_set = false;
  return status >= 0;
}

// A parsed page. Its memory is freed with the arena, so tidyRelease(), which would walk all of it, is not needed.
class TidyPage {
 public:
  explicit TidyPage(std::string_view page) : arena_(page.size()) {
    if (page.empty() || !html::tidy_can_take(page)) return;
    silence_.putByte = no_byte;
    if (!parse(arena_, page, &silence_, &doc_)) doc_ = nullptr;
  }
  TidyDoc doc() const { return doc_; }

 private:
  html::TidyArena arena_;
  TidyOutputSink silence_{};
  TidyDoc doc_ = nullptr;
};

const html::TagFacts& facts_of(TidyNode node) {
  const ctmbstr name = tidyNodeGetName(node);
  return html::tag_facts(html::name_key(name != nullptr ? name : ""));
}

bool is_element(TidyNode node) {
  const TidyNodeType type = tidyNodeGetType(node);
  return type == TidyNode_Start || type == TidyNode_StartEnd;
}

// Walks the tree below `root` in document order without recursion. `enter` says whether to go into a node; `leave`
// is called after each node that was entered.
// A tree has at most as many nodes as tidy made allocations, so a cycle in a broken tree ends at `max_nodes`.
template <class Enter, class Leave>
void walk(TidyNode root, std::size_t max_nodes, Enter enter, Leave leave) {
  TidyNode node = root;
  for (std::size_t seen = 0; node != nullptr && seen < max_nodes; ++seen) {
    if (enter(node)) {
      if (TidyNode child = tidyGetChild(node)) {
        node = child;
        continue;
      }
      leave(node);
    }
    while (node != root && tidyGetNext(node) == nullptr) {
      node = tidyGetParent(node);
      if (node == nullptr) return;
      leave(node);
    }
    if (node == root) return;
    node = tidyGetNext(node);
  }
}

const char* value_of(TidyNode node, TidyAttrId id) {
  const TidyAttr attribute = tidyAttrGetById(node, id);
  if (attribute == nullptr) return nullptr;
  const ctmbstr value = tidyAttrValue(attribute);
  return value != nullptr ? value : "";
}

std::string_view text_of(const char* value) { return value != nullptr ? std::string_view(value) : std::string_view(); }

bool is_in_svg(TidyNode node) {
  for (node = tidyGetParent(node); node != nullptr; node = tidyGetParent(node))
    if (const ctmbstr name = tidyNodeGetName(node); name != nullptr && html::equals_ignoring_case(name, "svg"))
      return true;
  return false;
}

const char* xlink_href_of(TidyNode node) {
  for (TidyAttr attribute = tidyAttrFirst(node); attribute != nullptr; attribute = tidyAttrNext(attribute)) {
    const ctmbstr name = tidyAttrName(attribute);
    if (name == nullptr || !html::equals_ignoring_case(name, "xlink:href")) continue;
    const ctmbstr value = tidyAttrValue(attribute);
    return value != nullptr ? value : "";
  }
  return nullptr;
}

void note_element(TidyNode node, PageLinks& page) {
  const auto anchor = [&](LinkKind kind) {
    const char* href = value_of(node, TidyAttr_HREF);
    // SVG 2, 16.2; on an HTML element xlink:href means nothing.
    if (href == nullptr && kind == LinkKind::anchor && is_in_svg(node)) href = xlink_href_of(node);
    if (href == nullptr) return;
    const std::string_view rel = text_of(value_of(node, TidyAttr_REL));
    html::add_link(page, href, html::kind_of_anchor_rel(rel, kind), html::has_token(rel, "nofollow"));
  };
  const auto frame = [&](LinkKind kind) {
    const std::string_view src = text_of(value_of(node, TidyAttr_SRC));
    if (!src.empty()) html::add_link(page, std::string(src), kind);
  };
  switch (tidyNodeGetId(node)) {
    case TidyTag_A:
      anchor(LinkKind::anchor);
      break;
    case TidyTag_AREA:
      anchor(LinkKind::area);
      break;
    case TidyTag_FRAME:
      frame(LinkKind::frame);
      break;
    case TidyTag_IFRAME:
      frame(LinkKind::iframe);
      break;
    case TidyTag_LINK: {
      const std::string_view href = text_of(value_of(node, TidyAttr_HREF));
      const auto kind = html::kind_of_link_rel(text_of(value_of(node, TidyAttr_REL)));
      if (kind && !href.empty()) html::add_link(page, std::string(href), *kind);
      break;
    }
    case TidyTag_BASE:
      if (const char* const href = value_of(node, TidyAttr_HREF); href != nullptr && !page.base) page.base = href;
      break;
    case TidyTag_META: {
      const std::string_view content = text_of(value_of(node, TidyAttr_CONTENT));
      html::note_meta_robots(text_of(value_of(node, TidyAttr_NAME)), content, page);
      html::note_meta_refresh(text_of(value_of(node, TidyAttr_HTTP_EQUIV)), content, page);
      break;
    }
    default:
      break;
  }
}

// Hides the same elements as the stream extractor: see TreeContext.
bool hides_links(TidyNode node) {
  const TidyTagId id = tidyNodeGetId(node);
  return id == TidyTag_TEMPLATE || id == TidyTag_SVG || id == TidyTag_MATHML || id == TidyTag_SELECT;
}

// A buffer of tidy's, freed by the destructor.
class NodeText {
 public:
  NodeText() { tidyBufInit(&buffer_); }
  ~NodeText() { tidyBufFree(&buffer_); }
  NodeText(const NodeText&) = delete;
  NodeText& operator=(const NodeText&) = delete;

  // A text node's characters, references decoded; valid until the next call.
  std::string_view of(TidyDoc doc, TidyNode node) {
    tidyBufClear(&buffer_);
    if (tidyNodeGetValue(doc, node, &buffer_) == no || buffer_.bp == nullptr) return {};
    std::string_view text(reinterpret_cast<const char*>(buffer_.bp), buffer_.size);
    while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    return text;
  }

 private:
  TidyBuffer buffer_{};
};

// Finds attributes by name, because tidy has no number for some of them.
std::optional<std::string> attribute_of(TidyNode node, std::string_view name) {
  for (TidyAttr attribute = tidyAttrFirst(node); attribute != nullptr; attribute = tidyAttrNext(attribute)) {
    const ctmbstr own = tidyAttrName(attribute);
    if (own == nullptr || !html::equals_ignoring_case(own, name)) continue;
    const ctmbstr value = tidyAttrValue(attribute);
    return std::string(value != nullptr ? value : "");
  }
  return std::nullopt;
}

class TidyExtractor final : public LinkExtractor {
 public:
  explicit TidyExtractor(LinkChoice choice) : choice_(choice), fallback_(make_stream_extractor(choice)) {}

  PageLinks extract(std::string_view html_text) override {
    const TidyPage parsed(html_text);
    if (parsed.doc() == nullptr) return fallback_->extract(html_text);
    PageLinks page;
    walk(
        tidyGetRoot(parsed.doc()), html::max_tidy_allocations(html_text.size()),
        [&](TidyNode node) {
          if (is_element(node)) {
            note_element(node, page);
            if (choice_.any()) note_chosen(parsed.doc(), node, page);
          }
          return !hides_links(node);
        },
        [](TidyNode) {});
    return page;
  }

 private:
  void note_chosen(TidyDoc doc, TidyNode node, PageLinks& page) const {
    const ctmbstr name = tidyNodeGetName(node);
    const html::NameKey key = html::name_key(name != nullptr ? name : "");
    html::note_chosen(
        key, [node](std::string_view wanted) { return attribute_of(node, wanted); }, choice_, page);
    if (key != html::name_key("style") && key != html::name_key("script")) return;
    NodeText characters;
    std::string text;
    for (TidyNode child = tidyGetChild(node); child != nullptr; child = tidyGetNext(child))
      text += characters.of(doc, child);
    if (key == html::name_key("script")) {
      html::note_script_text(attribute_of(node, "type").value_or(""), text, choice_, page);
    } else if (choice_.styles) {
      html::note_style_text(text, page);
    }
  }

  LinkChoice choice_;
  std::unique_ptr<LinkExtractor> fallback_;
};

std::string title_of(TidyDoc doc, NodeText& characters) {
  const TidyNode head = tidyGetHead(doc);
  for (TidyNode node = head != nullptr ? tidyGetChild(head) : nullptr; node != nullptr; node = tidyGetNext(node)) {
    if (tidyNodeGetId(node) != TidyTag_TITLE) continue;
    std::string title;
    for (TidyNode child = tidyGetChild(node); child != nullptr; child = tidyGetNext(child))
      title += characters.of(doc, child);
    return html::folded(title);
  }
  return {};
}

}  // namespace

std::unique_ptr<LinkExtractor> make_tidy_extractor(LinkChoice choice) {
  return std::make_unique<TidyExtractor>(choice);
}

PageText extract_text(std::string_view html_text) {
  const TidyPage parsed(html_text);
  const TidyDoc doc = parsed.doc();
  if (doc == nullptr) return html::extract_text_by_stream(html_text);
  PageText out;
  NodeText characters;
  out.title = title_of(doc, characters);
  if (const TidyNode root = tidyGetHtml(doc)) {
    const std::string_view lang = text_of(value_of(root, TidyAttr_LANG));
    out.language = lang.empty() ? text_of(value_of(root, TidyAttr_XML_LANG)) : lang;
  }
  const TidyNode body = tidyGetBody(doc);
  if (body == nullptr) return out;
  html::TextBuilder text;
  walk(
      body, html::max_tidy_allocations(html_text.size()),
      [&](TidyNode node) {
        const TidyNodeType type = tidyNodeGetType(node);
        if (type == TidyNode_Text || type == TidyNode_CDATA) text.append(characters.of(doc, node));
        if (!is_element(node)) return false;
        const html::TagFacts& facts = facts_of(node);
        text.add_break(html::text_break(facts));
        return !html::hides_text(facts);
      },
      [&](TidyNode node) { text.add_break(html::text_break(facts_of(node))); });
  out.text = text.take();
  return out;
}

}  // namespace orbweaver
