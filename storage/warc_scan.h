// Walks over the records of a WARC file, gzip members or plain, whole or damaged: shared by the reader, the repair and
// the index. Outside bytes: never throws; memory is the kept part of one block and the buffers. Time: each byte of the
// file is read a bounded number of times, however it is damaged. Thread rule: one owner.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "storage/warc.h"

namespace orbweaver::storage {

// The longest accepted header block: a URI of some KiB and a dozen fields stay far below.
inline constexpr std::size_t max_warc_head_bytes = 64 * 1024;
// CRLF CRLF after every block.
inline constexpr std::size_t record_end_bytes = 4;

// The source of bytes: reads up to `count` bytes at `offset`; 0 at the end.
using ReadAt = std::function<Result<std::uint64_t>(std::uint64_t offset, char* to, std::uint64_t count)>;

struct ScannedRecord {
  WarcRecord record;              // block: its first bytes, as many as requested
  std::uint64_t block_bytes = 0;  // Content-Length
  std::uint64_t end = 0;          // offset after the record (after its member)
};

class WarcScan {
 public:
  // `name` is for messages, `size` the file's.
  WarcScan(ReadAt read_at, std::string name, std::uint64_t size);
  ~WarcScan();
  WarcScan(const WarcScan&) = delete;

  // The next record with at most `keep` bytes of its block. False: end of file. After an error the next call looks for
  // the next readable record; `torn()` then says whether the file ended in the middle of this one.
  Result<bool> next(ScannedRecord& out, std::uint64_t keep);
  bool torn() const { return torn_; }
  std::uint64_t offset() const { return start_; }  // of the record that the last call was about

 private:
  enum class Inflate { more, ended, failed };

  std::string_view window(std::uint64_t offset, std::size_t at_least);
  tl::unexpected<Error> damaged(const std::string& why);
  tl::unexpected<Error> torn_record(const std::string& why);

  Result<bool> next_plain(ScannedRecord& out, std::uint64_t keep);
  Result<bool> next_in_member(ScannedRecord& out, std::uint64_t keep);
  Result<void> read_member_block(ScannedRecord& out, std::uint64_t keep);
  Result<void> read_member_end(ScannedRecord& out);
  bool begin_member(std::uint64_t offset);
  Inflate inflate_more();
  std::string_view plain() const { return std::string_view(plain_).substr(plain_begin_); }
  void use(std::size_t bytes) { plain_begin_ += bytes; }
  bool need(std::size_t bytes);
  void end_member();
  void leave_member();
  bool find_next();
  bool member_starts_record(std::uint64_t offset);

  ReadAt read_at_;
  std::string name_;
  std::uint64_t size_;
  std::string buffer_;  // file bytes from buffer_begin_ on
  std::uint64_t buffer_begin_ = 0;
  tl::expected<void, Error> read_error_;

  std::uint64_t pos_ = 0;    // start of the next record or member
  std::uint64_t start_ = 0;  // of the record being read
  bool searching_ = false;   // after damage: find_next() first
  bool torn_ = false;

  z_stream stream_{};
  bool stream_ready_ = false;
  bool in_member_ = false;     // between the first and the last byte of a gzip member
  bool member_ended_ = false;  // all of it is in plain_
  bool member_failed_ = false;
  bool member_shared_ = false;  // holds more than one record
  std::uint64_t member_begin_ = 0;
  std::uint64_t member_pos_ = 0;  // compressed bytes consumed up to here
  std::string plain_;             // uncompressed bytes; those before plain_begin_ are used
  std::size_t plain_begin_ = 0;
};

// Opens a file for a scan (no lock: a file being written can be read).
Result<std::unique_ptr<WarcScan>> scan_file(const std::string& path);

// One record's header block at the start of `text`.
struct HeadParse {
  enum class State { whole, more, bad } state = State::more;
  std::size_t bytes = 0;  // through the blank line, when whole
  std::uint64_t content_length = 0;
  std::string problem;
};
HeadParse parse_warc_head(std::string_view text, std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace orbweaver::storage
