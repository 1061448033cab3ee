#include "node/html/script_shell.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "node/html/tags.h"
#include "node/html/tokenizer.h"
#include "node/html/tree_context.h"

namespace orbweaver::html {

namespace {

// Ids that frameworks give the element which their scripts fill.
constexpr std::array<std::string_view, 12> root_ids = {"root",      "app",      "__next",      "__nuxt",
                                                       "___gatsby", "q-app",    "svelte",      "react-root",
                                                       "app-root",  "main-app", "application", "ember-application"};
// A shorter script without a src counts visits, or sets a class.
constexpr std::size_t long_script_bytes = 1'000;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower_ascii);
  return out;
}

std::size_t shown_bytes(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_html_space(c); }));
}

std::string value_of(const Token& token, std::string_view name) {
  std::string value;
  if (const auto* raw = token.attribute(name_key(name))) decode_attribute(*raw, value);
  return value;
}

// Data for scripts, such as JSON, is none.
bool is_script(const Token& token) {
  const std::string type = lower(value_of(token, "type"));
  return type.empty() || type == "module" || type.find("javascript") != std::string::npos;
}

class Look {
 public:
  void text(const Token& token, bool in_template) {
    if (token.model == TextModel::script) {
      if (script_runs_ && token.text.size() >= long_script_bytes) ++shell.scripts;
      script_runs_ = false;
      return;
    }
    if (in_noscript_) {
      noscript_ += lower(token.text);
      return;
    }
    const bool is_shown =
        token.model == TextModel::data || token.model == TextModel::plaintext || token.model == TextModel::cdata;
    if (is_shown && !in_template) shell.text_bytes += shown_bytes(token.text);
  }
  void start(const Token& token, const TreeContext::Verdict& verdict) {
    static constexpr NameKey noscript = name_key("noscript");
    if (token.key == noscript) in_noscript_ = true;
    if (in_noscript_) return;
    if (verdict.tag == Tag::script) {
      const bool runs = is_script(token);
      if (runs && token.attribute(name_key("src")) != nullptr) ++shell.scripts;
      script_runs_ = runs && token.attribute(name_key("src")) == nullptr;
    }
    if (!verdict.inserted) return;
    if (verdict.tag == Tag::a && token.attribute(name_key("href")) != nullptr) ++shell.links;
    if (shell.root.empty()) shell.root = root_of(token);
    if (shows_more(token.key)) shows_more_ = true;
    if (container_.empty() && token.key == name_key("div"))
      if (const std::string id = value_of(token, "id"); !id.empty()) container_ = "div#" + id.substr(0, 64);
  }
  void end(const Token& token) {
    if (token.key == name_key("noscript")) in_noscript_ = false;
  }
  ScriptShell take() {
    shell.asks_for_scripts = noscript_.find("javascript") != std::string::npos;
    // With nothing else in the page, any container is there to be filled.
    if (shell.root.empty() && shell.text_bytes == 0 && shell.links == 0 && !shows_more_) shell.root = container_;
    return std::move(shell);
  }

 private:
  static bool shows_more(NameKey key) {
    for (const char* name :
         {"img", "iframe", "frame", "object", "embed", "video", "audio", "canvas", "svg", "form", "area"})
      if (key == name_key(name)) return true;
    return false;
  }
  static std::string root_of(const Token& token) {
    // Elements of the page's own; of others, such as a toolbar, a page can have some among its content.
    const std::string name = lower(token.name.substr(0, 64));
    if (name.starts_with("app-") || name.ends_with("-app") || name.ends_with("-root")) return name;
    const std::string id = value_of(token, "id");
    if (std::find(root_ids.begin(), root_ids.end(), lower(id)) == root_ids.end()) return {};
    return name + "#" + id;
  }

  ScriptShell shell;
  std::string noscript_;
  bool in_noscript_ = false;
  bool script_runs_ = false;
  bool shows_more_ = false;  // something else than text and links
  std::string container_;    // the first <div> with an id
};

}  // namespace

std::string ScriptShell::why() const {
  std::string words = std::to_string(text_bytes) + " bytes of text, " + std::to_string(links) + " links, " +
                      std::to_string(scripts) + " scripts";
  if (!root.empty()) words += "; scripts fill " + root;
  if (asks_for_scripts) words += "; it asks for JavaScript";
  return words;
}

ScriptShell look_for_shell(std::string_view html) {
  Look look;
  Tokenizer tokenizer(html);
  TreeContext context(tokenizer);
  Token token;
  bool in_title = false;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) {
      context.text(token);
      if (!in_title) look.text(token, context.in_template());
      continue;
    }
    if (token.kind == TokenKind::end_tag) {
      look.end(token);
      context.end_tag(token);
      in_title = false;
    } else {
      const TreeContext::Verdict verdict = context.start_tag(token);
      if (verdict.model != TextModel::data) tokenizer.enter(verdict.model, token.key);
      in_title = verdict.tag == Tag::title;
      look.start(token, verdict);
    }
    tokenizer.allow_cdata(context.in_foreign_content());
  }
  return look.take();
}

}  // namespace orbweaver::html
