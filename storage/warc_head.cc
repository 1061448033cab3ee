#include <algorithm>
#include <charconv>

#include "storage/warc_scan.h"

namespace orbweaver::storage {
namespace {

constexpr std::string_view version_start = "WARC/1.";

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [low](char x, char y) { return low(x) == low(y); });
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

HeadParse bad(std::string why) { return {HeadParse::State::bad, 0, 0, std::move(why)}; }

HeadParse finish(std::size_t bytes, const std::vector<std::pair<std::string, std::string>>& fields) {
  for (const auto& [name, value] : fields) {
    if (!equal_ignoring_case(name, "content-length")) continue;
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    // The bound keeps sums of offsets in range.
    if (!whole || length > (1ULL << 62)) return bad("unreadable Content-Length '" + value.substr(0, 40) + "'");
    return {HeadParse::State::whole, bytes, length, {}};
  }
  return bad("no Content-Length");
}

}  // namespace

HeadParse parse_warc_head(std::string_view text, std::vector<std::pair<std::string, std::string>>& fields) {
  fields.clear();
  const std::size_t same = std::min(text.size(), version_start.size());
  if (text.substr(0, same) != version_start.substr(0, same)) {
    return bad(text.starts_with("WARC/") ? "unknown WARC version" : "not a WARC record");
  }
  std::size_t at = text.find('\n');
  while (at != std::string_view::npos) {
    const std::size_t begin = at + 1;
    at = text.find('\n', begin);
    if (at == std::string_view::npos) break;
    std::string_view line = text.substr(begin, at - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return finish(at + 1, fields);
    if (line.front() == ' ' || line.front() == '\t') {  // folded
      if (fields.empty()) return bad("header begins with a folded line");
      fields.back().second.append(" ").append(trim(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return bad("header line without a colon");
    fields.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  if (text.size() >= max_warc_head_bytes) return bad("header longer than 64 KiB");
  return {};
}

std::string_view WarcRecord::field(std::string_view name) const {
  for (const auto& [known, value] : fields) {
    if (equal_ignoring_case(known, name)) return value;
  }
  return {};
}

}  // namespace orbweaver::storage
