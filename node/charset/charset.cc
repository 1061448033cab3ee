// The order of evidence, and the choice of a page's decoder.
#include "node/charset/charset.h"

#include <algorithm>

#include "node/charset/encoding_sniffer.h"
#include "node/charset/text_decoders.h"
#include "node/charset/text_encoders.h"

namespace orbweaver {
namespace {

// No body is nearly as large; a text is converted into at most three times as many bytes.
constexpr std::size_t max_decoded_bytes = std::size_t{512} << 20;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool same_in_ascii(std::string_view charset) {
  return charset != "utf-16le" && charset != "utf-16be" && charset != "replacement" && charset != "iso-2022-jp";
}

// The order of the HTML standard, 13.2.3.2.
// The last guess is windows-1252 even for ASCII, as in browsers; that matters only to queries.
std::string sniff(std::string_view bytes, std::string_view content_type, std::size_t& bom_bytes) {
  if (auto charset = html::charset_from_bom(bytes, bom_bytes)) return *charset;
  if (auto charset = html::charset_from_content_type(content_type)) return *charset;
  if (auto charset = html::charset_from_prescan(bytes)) return *charset;
  if (html::utf8_evidence(bytes) == html::Utf8Evidence::valid) return "utf-8";
  if (bytes.size() > html::max_prescan_bytes) {
    if (auto charset = html::charset_from_late_meta(bytes)) return *charset;
  }
  return html::charset_from_detection(bytes).value_or("windows-1252");
}

// The same for text that is not HTML.
std::string sniff_text(std::string_view bytes, std::string_view content_type, TextFormat format,
                       std::size_t& bom_bytes) {
  if (auto charset = html::charset_from_bom(bytes, bom_bytes)) return *charset;
  if (auto charset = html::charset_from_content_type(content_type)) return *charset;
  if (format == TextFormat::css) return html::charset_from_css(bytes).value_or("utf-8");
  if (html::utf8_evidence(bytes) != html::Utf8Evidence::invalid) return "utf-8";
  return html::charset_from_detection(bytes).value_or("windows-1252");
}

class LegacyQueryEncoder final : public QueryEncoder {
 public:
  explicit LegacyQueryEncoder(std::string_view charset) : charset_(charset), keeps_ascii_(same_in_ascii(charset)) {}

  std::string encode(std::string_view utf8) const override {
    if (keeps_ascii_ && is_ascii(utf8)) return std::string(utf8);  // nearly all queries
    return html::encode_from_utf8(charset_, utf8);
  }

 private:
  std::string charset_;
  bool keeps_ascii_;
};

// `out.charset` is set, the mark is removed.
void decode(std::string_view bytes, DecodedText& out) {
  out.storage.clear();
  out.utf8 = bytes;
  if (out.charset == "utf-8" || (same_in_ascii(out.charset) && is_ascii(bytes))) return;
  // A byte becomes at most three: some bytes from 0x80 on, in a legacy charset.
  const std::size_t taken = std::min(max_decoded_bytes, out.max_storage_bytes / 3);
  if (bytes.size() > taken) out.cut = true;
  if (html::decode_to_utf8(out.charset, bytes.substr(0, taken), out.storage)) out.utf8 = out.storage;
}

}  // namespace

void decode_html(std::string_view bytes, std::string_view content_type, DecodedText& out) {
  std::size_t bom_bytes = 0;
  out.charset = sniff(bytes, content_type, bom_bytes);
  bytes.remove_prefix(bom_bytes);
  decode(bytes, out);
}

void decode_text_body(std::string_view bytes, std::string_view content_type, TextFormat format, DecodedText& out) {
  std::size_t bom_bytes = 0;
  out.charset = sniff_text(bytes, content_type, format, bom_bytes);
  bytes.remove_prefix(bom_bytes);
  decode(bytes, out);
}

std::unique_ptr<QueryEncoder> make_query_encoder(std::string_view charset) {
  if (html::is_written_as_utf8(charset)) return nullptr;
  return std::make_unique<LegacyQueryEncoder>(charset);
}

}  // namespace orbweaver
