// Indexes of captures: their lines, and blocks of sorted lines that are compressed one by one. Pure. Thread rule: free
// functions; BlockWriter has one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "node/archive/capture.h"

namespace orbweaver::archive {

// What is sorted in memory at once.
inline constexpr std::uint64_t index_sort_memory = 64u << 20;
// Longer lines are in no index.
inline constexpr std::size_t max_index_line = 64u << 10;

// The key by which pywb, OutbackCDX and most tools find a URL (node/url/surt.h, cdx_key). A URL that cannot be read is
// its own key.
std::string search_key(std::string_view url);

// "KEY TIMESTAMP {json}" without a line feed, with url, mime, status, digest, length, offset and filename, all texts
// (CDXJ 0.1.0, as pywb and ReplayWeb.page read it). Empty: the key cannot be in an
// index, or the line is too long.
std::string cdxj_line(const Capture& capture, std::string_view key);

// The eleven fields "N b a m s k r M S V g" (the Internet Archive's CDX, 2003): key, timestamp, URL, media type,
// status, digest without its algorithm, redirect, "-", length, offset, file. Empty: as above.
std::string cdx11_line(const Capture& capture, std::string_view key);
inline constexpr std::string_view cdx11_head = " CDX N b a m s k r M S V g";

// Sorted lines in gzip members of so many lines each. Each member can be read alone: by its first line, a reader finds
// the one that it needs.
class BlockWriter {
 public:
  struct Block {
    std::string first;  // the first line's key and timestamp
    std::uint64_t offset = 0;
    std::string_view bytes;  // a gzip member
  };
  BlockWriter(std::size_t lines_per_block, std::function<Result<void>(const Block&)> take)
      : lines_per_block_(lines_per_block), take_(std::move(take)) {}
  Result<void> add(std::string_view line);
  Result<void> finish();

 private:
  std::size_t lines_per_block_;
  std::function<Result<void>(const Block&)> take_;
  std::string text_;
  std::string first_;
  std::size_t lines_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace orbweaver::archive
