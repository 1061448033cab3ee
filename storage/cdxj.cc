#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "storage/append_file.h"
#include "storage/warc.h"
#include "storage/warc_format.h"
#include "storage/warc_scan.h"

namespace orbweaver::storage {
namespace {

// How much of a block is kept: enough for the HTTP head, else the line has no status and type.
constexpr std::uint64_t block_bytes_kept = 64 * 1024;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

struct HttpFacts {
  std::string status;  // three digits
  std::string mime;    // media type without parameters
};

HttpFacts http_facts(std::string_view block) {
  HttpFacts facts;
  std::size_t end = std::min(block.find('\n'), block.size());
  const std::string_view status_line = block.substr(0, end);
  if (!status_line.starts_with("HTTP/")) return facts;
  const std::size_t space = std::min(status_line.find(' '), status_line.size());
  const std::string_view status = trim(status_line.substr(space)).substr(0, 3);
  if (status.size() == 3 && status.find_first_not_of("0123456789") == std::string_view::npos) facts.status = status;
  while (end < block.size()) {
    const std::size_t begin = end + 1;
    end = std::min(block.find('\n', begin), block.size());
    const std::string_view line = trim(block.substr(begin, end - begin));
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || lower(trim(line.substr(0, colon))) != "content-type") continue;
    const std::string_view value = line.substr(colon + 1);
    facts.mime = lower(trim(value.substr(0, value.find(';'))));
    break;
  }
  return facts;
}

// The record's line, or nothing when the record does not belong in the index.
std::string line_of(const WarcRecord& record, const std::string& file_name, const SurtKey& surt_key) {
  const std::string_view type = record.field("WARC-Type");
  if ((type != "response" && type != "revisit") || record.length == 0) return {};
  std::string_view uri = record.field("WARC-Target-URI");
  if (uri.starts_with('<') && uri.ends_with('>')) uri = uri.substr(1, uri.size() - 2);  // as older tools wrote it
  const std::string timestamp = stamp_14_of(record.field("WARC-Date"));
  const std::string key = uri.empty() ? std::string() : surt_key(uri);
  if (timestamp.empty() || key.empty() || key.find_first_of(" \n\r") != std::string::npos) return {};
  const HttpFacts facts = http_facts(record.block);
  nlohmann::ordered_json json;
  json["url"] = uri;
  json["mime"] = type == "revisit" ? "warc/revisit" : facts.mime.empty() ? "unk" : facts.mime;
  if (!facts.status.empty()) json["status"] = facts.status;
  if (const std::string_view digest = record.field("WARC-Payload-Digest"); !digest.empty()) json["digest"] = digest;
  json["length"] = std::to_string(record.length);
  json["offset"] = std::to_string(record.offset);
  json["filename"] = file_name;
  return key + " " + timestamp + " " + json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

Result<void> add_lines(const std::string& path, const SurtKey& surt_key, std::vector<std::string>& lines) {
  auto scan = scan_file(path);
  if (!scan) return tl::make_unexpected(scan.error());
  const std::string file_name = std::filesystem::path(path).filename().string();
  ScannedRecord scanned;
  for (;;) {
    const Result<bool> found = (*scan)->next(scanned, block_bytes_kept);
    if (!found && found.error().kind != ErrorKind::corrupt) return tl::make_unexpected(found.error());
    if (!found) continue;
    if (!*found) return {};
    std::string line = line_of(scanned.record, file_name, surt_key);
    if (!line.empty()) lines.push_back(std::move(line));
  }
}

}  // namespace

Result<std::uint64_t> write_cdxj(const std::vector<std::string>& warc_paths, const std::string& out_path,
                                 const SurtKey& surt_key) {
  std::vector<std::string> lines;
  for (const std::string& path : warc_paths) {
    if (auto added = add_lines(path, surt_key, lines); !added) return tl::make_unexpected(added.error());
  }
  std::sort(lines.begin(), lines.end());
  const std::string beside = out_path + ".part";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  for (const std::string& line : lines) out << line;
  out.close();
  if (!out) {
    const int error = errno;
    std::remove(beside.c_str());
    return io_error("cannot write", beside, error);
  }
  if (std::rename(beside.c_str(), out_path.c_str()) != 0) return io_error("cannot rename to", out_path, errno);
  return lines.size();
}

}  // namespace orbweaver::storage
