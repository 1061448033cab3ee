#include "storage/warc_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "storage/append_file.h"

namespace orbweaver::storage {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;
// After a member that does not inflate, the search continues this far before the place where it failed (or after the
// member's start, when that is later): the broken stream may have run over the head of the next member. The bound keeps
// the search linear.
constexpr std::uint64_t look_back_bytes = 64 * 1024;
constexpr std::string_view gzip_magic = "\x1F\x8B\x08";
constexpr std::string_view warc_magic = "WARC/";
// A mark of an uncompressed record in the middle of damage.
constexpr std::string_view plain_record = "\nWARC/1.";
// Compressed bytes that show whether a member starts with a record:
// enough for a gzip header and a dynamic block's code lengths.
constexpr std::size_t probe_bytes = 1024;

}  // namespace

WarcScan::WarcScan(ReadAt read_at, std::string name, std::uint64_t size)
    : read_at_(std::move(read_at)), name_(std::move(name)), size_(size) {}

WarcScan::~WarcScan() {
  if (stream_ready_) inflateEnd(&stream_);
}

// File bytes at `offset`: at least `at_least` unless the file ends before.
std::string_view WarcScan::window(std::uint64_t offset, std::size_t at_least) {
  const bool inside = offset >= buffer_begin_ && offset - buffer_begin_ <= buffer_.size();
  if (inside && buffer_.size() - (offset - buffer_begin_) >= at_least) {
    return std::string_view(buffer_).substr(static_cast<std::size_t>(offset - buffer_begin_));
  }
  buffer_begin_ = offset;
  buffer_.resize(std::max(at_least, chunk_bytes));
  std::size_t have = 0;
  while (have < buffer_.size()) {
    const auto got = read_at_(offset + have, buffer_.data() + have, buffer_.size() - have);
    if (!got) read_error_ = tl::make_unexpected(got.error());
    if (!got || *got == 0) break;
    have += static_cast<std::size_t>(*got);
  }
  buffer_.resize(have);
  return buffer_;
}

tl::unexpected<Error> WarcScan::damaged(const std::string& why) {
  searching_ = true;
  return fail(ErrorKind::corrupt, name_ + ": record at offset " + std::to_string(start_) + ": " + why);
}

tl::unexpected<Error> WarcScan::torn_record(const std::string& why) {
  torn_ = true;
  return damaged(why);
}

Result<bool> WarcScan::next(ScannedRecord& out, std::uint64_t keep) {
  torn_ = false;
  out.record.fields.clear();
  out.record.block.clear();
  if (searching_) {
    searching_ = false;
    if (in_member_)
      leave_member();
    else if (!find_next())
      pos_ = size_;
  }
  Result<bool> found = false;
  if (in_member_) {
    found = next_in_member(out, keep);
  } else if (pos_ < size_) {
    start_ = pos_;
    const std::string_view head = window(pos_, warc_magic.size());
    if (head.starts_with(gzip_magic.substr(0, 2))) {
      found = begin_member(pos_) ? next_in_member(out, keep) : damaged("no memory to inflate");
    } else if (head.starts_with(warc_magic)) {
      found = next_plain(out, keep);
    } else {
      found = damaged("neither gzip nor WARC");
    }
  }
  if (!read_error_) {  // the system's error outranks what follows from it; nothing more can be read
    const Error error = read_error_.error();
    read_error_ = {};
    pos_ = size_;
    searching_ = in_member_ = false;
    return tl::make_unexpected(error);
  }
  return found;
}

