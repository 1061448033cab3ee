// Decoding and encoding through ICU.
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/ucnv_err.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>

#include "node/html/charset.h"
#include "node/html/encoding_sniffer.h"
#include "node/html/tokenizer.h"

namespace orbweaver {
namespace {

// ICU counts in 32 bits and a byte becomes at most three: longer input is cut here. Bodies are limited far below.
constexpr std::size_t decoded_bytes_max = std::size_t{512} << 20;

struct CloseConverter {
  void operator()(UConverter* converter) const { ucnv_close(converter); }
};
using Converter = std::unique_ptr<UConverter, CloseConverter>;

// ICU's converter for one of the Encoding standard's names. Where ICU's own of that name maps other characters, the
// better one is named.
struct IcuName {
  std::string_view charset;
  const char* decoder;
  const char* encoder;
};
constexpr IcuName icu_names[] = {
    {"iso-8859-8-i", "iso-8859-8", "iso-8859-8"},  // visual or logical order is no matter here
    {"iso-8859-16", "iso-8859-1", ""},
    {"windows-874", "windows-874-2000", "windows-874-2000"},
    {"gbk", "gb18030", "GBK"},
    {"big5", "Big5-HKSCS", "windows-950-2000"},
    {"shift_jis", "ibm-943_P15A-2003", "ibm-943_P15A-2003"},
    {"euc-kr", "windows-949-2000", "windows-949-2000"},
};

// Bytes that the Encoding standard's tables read otherwise than ICU's.
struct ByteMeaning {
  unsigned char byte;
  char16_t character;
};
constexpr ByteMeaning iso_8859_16_bytes[] = {  // against ISO-8859-1; ICU has none of its own
    {0xA1, 0x104},  {0xA2, 0x105}, {0xA3, 0x141}, {0xA4, 0x20AC}, {0xA5, 0x201E}, {0xA6, 0x160}, {0xA8, 0x161},
    {0xAA, 0x218},  {0xAC, 0x179}, {0xAE, 0x17A}, {0xAF, 0x17B},  {0xB2, 0x10C},  {0xB3, 0x142}, {0xB4, 0x17D},
    {0xB5, 0x201D}, {0xB8, 0x17E}, {0xB9, 0x10D}, {0xBA, 0x219},  {0xBC, 0x152},  {0xBD, 0x153}, {0xBE, 0x178},
    {0xBF, 0x17C},  {0xC3, 0x102}, {0xC5, 0x106}, {0xD0, 0x110},  {0xD1, 0x143},  {0xD5, 0x150}, {0xD7, 0x15A},
    {0xD8, 0x170},  {0xDD, 0x118}, {0xDE, 0x21A}, {0xE3, 0x103},  {0xE5, 0x107},  {0xF0, 0x111}, {0xF1, 0x144},
    {0xF5, 0x151},  {0xF7, 0x15B}, {0xF8, 0x171}, {0xFD, 0x119},  {0xFE, 0x21B}};
constexpr ByteMeaning koi8_u_bytes[] = {{0xAE, 0x45E}, {0xBE, 0x40E}};
constexpr ByteMeaning windows_874_bytes[] = {{0xDB, 0xFFFD}, {0xDC, 0xFFFD}, {0xDD, 0xFFFD}, {0xDE, 0xFFFD},
                                             {0xFC, 0xFFFD}, {0xFD, 0xFFFD}, {0xFE, 0xFFFD}, {0xFF, 0xFFFD}};
constexpr ByteMeaning windows_1253_bytes[] = {{0xAA, 0xFFFD}};
constexpr ByteMeaning windows_1255_bytes[] = {{0xCA, 0x5BA}};

std::span<const ByteMeaning> corrections(std::string_view charset) {
  if (charset == "iso-8859-16") return iso_8859_16_bytes;
  if (charset == "koi8-u") return koi8_u_bytes;
  if (charset == "windows-874") return windows_874_bytes;
  if (charset == "windows-1253") return windows_1253_bytes;
  if (charset == "windows-1255") return windows_1255_bytes;
  return {};
}

Converter open_converter(std::string_view charset, bool encode) {
  std::string name(charset);
  for (const IcuName& row : icu_names) {
    if (row.charset == charset) name = encode ? row.encoder : row.decoder;
  }
  UErrorCode error = U_ZERO_ERROR;
  Converter converter(ucnv_open(name.c_str(), &error));
  if (U_FAILURE(error) != 0) return nullptr;
  ucnv_setFallback(converter.get(), 0);
  return converter;
}

// ICU's own callback writes U+001A for some bytes.
void U_CALLCONV write_replacement(const void* /*context*/, UConverterToUnicodeArgs* args, const char* /*units*/,
                                  int32_t /*length*/, UConverterCallbackReason reason, UErrorCode* error) {
  if (reason > UCNV_IRREGULAR) return;
  constexpr UChar replacement = 0xFFFD;
  *error = U_ZERO_ERROR;
  ucnv_cbToUWriteUChars(args, &replacement, 1, 0, error);
}

bool append_converted(std::string_view bytes, UConverter* converter, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + bytes.size() * 3 + 16);
  UErrorCode error = U_ZERO_ERROR;
  const int32_t length =
      ucnv_toAlgorithmic(UCNV_UTF8, converter, out.data() + before, static_cast<int32_t>(out.size() - before),
                         bytes.data(), static_cast<int32_t>(bytes.size()), &error);
  out.resize(U_FAILURE(error) != 0 ? before : before + static_cast<std::size_t>(length));
  return U_FAILURE(error) == 0;
}

bool decode_through_icu(std::string_view bytes, std::string_view charset, std::string& out) {
  const Converter converter = open_converter(charset, false);
  UErrorCode error = U_ZERO_ERROR;
  if (!converter) return false;
  ucnv_setToUCallBack(converter.get(), write_replacement, nullptr, nullptr, nullptr, &error);
  bytes = bytes.substr(0, decoded_bytes_max);
  const auto corrected = corrections(charset);
  if (corrected.empty()) return append_converted(bytes, converter.get(), out);
  // All of these charsets have one byte a character, so the text may be cut anywhere.
  std::array<char16_t, 256> meaning{};
  for (const ByteMeaning& m : corrected) meaning[m.byte] = m.character;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    const char16_t character = i < bytes.size() ? meaning[static_cast<unsigned char>(bytes[i])] : u'\0';
    if (i < bytes.size() && character == 0) continue;
    if (i > begin && !append_converted(bytes.substr(begin, i - begin), converter.get(), out)) return false;
    if (character != 0) html::append_utf8(character, out);
    begin = i + 1;
  }
  return true;
}

