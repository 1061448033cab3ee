// The pieces of a link trace's bytes, shared by its writer and its reader; link_trace.h describes the layout. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "storage/types.h"

namespace orbweaver::storage {

inline constexpr std::string_view trace_magic = "OWLT";
inline constexpr std::size_t max_trace_head_bytes = 4 + 1 + 2 + 0xffff;
inline constexpr std::size_t trace_block_head_bytes = 20;
inline constexpr std::uint8_t trace_page_ends = 0xff;
inline constexpr std::uint8_t trace_page_goes_on = 0xfe;
// The unpacked size of a block: what ends a block plus the longest URL, with room to spare.
inline constexpr std::size_t max_trace_block_bytes = 1u << 20;

struct TraceHead {
  std::map<std::string, std::string> facts;
  std::size_t bytes = 0;  // of the head in the file
};
std::string encode_trace_head(const std::map<std::string, std::string>& facts);
// `begin`: the start of the file, up to max_trace_head_bytes. The error says what the file is instead.
Result<TraceHead> decode_trace_head(std::string_view begin);

struct TraceBlockHead {
  std::uint32_t unpacked = 0;
  std::uint32_t packed = 0;
  std::uint32_t pages = 0;
  std::uint32_t links = 0;
  std::uint32_t crc = 0;
  std::string encode() const;
  static Result<TraceBlockHead> decode(std::string_view bytes);  // at least trace_block_head_bytes
};

std::uint32_t trace_crc(std::string_view bytes);  // CRC-32 (ISO-HDLC)

void put_varint(std::string& out, std::uint64_t value);
// False: the bytes end within it, or it is longer than 64 bits.
bool get_varint(std::string_view bytes, std::size_t& at, std::uint64_t& value);

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace orbweaver::storage
