#include "node/archive/index_lines.h"

#include <libdeflate.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "node/try.h"
#include "node/url/surt.h"

namespace orbweaver::archive {

namespace {

bool usable(std::string_view key) { return !key.empty() && key.find_first_of(" \t\r\n") == std::string_view::npos; }

std::string unless_too_long(std::string line) {
  if (line.size() > max_index_line) line.clear();
  return line;
}

// A field of a line whose fields are parted by spaces.
std::string field(std::string_view text) {
  if (text.empty()) return "-";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != 0x7f) {
      out += c;
    } else {
      constexpr std::string_view digits = "0123456789ABCDEF";
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace

std::string search_key(std::string_view url) {
  const Result<CanonicalUrl> canonical = CanonicalUrl::parse(url);
  return canonical ? cdx_key(*canonical) : std::string(url);
}

std::string cdxj_line(const Capture& capture, std::string_view key) {
  if (!usable(key)) return {};
  nlohmann::ordered_json json;
  json["url"] = capture.url;
  json["mime"] = capture.mime;
  if (!capture.status.empty()) json["status"] = capture.status;
  if (!capture.digest.empty()) json["digest"] = capture.digest;
  json["length"] = std::to_string(capture.length);
  json["offset"] = std::to_string(capture.offset);
  json["filename"] = capture.file;
  std::string line(key);
  ((line += ' ') += capture.timestamp) += ' ';
  line += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return unless_too_long(std::move(line));
}

std::string cdx11_line(const Capture& capture, std::string_view key) {
  if (!usable(key)) return {};
  const std::string_view digest(capture.digest);
  const std::size_t colon = digest.find(':');
  std::string line(key);
  for (const std::string& text :
       {field(capture.timestamp), field(capture.url), field(capture.mime), field(capture.status),
        field(colon == std::string_view::npos ? digest : digest.substr(colon + 1)), field(capture.location),
        std::string("-"), std::to_string(capture.length), std::to_string(capture.offset), field(capture.file)})
    line += " " + text;
  return unless_too_long(std::move(line));
}

Result<void> BlockWriter::add(std::string_view line) {
  if (lines_ == 0) first_ = line.substr(0, line.find(' ', line.find(' ') + 1));
  text_.append(line);
  text_ += '\n';
  return ++lines_ < lines_per_block_ ? Result<void>() : finish();
}

Result<void> BlockWriter::finish() {
  if (lines_ == 0) return {};
  constexpr int level = 6;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!compressor) return fail(ErrorCode::internal, "there is no memory for a compressor");
  std::string bytes(libdeflate_gzip_compress_bound(compressor.get(), text_.size()), '\0');
  bytes.resize(libdeflate_gzip_compress(compressor.get(), text_.data(), text_.size(), bytes.data(), bytes.size()));
  ORBWEAVER_TRY(take_({first_, offset_, bytes}));
  offset_ += bytes.size();
  text_.clear();
  lines_ = 0;
  return {};
}

}  // namespace orbweaver::archive
