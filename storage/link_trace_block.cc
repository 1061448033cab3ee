#include "storage/link_trace_block.h"

#include <libdeflate.h>

#include "storage/bytes.h"
#include "storage/trace_page.h"

namespace orbweaver::storage {

std::string encode_trace_head(const std::map<std::string, std::string>& facts) {
  std::string lines;
  for (const auto& [name, value] : facts) lines += name + " " + value + "\n";
  lines.resize(std::min<std::size_t>(lines.size(), 0xffff));
  std::string out(trace_magic);
  put_be(out, link_trace_version);
  put_be(out, static_cast<std::uint16_t>(lines.size()));
  return out + lines;
}

Result<TraceHead> decode_trace_head(std::string_view begin) {
  if (begin.empty()) return fail(ErrorKind::corrupt, "is empty: a link trace begins with \"OWLT\"");
  if (!begin.starts_with(trace_magic.substr(0, begin.size())))
    return fail(ErrorKind::corrupt, "is no link trace: that begins with \"OWLT\"");
  if (begin.size() < 7)
    return fail(ErrorKind::corrupt, "ends within its head, at byte " + std::to_string(begin.size()));
  const auto version = get_be<std::uint8_t>(begin, 4);
  if (version != link_trace_version)
    return fail(ErrorKind::version, "is a link trace of version " + std::to_string(version) + "; this build reads " +
                                        std::to_string(link_trace_version));
  const std::size_t bytes = get_be<std::uint16_t>(begin, 5);
  if (begin.size() < 7 + bytes)
    return fail(ErrorKind::corrupt, "ends within its head, at byte " + std::to_string(begin.size()));
  TraceHead head;
  head.bytes = 7 + bytes;
  std::string_view lines = begin.substr(7, bytes);
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) head.facts.emplace(line.substr(0, space), line.substr(space + 1));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return head;
}

std::string TraceBlockHead::encode() const {
  std::string out;
  for (const std::uint32_t value : {unpacked, packed, pages, links, crc}) put_be(out, value);
  return out;
}

Result<TraceBlockHead> TraceBlockHead::decode(std::string_view bytes) {
  TraceBlockHead head;
  std::size_t at = 0;
  for (std::uint32_t* value : {&head.unpacked, &head.packed, &head.pages, &head.links, &head.crc}) {
    *value = get_be<std::uint32_t>(bytes, at);
    at += 4;
  }
  if (head.unpacked == 0 || head.unpacked > max_trace_block_bytes || head.packed == 0 ||
      head.packed > max_trace_block_bytes)
    return fail(ErrorKind::corrupt, "a block whose sizes cannot be right");
  return head;
}

std::uint32_t trace_crc(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

bool get_varint(std::string_view bytes, std::size_t& at, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    if (shift == 63 && byte > 1) return false;
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace orbweaver::storage
