#include "node/tools/links_command.h"

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <unordered_set>

#include "node/charset/charset.h"
#include "node/html/header_links.h"
#include "node/html/links.h"
#include "node/text/base64.h"
#include "node/text/printable.h"

namespace orbweaver {
namespace {

using nlohmann::json;

std::unique_ptr<LinkExtractor> make_extractor(ParserKind parser, LinkChoice choice = {}) {
  return parser == ParserKind::tidy ? make_tidy_extractor(choice) : make_stream_extractor(choice);
}

std::optional<std::string> string_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

json batch_answer(const std::string& line, LinkExtractor& extractor) {
  const json request = json::parse(line, nullptr, false);
  if (!request.is_object()) return {{"error", "not a JSON object"}};
  const auto base_url = string_in(request, "base_url");
  const auto encoded = string_in(request, "html_b64");
  if (!base_url || !encoded) return {{"error", "base_url or html_b64 is missing"}};
  const auto bytes = base64_decoded(*encoded);
  if (!bytes) return {{"error", "html_b64 is not base64"}};
  const Result<Url> document = Url::parse(*base_url);
  if (!document) return {{"error", "base_url: " + document.error().message}};
  const auto charset = string_in(request, "charset");
  DecodedText text;
  decode_html(*bytes, charset ? "text/html; charset=" + *charset : std::string(), text);
  const auto encoder = make_query_encoder(text.charset);
  const PageLinks page = extractor.extract(text.utf8);
  const Url base = document_base(page, *document, encoder.get());
  json links = json::array();
  std::unordered_set<std::string> seen;
  for (const PageLink& link : page.links) {
    if (link.nofollow || page.meta_nofollow) continue;
    const Result<Url> url = Url::parse(link.href, &base, encoder.get());
    if (!url || !url->is_http()) continue;
    std::string href = url->href(false);
    if (seen.insert(href).second) links.push_back(std::move(href));
  }
  return {{"links", std::move(links)}};
}

}  // namespace

json links_report(std::string_view html_bytes, std::string_view base_url, std::string_view content_type,
                  ParserKind parser, const LinkRules& rules, const std::vector<std::string>& link_fields) {
  const Result<Url> document = Url::parse(base_url);
  if (!document) return {{"error", "base URL: " + document.error().message}};
  DecodedText text;
  decode_html(html_bytes, content_type, text);
  const auto encoder = make_query_encoder(text.charset);
  LinkChoice choice = rules.follow;
  choice.resources |= rules.requisites;
  choice.styles |= rules.requisites;
  PageLinks page = make_extractor(parser, choice)->extract(text.utf8);
  html::note_link_fields(link_fields, choice, page);
  const Url base = document_base(page, *document, encoder.get());
  json links = json::array();
  std::uint32_t skipped_scheme = 0;
  std::uint32_t malformed = 0;
  for (const PageLink& link : page.links) {
    const Result<Url> url =
        link.from_header ? Url::parse(link.href, &*document) : Url::parse(link.href, &base, encoder.get());
    if (url && !url->is_http()) {
      ++skipped_scheme;
      continue;
    }
    const Result<CanonicalUrl> canonical = url ? rules.canonicaliser.from(*url) : tl::make_unexpected(url.error());
    if (!canonical) {
      ++malformed;
      continue;
    }
    links.push_back({{"url", canonical->text()}, {"kind", link_kind_name(link.kind)}, {"nofollow", link.nofollow}});
  }
  json report = {{"base", base.href()},
                 {"charset", text.charset},
                 {"links", std::move(links)},
                 {"skipped", {{"scheme", skipped_scheme}, {"malformed", malformed}}},
                 {"meta", {{"nofollow", page.meta_nofollow}, {"noindex", page.meta_noindex}}}};
  if (parser == ParserKind::tidy) {
    const PageText content = extract_text(text.utf8);
    report["title"] = content.title;
    report["language"] = content.language;
  }
  return report;
}

int links_batch(std::istream& in, std::ostream& out, ParserKind parser) {
  const auto extractor = make_extractor(parser);
  int code = 0;
  std::string line;
  while (std::getline(in, line)) {
    const json answer = batch_answer(line, *extractor);
    if (answer.contains("error")) code = 2;
    out << printable_json(answer.dump(-1, ' ', false, json::error_handler_t::replace)) << '\n';
  }
  out.flush();
  return code;
}

}  // namespace orbweaver