// Encoding standard, 14.5: bytes from 0x80 stand in a private area.
void decode_user_defined(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto octet = static_cast<unsigned char>(c);
    html::append_utf8(octet < 0x80 ? octet : 0xF780u + octet - 0x80u, out);
  }
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool same_in_ascii(std::string_view charset) {
  return charset != "utf-16le" && charset != "utf-16be" && charset != "replacement" && charset != "iso-2022-jp";
}

// The order of the HTML standard, 13.2.3.2. The last guess is windows-1252 for ASCII too, as browsers have it; it
// matters to queries alone.
std::string sniff(std::string_view bytes, std::string_view content_type, std::size_t& bom_bytes) {
  if (auto charset = html::charset_from_bom(bytes, bom_bytes)) return *charset;
  if (auto charset = html::charset_from_content_type(content_type)) return *charset;
  if (auto charset = html::charset_from_prescan(bytes)) return *charset;
  if (html::utf8_evidence(bytes) == html::Utf8Evidence::valid) return "utf-8";
  if (bytes.size() > html::prescan_bytes_max) {
    if (auto charset = html::charset_from_late_meta(bytes)) return *charset;
  }
  return html::charset_from_detection(bytes).value_or("windows-1252");
}

// The same for what is no HTML.
std::string sniff_text(std::string_view bytes, std::string_view content_type, TextFormat format,
                       std::size_t& bom_bytes) {
  if (auto charset = html::charset_from_bom(bytes, bom_bytes)) return *charset;
  if (auto charset = html::charset_from_content_type(content_type)) return *charset;
  if (format == TextFormat::css) return html::charset_from_css(bytes).value_or("utf-8");
  if (html::utf8_evidence(bytes) != html::Utf8Evidence::invalid) return "utf-8";
  return html::charset_from_detection(bytes).value_or("windows-1252");
}

// "&#N;", already percent-encoded, for what the charset has no bytes for (URL standard, "percent-encode after
// encoding").
void U_CALLCONV write_reference(const void* /*context*/, UConverterFromUnicodeArgs* args, const UChar* /*units*/,
                                int32_t /*length*/, UChar32 code_point, UConverterCallbackReason reason,
                                UErrorCode* error) {
  if (reason > UCNV_IRREGULAR) return;
  std::array<char, 24> ascii{};
  const long shown = reason == UCNV_UNASSIGNED ? static_cast<long>(code_point) : 0xFFFD;
  const int length = std::snprintf(ascii.data(), ascii.size(), "%%26%%23%ld%%3B", shown);
  std::array<UChar, 24> units{};
  std::copy_n(ascii.begin(), length, units.begin());
  *error = U_ZERO_ERROR;
  const UChar* source = units.data();
  ucnv_cbFromUWriteUChars(args, &source, source + length, 0, error);
}