Result<bool> WarcScan::next_plain(ScannedRecord& out, std::uint64_t keep) {
  HeadParse head = parse_warc_head(window(start_, chunk_bytes).substr(0, max_warc_head_bytes), out.record.fields);
  if (head.state == HeadParse::State::bad) return damaged(head.problem);
  if (head.state == HeadParse::State::more) return torn_record("the file ends in its header");
  const std::uint64_t block = start_ + head.bytes;
  if (head.content_length > size_ - block) return torn_record("the file ends in its block");
  // The end is checked before the block is read: a wrong length costs nothing.
  const std::uint64_t block_end = block + head.content_length;
  const std::string tail(window(block_end, record_end_bytes).substr(0, record_end_bytes));
  if (tail != "\r\n\r\n" && !tail.starts_with("\n\n")) {
    const bool cut = tail.size() < record_end_bytes && std::string_view("\r\n\r\n").starts_with(tail);
    return cut ? torn_record("the file ends before its CRLF CRLF") : damaged("no CRLF CRLF after its block");
  }
  out.block_bytes = head.content_length;
  out.end = block_end + (tail == "\r\n\r\n" ? 4u : 2u);
  out.record.offset = start_;
  out.record.length = out.end - start_;
  const auto wanted = static_cast<std::size_t>(std::min(keep, head.content_length));
  while (out.record.block.size() < wanted) {
    const std::string_view bytes = window(block + out.record.block.size(), 1);
    if (bytes.empty()) return torn_record("the file shrank while it was read");
    out.record.block.append(bytes.substr(0, wanted - out.record.block.size()));
  }
  pos_ = out.end;
  return true;
}

bool WarcScan::begin_member(std::uint64_t offset) {
  if (stream_ready_) {
    inflateReset(&stream_);
  } else {
    stream_ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK;
  }
  in_member_ = stream_ready_;
  member_ended_ = member_failed_ = member_shared_ = false;
  member_begin_ = member_pos_ = offset;
  plain_.clear();
  plain_begin_ = 0;
  return stream_ready_;
}

// Adds up to a chunk to plain().
WarcScan::Inflate WarcScan::inflate_more() {
  if (member_ended_) return Inflate::ended;
  if (member_failed_) return Inflate::failed;
  plain_.erase(0, plain_begin_);
  plain_begin_ = 0;
  const std::size_t before = plain_.size();
  plain_.resize(before + chunk_bytes);
  stream_.next_out = reinterpret_cast<Bytef*>(plain_.data() + before);
  stream_.avail_out = static_cast<uInt>(chunk_bytes);
  int status = Z_OK;
  while (status == Z_OK && stream_.avail_out == chunk_bytes) {
    const std::string_view bytes = window(member_pos_, 1);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    status = inflate(&stream_, Z_NO_FLUSH);
    member_pos_ += bytes.size() - stream_.avail_in;
    if (bytes.empty() && status != Z_STREAM_END) status = Z_BUF_ERROR;
  }
  plain_.resize(before + chunk_bytes - stream_.avail_out);
  member_ended_ = status == Z_STREAM_END;
  member_failed_ = !member_ended_ && status != Z_OK;
  torn_ = status == Z_BUF_ERROR;
  if (plain_.size() > before) return Inflate::more;
  return member_ended_ ? Inflate::ended : Inflate::failed;
}

// Whether plain() reached that size.
bool WarcScan::need(std::size_t bytes) {
  while (plain().size() < bytes) {
    if (inflate_more() != Inflate::more) return false;
  }
  return true;
}

Result<bool> WarcScan::next_in_member(ScannedRecord& out, std::uint64_t keep) {
  start_ = member_begin_;
  HeadParse head;
  for (;;) {
    head = parse_warc_head(plain().substr(0, max_warc_head_bytes), out.record.fields);
    if (head.state != HeadParse::State::more) break;
    if (need(plain().size() + 1)) continue;
    return damaged(member_failed_ ? "its gzip member is cut or corrupt" : "its gzip member ends in its header");
  }
  if (head.state == HeadParse::State::bad) return damaged(head.problem);
  use(head.bytes);
  out.block_bytes = head.content_length;
  if (auto read = read_member_block(out, keep); !read) return tl::make_unexpected(read.error());
  if (auto read = read_member_end(out); !read) return tl::make_unexpected(read.error());
  return true;
}

Result<void> WarcScan::read_member_block(ScannedRecord& out, std::uint64_t keep) {
  std::uint64_t left = out.block_bytes;
  while (left > 0) {
    if (plain().empty() && !need(1)) {
      return damaged(member_failed_ ? "its gzip member is cut or corrupt" : "its gzip member ends in its block");
    }
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left, plain().size()));
    const std::uint64_t wanted = keep - std::min<std::uint64_t>(keep, out.record.block.size());
    out.record.block.append(plain().substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(wanted, taken))));
    use(taken);
    left -= taken;
  }
  return {};
}

