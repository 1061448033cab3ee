// The record of every link that a crawl extracted, page by page, in the order in which the peer took them in. Caches
// are replayed from it, partition schemes measured on it, and link graphs made of it (`orbweaver lab`, `graph rank`).
//
// Files: <directory>/<prefix>-<serial, 5 digits>.links; writing continues in the newest. A file is a head and blocks.
// Each block can be read alone, so the oldest files may be removed: that bounds the trace (max_bytes). Integers of
// fixed width are big-endian, `v` is an unsigned LEB128 of at most 10 bytes.
//
//   head:  "OWLT", u8 version=1, u16 bytes of facts, facts: lines "name value\n" (peer, ring, partitions, partition_by)
//   block: u32 bytes unpacked, u32 bytes packed, u32 pages begun in it, u32 links, u32 CRC-32 of the packed bytes, then
//          these bytes (raw deflate, RFC 1951)
//   page:  v time of the first page of a block (us since 1970), or of a later one zigzag of the time since the one
//          before, v depth, v worker, URL, its links, u8 0xff; or u8 0xfe when the page's links continue in the next
//          block, as a page that repeats the head
//   link:  u8 flags (LinkFlag), URL
//   URL:   v bytes shared with the previous URL in the block (source or target alike), v bytes of the rest, the rest
//
// A URL is in the crawl's canonical form. On a crash the current block is lost, trace_block_bytes at most; a torn block
// at the end is cut off when the writer opens the file again. A power cut may take all that was written since the file
// was begun or closed: a trace is measured on, and no promise of a crawl rests on it. Thread rule: each object has one
// owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/append_file.h"
#include "storage/trace_page.h"
#include "storage/types.h"

namespace orbweaver::storage {

struct LinkTraceConfig {
  std::string directory;               // made when it is not there
  std::string name_prefix;             // unique in the ring
  std::uint64_t max_bytes = 1u << 30;  // of all files of this prefix; at least trace_bytes_least
  std::map<std::string, std::string> facts;
  OpenWaiter* waiter = nullptr;  // outlives the writer; null: a lack of descriptors is an error
  bool sync_names = false;       // a new file's name is on the disk before the first block is written into it
};

class LinkTraceWriter {
 public:
  // Continues the newest file when its facts are the same, else begins another. Fails with in_use when another process
  // has it open, with version when a newer build wrote it.
  static Result<LinkTraceWriter> open(LinkTraceConfig config);
  // Adds a page and its links; written with its block. After a failure the trace is whole up to the block before.
  Result<void> add(const TracePage& page);
  Result<void> flush();  // writes the current block
  Result<void> close();  // flushes and syncs

  std::uint64_t pages() const { return pages_; }  // of this run
  std::uint64_t links() const { return links_; }
  std::uint64_t bytes() const;                                    // of the files that are there
  std::uint64_t files_removed() const { return files_removed_; }  // in this run, to stay within max_bytes

 private:
  explicit LinkTraceWriter(LinkTraceConfig config) : config_(std::move(config)) {}
  std::string path_of(std::uint64_t serial) const;
  std::uint64_t file_bytes() const { return config_.max_bytes / 8; }
  Result<void> begin_file();
  Result<void> make_room();
  Result<void> finish_file();
  void begin_page(const TracePage& page);
  void put_url(std::string_view url);

  LinkTraceConfig config_;
  std::string head_;
  AppendFile file_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> closed_;  // serial, bytes: oldest first
  std::uint64_t serial_ = 0;                                     // of file_, or of the next
  std::string block_;                                            // unpacked, the current one
  std::string last_url_;                                         // in the current block
  std::optional<Time> last_time_;                                // likewise
  std::uint32_t block_pages_ = 0;
  std::uint32_t block_links_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t links_ = 0;
  std::uint64_t files_removed_ = 0;
};

// Reads one file from its beginning. Errors name the file and the byte offset of the block that cannot be read.
class LinkTraceReader {
 public:
  static Result<LinkTraceReader> open(const std::string& path);
  LinkTraceReader(LinkTraceReader&&) noexcept;
  LinkTraceReader& operator=(LinkTraceReader&&) noexcept;
  ~LinkTraceReader();

  // The next page, in `page`; false: no more pages. A page that spans blocks comes as one page. A page that spans files
  // comes as one per file; that happens only to a page of thousands of links.
  Result<bool> next(TracePage& page);
  const std::map<std::string, std::string>& facts() const { return facts_; }
  const std::string& path() const { return path_; }

 private:
  LinkTraceReader() = default;
  Result<bool> read_block();
  Result<void> read_head();
  bool read_page(TracePage& page, bool& goes_on);
  bool get_url(std::string& url);
  tl::unexpected<Error> spoilt(const std::string& what) const;

  std::string path_;
  std::map<std::string, std::string> facts_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t next_block_ = 0;  // offset
  std::uint64_t block_at_ = 0;    // of the one in block_
  std::string block_;
  std::size_t at_ = 0;  // in block_
  std::string last_url_;
  std::optional<Time> last_time_;
};

// The trace files that the paths name, in the order of writing. A path is a file, or a directory that is searched
// recursively: paths as given, below a directory by name. Fails when a path is missing or names no file.
Result<std::vector<std::string>> link_trace_files(const std::vector<std::string>& paths);

}  // namespace orbweaver::storage
