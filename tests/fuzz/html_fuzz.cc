// Any bytes as a page: the tokenizer ends and its tokens are views of the page, both extractors keep their bounds, text
// is found, and a found link resolves or is counted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/charset/charset.h"
#include "node/html/css.h"
#include "node/html/header_links.h"
#include "node/html/link_rules.h"
#include "node/html/links.h"
#include "node/html/text_links.h"
#include "node/html/tree_context.h"
#include "node/html/visible_text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void tokenize(std::string_view page) {
  orbweaver::html::Tokenizer tokenizer(page);
  orbweaver::html::TreeContext context(tokenizer);
  orbweaver::html::Token token;
  const char* last = page.data();
  while (tokenizer.next(token)) {
    const bool is_text = token.kind == orbweaver::html::TokenKind::text;
    const std::string_view view = is_text ? token.text : token.name;
    require(view.data() >= last && view.data() + view.size() <= page.data() + page.size());
    last = view.data() + view.size();
    if (is_text) {
      context.text(token);
    } else if (token.kind == orbweaver::html::TokenKind::end_tag) {
      context.end_tag(token);
    } else {
      const auto verdict = context.start_tag(token);
      if (verdict.model != orbweaver::html::TextModel::data) tokenizer.enter(verdict.model, token.key);
    }
    tokenizer.allow_cdata(context.in_foreign_content());
  }
}

void check_links(orbweaver::LinkExtractor& extractor, std::string_view html, std::string_view charset) {
  const orbweaver::PageLinks page = extractor.extract(html);
  require(page.links.size() <= orbweaver::max_links_per_page);
  const auto document = orbweaver::Url::parse("http://d.test/a/b?c");
  const auto encoder = orbweaver::make_query_encoder(charset);
  const orbweaver::ResolvedLinks links = resolve_links(page, *document, encoder.get());
  require(links.urls.size() + links.skipped_scheme + links.malformed + links.nofollow <= page.links.size());
}

// Bytes read as styles, scripts, text or a header field: no result is longer than the input.
void check_texts(std::string_view bytes) {
  std::size_t found = 0;
  for (const auto& url : orbweaver::html::css_urls(bytes)) found += url.url.size();
  require(found <= bytes.size() * 3);  // NUL, and bad escapes, are U+FFFD
  for (const auto& url : orbweaver::html::plain_text_urls(bytes)) require(!url.empty());
  for (const auto& url : orbweaver::html::script_urls(bytes))
    require(url.size() <= orbweaver::html::max_text_url_bytes);
  for (const auto& url : orbweaver::html::json_ld_urls(bytes)) require(!url.empty());
  for (const auto& url : orbweaver::html::parse_srcset(bytes)) require(!url.empty());
  orbweaver::PageLinks page;
  orbweaver::html::note_link_fields({std::string(bytes)}, {}, page);
  orbweaver::html::note_refresh_field(bytes, page);
  require(page.links.size() <= bytes.size());
  orbweaver::DecodedText text;
  decode_text_body(bytes, "", orbweaver::TextFormat::css, text);
  decode_text_body(bytes, "", orbweaver::TextFormat::plain, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  orbweaver::DecodedText text;
  decode_html(bytes, "", text);
  tokenize(bytes);
  check_links(*orbweaver::make_stream_extractor(), text.utf8, text.charset);
  check_links(*orbweaver::make_tidy_extractor(), text.utf8, text.charset);
  const orbweaver::LinkChoice all{true, true, true, true, true, true, true};
  check_links(*orbweaver::make_stream_extractor(all), text.utf8, text.charset);
  check_links(*orbweaver::make_tidy_extractor(all), text.utf8, text.charset);
  check_texts(bytes);
  orbweaver::extract_text(text.utf8);
  orbweaver::html::extract_text_by_stream(text.utf8);
  // The first line is a Content-Type, the rest the page.
  const std::size_t line = bytes.find('\n');
  if (line != std::string_view::npos) decode_html(bytes.substr(line + 1), bytes.substr(0, line), text);
  return 0;
}