// Where the Encoding standard's encoders differ from ICU's tables: a text for another, in UTF-8, in the charsets named.
struct EncoderRule {
  std::string_view charset;
  std::string_view from;
  std::string_view to;
};
constexpr EncoderRule encoder_rules[] = {
    {"gb18030", "\uE5E5", "%26%2358853%3B"},  // 10.2.2: in no table
    {"gbk", "\uE5E5", "%26%2358853%3B"},
    {"euc-jp", "\u00A5", "\\"},  // 12.1.2, 12.3.2
    {"euc-jp", "\u203E", "~"},
    {"euc-jp", "\u2212", "\uFF0D"},
    {"shift_jis", "\u00A5", "\\"},
    {"shift_jis", "\u203E", "~"},
    {"shift_jis", "\u2212", "\uFF0D"},
    {"iso-2022-jp", "\u2212", "\uFF0D"},  // 12.2.2; what would switch its state is an error
    {"iso-2022-jp", "\x0E", "%26%2365533%3B"},
    {"iso-2022-jp", "\x0F", "%26%2365533%3B"},
    {"iso-2022-jp", "\x1B", "%26%2365533%3B"},
};

std::string ruled(std::string_view utf8, std::string_view charset) {
  std::string out(utf8);
  for (const EncoderRule& rule : encoder_rules) {
    if (rule.charset != charset) continue;
    for (std::size_t at = out.find(rule.from); at != std::string::npos; at = out.find(rule.from, at + rule.to.size()))
      out.replace(at, rule.from.size(), rule.to);
  }
  return out;
}

class IcuQueryEncoder final : public QueryEncoder {
 public:
  explicit IcuQueryEncoder(std::string_view charset) : charset_(charset) {}

  // A converter has state, so each call opens its own; nearly all queries are ASCII and need none.
  std::string encode(std::string_view utf8) const override {
    const std::string text = ruled(utf8, charset_);
    std::string out = text;
    if (is_ascii(text) || text.size() > decoded_bytes_max / 16) return out;
    const Converter converter = open_converter(charset_, true);
    UErrorCode error = U_ZERO_ERROR;
    if (!converter) return out;
    ucnv_setFromUCallBack(converter.get(), write_reference, nullptr, nullptr, nullptr, &error);
    out.resize(text.size() * 8 + 32);  // "%26%238364%3B" for three bytes, escapes of ISO-2022-JP
    const int32_t length =
        ucnv_fromAlgorithmic(converter.get(), UCNV_UTF8, out.data(), static_cast<int32_t>(out.size()), text.data(),
                             static_cast<int32_t>(text.size()), &error);
    if (U_FAILURE(error) != 0) return text;
    out.resize(static_cast<std::size_t>(length));
    return out;
  }

 private:
  std::string charset_;
};

// `out.charset` is known, the mark is gone.
void decode(std::string_view bytes, DecodedText& out) {
  out.storage.clear();
  out.utf8 = bytes;
  if (out.charset == "utf-8" || (same_in_ascii(out.charset) && is_ascii(bytes))) return;
  // A byte becomes three at most: some of those from 0x80 on, in a legacy charset.
  if (bytes.size() > out.storage_bytes_max / 3) {
    bytes = bytes.substr(0, out.storage_bytes_max / 3);
    out.cut = true;
  }
  if (out.charset == "replacement") {
    if (!bytes.empty()) html::append_utf8(0xFFFD, out.storage);
  } else if (out.charset == "x-user-defined") {
    decode_user_defined(bytes, out.storage);
  } else if (!decode_through_icu(bytes, out.charset, out.storage)) {
    return;  // a converter that this ICU lacks: read as it stands
  }
  out.utf8 = out.storage;
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
  for (const std::string_view utf8 :
       {"utf-8", "utf-16le", "utf-16be", "replacement", "x-user-defined", "iso-8859-16"}) {
    if (charset == utf8) return nullptr;
  }
  if (!open_converter(charset, true)) return nullptr;
  return std::make_unique<IcuQueryEncoder>(charset);
}

}  // namespace orbweaver
