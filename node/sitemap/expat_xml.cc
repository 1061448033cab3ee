// The only code that uses Expat.
#include <expat.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "node/sitemap/xml_events.h"

namespace orbweaver {
namespace {

constexpr std::size_t slice_bytes = 64 * 1024;
// Nesting of elements; sitemaps have about five levels. Expat's own memory grows with them.
constexpr int max_depth = 256;
// The number of attributes that are read; further ones are ignored.
constexpr std::size_t max_attributes = 64;

bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// The text in slices, with faults repaired that no XML parser accepts: '&' where no reference begins (the most frequent
// fault: query strings pasted in) and references to entities that XML does not define become "&amp;"; control
// characters are removed; bytes that are not UTF-8 become U+FFFD.
class Mender {
 public:
  explicit Mender(std::string_view text) : text_(text) {}

  // The next slice; false: it is the last one.
  bool next(std::string& out) {
    out.clear();
    while (at_ < text_.size() && out.size() < slice_bytes) step(out);
    return at_ < text_.size();
  }
  bool mended() const { return mended_; }

 private:
  bool here(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void step(std::string& out) {
    const char c = text_[at_];
    if (!inside_.empty()) {
      if (here(inside_)) {
        out.append(inside_);
        at_ += inside_.size();
        inside_ = {};
        return;
      }
    } else if (c == '<') {
      if (here("<!--")) inside_ = "-->";
      if (here("<![CDATA[")) inside_ = "]]>";
      if (here("<?")) inside_ = "?>";
      if (here("<!DOCTYPE")) doctype_ = true;
    } else if (c == '&' && !reference()) {
      out.append("&amp;");
      ++at_;
      mended_ = true;
      return;
    }
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = utf8_length(text_.substr(at_, 4));
      out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text_.substr(at_, length));
      mended_ = mended_ || length == 0;
      at_ += std::max<std::size_t>(length, 1);
      return;
    }
    ++at_;
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') {
      mended_ = true;
      return;
    }
    out += c;
  }

  // The length of the non-ASCII character at the start; 0: not UTF-8 (RFC 3629, 4), or not a character of XML.
  static std::size_t utf8_length(std::string_view t) {
    const auto octet = [&](std::size_t i) { return i < t.size() ? static_cast<unsigned char>(t[i]) : 0u; };
    const auto trails = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i)
        if (octet(i) < 0x80 || octet(i) > 0xBF) return false;
      return true;
    };
    const unsigned first = octet(0);
    const unsigned second = octet(1);
    if (first >= 0xC2 && first <= 0xDF) return trails(1, 2) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
      if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
      if (first == 0xEF && second == 0xBF && octet(2) > 0xBD) return 0;  // U+FFFE, U+FFFF
      return trails(1, 3) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
      if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
      return trails(1, 4) ? 4 : 0;
    }
    return 0;
  }

  // Whether a reference that XML defines begins here. With a DTD there may be more: the parser decides about those.
  bool reference() const {
    const std::string_view rest = text_.substr(at_ + 1, 16);
    const std::size_t end = rest.find(';');
    if (end == std::string_view::npos || end == 0) return false;
    const std::string_view name = rest.substr(0, end);
    if (name.front() == '#') return numeric(name.substr(1));
    for (const char c : name)
      if (!name_char(c)) return false;
    return doctype_ || name == "amp" || name == "lt" || name == "gt" || name == "quot" || name == "apos";
  }

  // Whether it is a character of XML (XML 1.0, 2.2).
  static bool numeric(std::string_view digits) {
    const bool hex = digits.starts_with('x');
    if (hex) digits.remove_prefix(1);
    if (digits.empty() || digits.size() > 8) return false;
    std::uint64_t code = 0;
    for (const char c : digits) {
      unsigned digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<unsigned>(c - '0');
      } else if (hex && c >= 'a' && c <= 'f') {
        digit = static_cast<unsigned>(c - 'a') + 10;
      } else if (hex && c >= 'A' && c <= 'F') {
        digit = static_cast<unsigned>(c - 'A') + 10;
      } else {
        return false;
      }
      code = code * (hex ? 16 : 10) + digit;
    }
    return code == 9 || code == 10 || code == 13 || (code >= 0x20 && code < 0xD800) ||
           (code >= 0xE000 && code < 0xFFFE) || (code >= 0x10000 && code <= 0x10FFFF);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view inside_;  // the text that ends the current comment, CDATA or instruction
  bool doctype_ = false;
  bool mended_ = false;
};