// After the block: CRLF CRLF and the member's end, or the next record. A member that ends right after the block is
// accepted too.
Result<void> WarcScan::read_member_end(ScannedRecord& out) {
  need(record_end_bytes);
  const std::string_view tail = plain();
  const bool crlf = tail.starts_with("\r\n\r\n");
  const bool bare = !crlf && tail.starts_with("\n\n");
  if (!crlf && !bare && !(tail.empty() && member_ended_)) {
    return damaged(member_failed_ ? "its gzip member is cut or corrupt" : "no CRLF CRLF after its block");
  }
  use(crlf ? 4 : bare ? 2 : 0);
  const bool more = need(1);
  if (member_failed_) return damaged("its gzip member is cut or corrupt");
  if (more && !plain().starts_with(warc_magic.substr(0, plain().size()))) {
    return damaged("bytes that belong to no record after its block");
  }
  out.record.offset = member_begin_;
  member_shared_ = member_shared_ || more;
  out.end = member_pos_;
  out.record.length = member_shared_ ? 0 : member_pos_ - member_begin_;
  if (!more) end_member();
  return {};
}

void WarcScan::end_member() {
  in_member_ = false;
  pos_ = member_pos_;
}

// Moves past the member of a damaged record: to its end when it inflates, else to the start of the next member.
void WarcScan::leave_member() {
  while (inflate_more() == Inflate::more) use(plain().size());
  torn_ = false;
  end_member();
  if (!member_failed_) return;
  const std::uint64_t back = member_pos_ - std::min(member_pos_, look_back_bytes);
  start_ = std::max(member_begin_, back);
  if (!find_next()) pos_ = size_;
}

// Moves pos_ to the next record after start_; false when there is none.
bool WarcScan::find_next() {
  std::uint64_t at = start_ + 1;
  while (at < size_) {
    std::string_view bytes = window(at, plain_record.size());
    if (bytes.size() < warc_magic.size()) return false;
    const std::size_t gzip = bytes.find(gzip_magic);
    // Only up to the gzip place: the bytes after it are searched when that place is done.
    if (gzip != std::string_view::npos) bytes = bytes.substr(0, gzip + plain_record.size() - 1);
    const std::size_t plain_line = bytes.find(plain_record);
    if (plain_line < gzip) {
      pos_ = at + plain_line + 1;
      return true;
    }
    if (gzip == std::string_view::npos) {
      at += std::max<std::size_t>(bytes.size(), plain_record.size()) - plain_record.size() + 1;
      continue;
    }
    at += gzip;
    if (member_starts_record(at)) {
      pos_ = at;
      return true;
    }
    ++at;
  }
  return false;
}

// Whether a gzip member at `offset` inflates to the beginning of a record.
// It produces only a few bytes of output.
bool WarcScan::member_starts_record(std::uint64_t offset) {
  const std::string_view bytes = window(offset, probe_bytes).substr(0, probe_bytes);
  z_stream probe{};
  if (inflateInit2(&probe, 16 + MAX_WBITS) != Z_OK) return false;
  char made[warc_magic.size()];
  probe.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  probe.avail_in = static_cast<uInt>(bytes.size());
  probe.next_out = reinterpret_cast<Bytef*>(made);
  probe.avail_out = sizeof made;
  const int status = inflate(&probe, Z_NO_FLUSH);
  inflateEnd(&probe);
  return (status == Z_OK || status == Z_STREAM_END) && probe.avail_out == 0 &&
         std::string_view(made, sizeof made) == warc_magic;
}

Result<std::unique_ptr<WarcScan>> scan_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error("cannot open", path, errno);
  const std::shared_ptr<const int> file(new int(fd), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  struct stat status {};
  if (::fstat(fd, &status) != 0) return io_error("cannot read", path, errno);
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::io, path + ": not a regular file");
  ReadAt read_at = [file, path](std::uint64_t offset, char* to, std::uint64_t count) -> Result<std::uint64_t> {
    for (;;) {
      const ::ssize_t got = ::pread(*file, to, static_cast<std::size_t>(count), static_cast<::off_t>(offset));
      if (got >= 0) return static_cast<std::uint64_t>(got);
      if (errno != EINTR) return io_error("cannot read", path, errno);
    }
  };
  return std::make_unique<WarcScan>(std::move(read_at), path, static_cast<std::uint64_t>(status.st_size));
}

}  // namespace orbweaver::storage
