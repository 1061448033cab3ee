#include "node/corpus/text_line.h"

#include <charconv>

#include "node/text/language.h"
#include "node/text/web_date.h"
#include "ring/md5.h"
#include "storage/warc_format.h"

namespace orbweaver {

namespace {

constexpr std::string_view digest_label = "md5:";

// A date that a document states counts only when it can be parsed.
std::optional<Time> date_of(std::string_view text) {
  if (const auto date = parse_w3c_date(text)) return date;
  return parse_mail_date(text);
}

std::string hex_of(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 15];
  return text;
}

bool read_hex(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc{} && end == text.data() + text.size() && text.size() == 16;
}

void note_date(const TextPage& page, nlohmann::json& line) {
  for (const auto& [from, text] : page.page.dates) {
    const auto date = date_of(text);
    if (!date) continue;
    line["date"] = storage::warc_date(*date);
    line["date_from"] = from;
    return;
  }
  if (const auto date = date_of(page.last_modified)) {
    line["date"] = storage::warc_date(*date);
    line["date_from"] = "Last-Modified";
  }
}

}  // namespace

nlohmann::json text_line(const TextPage& page, TextPrint& print) {
  std::string text = html::text_of(page.page.blocks, page.all);
  print = text_print(text);
  const Language language = guess_language(text);
  nlohmann::json line = {{"url", page.url},
                         {"fetched", storage::warc_date(page.fetched)},
                         {"fetched_us", page.fetched.time_since_epoch().count()},
                         {"status", page.status},
                         {"charset", page.charset},
                         {"title", page.page.title},
                         {"language", language.code},
                         {"language_sure", language.sure},
                         {"language_declared", page.page.language},
                         {"words", print.words},
                         {"digest", std::string(digest_label) + ring::to_hex(ring::md5(text))},
                         {"simhash", hex_of(print.simhash)}};
  note_date(page, line);
  line["text"] = std::move(text);
  return line;
}

void note_repeat(nlohmann::json& line, const std::optional<Repeat>& repeat) {
  if (repeat) {
    line["repeats"] = {{"kind", repeat->exact ? "exact" : "near"}, {"bits", repeat->distance}, {"url", repeat->name}};
  } else {
    line.erase("repeats");
  }
}

Result<LinePrint> line_print(const nlohmann::json& line) {
  LinePrint made;
  const auto text_at = [&](const char* name) {
    const auto at = line.find(name);
    return at != line.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  const std::string digest = text_at("digest");
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  if (!digest.starts_with(digest_label) || digest.size() != digest_label.size() + 32 ||
      !read_hex(std::string_view(digest).substr(digest_label.size(), 16), high) ||
      !read_hex(std::string_view(digest).substr(digest_label.size() + 16), low))
    return fail(ErrorCode::invalid_input, "it has no \"digest\" of md5: and 32 hex digits");
  for (std::size_t i = 0; i < 8; ++i) {
    made.digest[i] = static_cast<std::uint8_t>(high >> (8 * (7 - i)));
    made.digest[i + 8] = static_cast<std::uint8_t>(low >> (8 * (7 - i)));
  }
  if (!read_hex(text_at("simhash"), made.print.simhash))
    return fail(ErrorCode::invalid_input, "it has no \"simhash\" of 16 hex digits");
  const auto words = line.find("words");
  if (words == line.end() || !words->is_number_unsigned()) return fail(ErrorCode::invalid_input, "it has no \"words\"");
  made.print.words = words->get<std::size_t>();
  return made;
}

}  // namespace orbweaver
