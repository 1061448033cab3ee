// WARC 1.1 (ISO 28500:2017) files: each written by one worker, one gzip member per record; read back; a torn tail cut.
// storage/ includes neither ring/ nor node/.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "storage/open_waiter.h"
#include "storage/synced_file.h"
#include "storage/types.h"

namespace orbweaver::storage {

struct WarcConfig {
  std::string directory;    // made when it is not there
  std::string name_prefix;  // unique in the ring: "orbweaver-<crawl>-<peer>-<worker>"; file: <prefix>-<UTC time 14
                            // digits>-<serial 5 digits>.warc.gz
  std::uint64_t file_bytes = 1u << 30;  // a file that reached this is closed and a new one begun
  int level = 6;                        // deflate level 1 to 12
  std::vector<std::pair<std::string, std::string>>
      info;                      // warcinfo's application/warc-fields: software, format, robots, operator…
  OpenWaiter* waiter = nullptr;  // outlives the writer; null: a lack of descriptors is an error
  bool sync_names = false;       // a new file's name is on the disk before the first record is written into it
  // A file is whole, and has its final name: its path and bytes. On the writer's thread.
  std::function<void(const std::string& path, std::uint64_t bytes)> finished{};
};

// One HTTP exchange. Bytes exactly as on the wire (chunked framing kept).
struct WarcExchange {
  std::string_view target_uri;     // canonical URL, no fragment
  Time started;                    // WARC-Date
  std::string_view ip;             // empty: no field
  std::string_view request_head;   // empty: no request record
  std::string_view response_head;  // through the blank line
  std::string_view body;           // as received
  std::string_view payload;        // body without chunked framing, content coding kept; the payload digest covers this
  std::string_view truncated;      // "", "length", "time", "disconnect"
  bool not_modified = false;       // the answer to a conditional request, 304: a revisit record (6.7.3)
};

// The location of a response record.
struct WarcPosition {
  std::string file;          // name without directory
  std::uint64_t offset = 0;  // of its gzip member
  std::uint64_t length = 0;  // of its gzip member, bytes
};

// Open files are named "<final>.open" and renamed when closed. Thread rule: one owner. Each write is one append of
// whole members. After a failed write the file is cut back to the last whole record, and the error names the file and
// the cause (a full disk, for example).
class WarcWriter {
 public:
  // Repairs what an earlier process with the same prefix left open (see repair_warc).
  // The first file is made at the first write.
  static Result<std::unique_ptr<WarcWriter>> open(WarcConfig config);
  ~WarcWriter();
  // `now` names a new file and dates its warcinfo.
  Result<WarcPosition> write(const WarcExchange& exchange, Time now);
  Result<void> close();  // finishes and renames the current file
  std::uint64_t bytes_written() const;
  // The file of the last write, for a sync. A finished file has been synced.
  std::shared_ptr<SyncedFile> synced_file() const;
  WarcWriter(const WarcWriter&) = delete;

 private:
  WarcWriter();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WarcRecord {
  std::uint64_t offset = 0;  // of its member (or of its first byte when not compressed)
  std::uint64_t length = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // in order, names as written
  std::string block;
  std::string_view field(std::string_view name) const;  // first value, case-insensitive; empty when absent
};

// Reads records one by one: gzip members or plain, CRLF or bare LF headers. A damaged record is an error that names the
// offset; the caller may continue with next(), which looks for the next readable record. Memory: one record (blocks
// larger than max_block_bytes are an error). Records that share one gzip member (which the standard advises against)
// all have the member's offset and length 0.
class WarcReader {
 public:
  static Result<std::unique_ptr<WarcReader>> open(const std::string& path, std::uint64_t max_block_bytes = 1u << 30);
  ~WarcReader();
  // False: end of file.
  Result<bool> next(WarcRecord& out);

 private:
  WarcReader();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct WarcRepair {
  std::uint64_t records = 0;    // whole records kept
  std::uint64_t bytes_cut = 0;  // torn tail removed
};
// Cuts a WARC file after its last whole record. Damage before a whole record stays (the reader skips it). Fails with
// in_use when another process has the file's lock.
Result<WarcRepair> repair_warc(const std::string& path);

}  // namespace orbweaver::storage
