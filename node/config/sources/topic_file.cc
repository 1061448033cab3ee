#include "node/config/sources/topic_file.h"

#include <fstream>
#include <string>

#include "node/charset/charset.h"
#include "node/html/visible_text.h"
#include "node/topic/topic.h"

namespace orbweaver {

namespace {

// The first part of a document shows its topic.
constexpr std::size_t max_document_bytes = 1u << 20;

}  // namespace

Result<bool> read_topic_file(Settings& settings) {
  if (settings.topic_file.empty()) return false;
  const std::string where = "setting 'topic_file': " + settings.topic_file;
  if (!settings.topic.empty())
    return fail(ErrorCode::invalid_setting, where + ": there is a `topic` too; give one of the two");
  std::ifstream in(settings.topic_file, std::ios::binary);
  std::string bytes(max_document_bytes, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!in.is_open() || in.bad()) return fail(ErrorCode::io, where + " cannot be read");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.find('\0') != std::string::npos)
    return fail(ErrorCode::invalid_setting, where + " is no text: give an HTML or text document");
  const std::size_t first = bytes.find_first_not_of(" \t\r\n\f\xef\xbb\xbf");
  DecodedText text;
  PageText page;
  if (first != std::string::npos && bytes[first] == '<') {
    decode_html(bytes, "", text);
    page = html::extract_text_by_stream(text.utf8);
  } else {
    decode_text_body(bytes, "", TextFormat::plain, text);
    page.text = text.utf8;
  }
  Result<std::string> words = Topic::of_document(page.title + "\n" + page.text);
  if (!words) return fail(ErrorCode::invalid_setting, where + " " + words.error().message);
  settings.topic = std::move(*words);
  return true;
}

}  // namespace orbweaver