struct Reading {
  XML_Parser parser = nullptr;
  XmlHandler* handler = nullptr;
  int depth = 0;
  bool stopped = false;
  bool too_deep = false;
  XmlHandler::Attributes attributes;

  void stop() {
    stopped = true;
    XML_StopParser(parser, XML_FALSE);
  }
};

void XMLCALL on_start(void* data, const XML_Char* name, const XML_Char** pairs) {
  auto& reading = *static_cast<Reading*>(data);
  if (reading.stopped) return;
  if (++reading.depth > max_depth) {
    reading.too_deep = true;
    return reading.stop();
  }
  reading.attributes.clear();
  for (; *pairs != nullptr && reading.attributes.size() < max_attributes; pairs += 2)
    reading.attributes.emplace_back(pairs[0], pairs[1]);
  if (!reading.handler->start_element(name, reading.attributes)) reading.stop();
}

void XMLCALL on_end(void* data, const XML_Char* name) {
  auto& reading = *static_cast<Reading*>(data);
  --reading.depth;
  if (!reading.stopped && !reading.handler->end_element(name)) reading.stop();
}

void XMLCALL on_text(void* data, const XML_Char* text, int length) {
  auto& reading = *static_cast<Reading*>(data);
  if (!reading.stopped) reading.handler->text({text, static_cast<std::size_t>(length)});
}

// With a default handler Expat does not expand the entities of an internal subset.
void XMLCALL on_rest(void*, const XML_Char*, int) {}

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

}  // namespace

XmlOutcome read_xml(std::string_view utf8, XmlHandler& handler) {
  XmlOutcome outcome;
  // The caller has already converted the document from its declared encoding.
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser(XML_ParserCreate("UTF-8"));
  if (parser == nullptr) return {false, false, false, false, "there is no memory for an XML parser"};
  Reading reading;
  reading.parser = parser.get();
  reading.handler = &handler;
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetDefaultHandler(parser.get(), on_rest);
  Mender mender(utf8);
  std::string slice;
  std::uint64_t fed = 0;  // bytes before this slice
  XML_Status status = XML_STATUS_OK;
  for (bool more = true; more && status == XML_STATUS_OK;) {
    fed += slice.size();
    more = mender.next(slice);
    status = XML_Parse(parser.get(), slice.data(), static_cast<int>(slice.size()), more ? XML_FALSE : XML_TRUE);
  }
  outcome.mended = mender.mended();
  outcome.stopped = reading.stopped && !reading.too_deep;
  if (status == XML_STATUS_OK || outcome.stopped) return outcome;
  outcome.well_formed = false;
  const XML_Index index = XML_GetCurrentByteIndex(parser.get());
  if (index >= 0 && static_cast<std::uint64_t>(index) >= fed) {
    const auto offset = static_cast<std::size_t>(static_cast<std::uint64_t>(index) - fed);
    outcome.in_markup = offset < slice.size() && slice[offset] == '<';
  }
  const char* const said = XML_ErrorString(XML_GetErrorCode(parser.get()));
  outcome.problem = "line " + std::to_string(XML_GetCurrentLineNumber(parser.get())) + ": " +
                    (reading.too_deep  ? "elements within each other beyond all measure"
                     : said == nullptr ? "not well-formed"
                                       : said);
  return outcome;
}

}  // namespace orbweaver
