#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "storage/link_trace.h"
#include "storage/link_trace_block.h"

namespace orbweaver::storage {
namespace {

struct DecompressorDeleter {
  void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
};

// The number of bytes read: less than requested only at the end.
Result<std::size_t> read_at(int fd, const std::string& path, std::uint64_t offset, char* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ::ssize_t got = ::pread(fd, to + done, count - done, static_cast<::off_t>(offset + done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("cannot read", path, errno);
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

LinkTraceReader::LinkTraceReader(LinkTraceReader&& other) noexcept { *this = std::move(other); }

LinkTraceReader& LinkTraceReader::operator=(LinkTraceReader&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(facts_, other.facts_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(next_block_, other.next_block_);
  std::swap(block_at_, other.block_at_);
  std::swap(block_, other.block_);
  std::swap(at_, other.at_);
  std::swap(last_url_, other.last_url_);
  std::swap(last_time_, other.last_time_);
  return *this;
}

LinkTraceReader::~LinkTraceReader() {
  if (fd_ >= 0) ::close(fd_);
}

Result<LinkTraceReader> LinkTraceReader::open(const std::string& path) {
  LinkTraceReader reader;
  reader.path_ = path;
  reader.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (reader.fd_ < 0) return io_error("cannot open", path, errno);
  struct stat status {};
  if (::fstat(reader.fd_, &status) != 0) return io_error("cannot read", path, errno);
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::corrupt, path + " is not a file");
  reader.size_ = static_cast<std::uint64_t>(status.st_size);
  if (auto head = reader.read_head(); !head) return tl::make_unexpected(head.error());
  return reader;
}

Result<void> LinkTraceReader::read_head() {
  std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(size_, max_trace_head_bytes)), '\0');
  const auto got = read_at(fd_, path_, 0, begin.data(), begin.size());
  if (!got) return tl::make_unexpected(got.error());
  begin.resize(*got);
  auto head = decode_trace_head(begin);
  if (!head) return fail(head.error().kind, path_ + " " + head.error().message);
  facts_ = std::move(head->facts);
  next_block_ = head->bytes;
  return {};
}

tl::unexpected<Error> LinkTraceReader::spoilt(const std::string& what) const {
  return fail(ErrorKind::corrupt, path_ + ", byte " + std::to_string(block_at_) + ": " + what);
}

Result<bool> LinkTraceReader::read_block() {
  block_at_ = next_block_;
  if (next_block_ == size_) return false;
  const std::string torn =
      "the file ends within a block; `truncate -s " + std::to_string(block_at_) + "` leaves what is whole";
  char bytes[trace_block_head_bytes];
  auto got = read_at(fd_, path_, next_block_, bytes, sizeof bytes);
  if (!got) return tl::make_unexpected(got.error());
  if (*got < sizeof bytes) return spoilt(torn);
  const auto head = TraceBlockHead::decode({bytes, sizeof bytes});
  if (!head) return spoilt(head.error().message);
  std::string packed(head->packed, '\0');
  got = read_at(fd_, path_, next_block_ + sizeof bytes, packed.data(), packed.size());
  if (!got) return tl::make_unexpected(got.error());
  if (*got < packed.size()) return spoilt(torn);
  if (trace_crc(packed) != head->crc) return spoilt("a block whose checksum is wrong");
  block_.resize(head->unpacked);
  const std::unique_ptr<libdeflate_decompressor, DecompressorDeleter> unpack(libdeflate_alloc_decompressor());
  // Without a pointer for the actual size, any other size is an error.
  if (libdeflate_deflate_decompress(unpack.get(), packed.data(), packed.size(), block_.data(), block_.size(),
                                    nullptr) != LIBDEFLATE_SUCCESS)
    return spoilt("a block that cannot be unpacked");
  next_block_ += sizeof bytes + packed.size();
  at_ = 0;
  last_url_.clear();
  last_time_.reset();
  return true;
}

bool LinkTraceReader::get_url(std::string& url) {
  std::uint64_t shared = 0;
  std::uint64_t rest = 0;
  if (!get_varint(block_, at_, shared) || !get_varint(block_, at_, rest)) return false;
  if (shared > last_url_.size() || rest > block_.size() - at_ || shared + rest > max_trace_url_bytes) return false;
  last_url_.resize(static_cast<std::size_t>(shared));
  last_url_.append(block_, at_, static_cast<std::size_t>(rest));
  at_ += static_cast<std::size_t>(rest);
  url = last_url_;
  return true;
}

// Adds the page's links of this block. False: the bytes are malformed.
bool LinkTraceReader::read_page(TracePage& page, bool& goes_on) {
  std::uint64_t time = 0;
  std::uint64_t depth = 0;
  std::uint64_t worker = 0;
  if (!get_varint(block_, at_, time) || !get_varint(block_, at_, depth) || !get_varint(block_, at_, worker))
    return false;
  if (depth > 0xffff || worker > 0xffff || !get_url(page.url)) return false;
  const std::uint64_t before = last_time_ ? static_cast<std::uint64_t>(last_time_->time_since_epoch().count()) : 0;
  const std::uint64_t us = last_time_ ? before + static_cast<std::uint64_t>(unzigzag(time)) : time;
  page.at = Time(Duration(static_cast<std::int64_t>(us)));
  last_time_ = page.at;
  page.depth = static_cast<std::uint16_t>(depth);
  page.worker = static_cast<std::uint16_t>(worker);
  while (at_ < block_.size()) {
    const auto flags = static_cast<std::uint8_t>(block_[at_++]);
    goes_on = flags == trace_page_goes_on;
    if (goes_on || flags == trace_page_ends) return true;
    TraceLink& link = page.links.emplace_back();
    link.flags = flags;
    if (!get_url(link.url)) return false;
  }
  return false;
}

Result<bool> LinkTraceReader::next(TracePage& page) {
  page.links.clear();
  bool goes_on = false;
  do {
    if (at_ == block_.size()) {
      auto more = read_block();
      if (!more) return more;
      if (!*more) return goes_on;  // the rest of the page is in the next file
    }
    if (!read_page(page, goes_on)) return spoilt("a page that cannot be read");
  } while (goes_on);
  return true;
}

Result<std::vector<std::string>> link_trace_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return fail(ErrorKind::io, path + " is not there");
    if (error) return io_error("cannot look at", path, error.value());
    if (status.type() != std::filesystem::file_type::directory) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == link_trace_ending) found.push_back(at->path().string());
    if (error) return io_error("cannot read directory", path, error.value());
    if (found.empty())
      return fail(ErrorKind::io, "no link trace (*" + std::string(link_trace_ending) + ") in " + path +
                                     "; a crawl with --record-links makes them");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  std::set<std::string> known;
  for (const std::string& file : files) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(file, error);
    if (!error && !known.insert(whole.string()).second)
      return fail(ErrorKind::io, file + " is named twice: its links would count twice");
  }
  return files;
}

}  // namespace orbweaver::storage
