#include "node/lab/dedup/segmented_bitmap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "node/lab/dedup/disk_use.h"
#include "ring/md5.h"
#include "storage/bytes.h"

namespace orbweaver {

namespace {

constexpr std::size_t read_step = 1u << 20;

bool write_at(int fd, const std::string& bytes, std::uint64_t at) {
  return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

SegmentedBitmap::Place SegmentedBitmap::place(std::string_view url) {
  const auto front = static_cast<std::uint32_t>(ring::leading_bits(ring::md5(url)) >> 32);
  return {front >> 16 & (segments - 1), front >> 5 & (segment_words - 1), front & 31};
}

SegmentedBitmap::SegmentedBitmap(std::string path, int fd)
    : path_(std::move(path)), fd_(fd), words_(std::size_t{segments} * segment_words) {}

SegmentedBitmap::~SegmentedBitmap() { ::close(fd_); }

Result<std::unique_ptr<UrlSet>> SegmentedBitmap::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return tl::make_unexpected(disk_error("cannot open", path));
  std::unique_ptr<SegmentedBitmap> set(new SegmentedBitmap(path, fd));
  struct stat file {};
  if (::fstat(fd, &file) != 0) return tl::make_unexpected(disk_error("cannot look at", path));
  if (file.st_size == 0) {
    if (::ftruncate(fd, static_cast<off_t>(file_bytes)) != 0)
      return tl::make_unexpected(disk_error("cannot write", path));
    return set;
  }
  if (static_cast<std::uint64_t>(file.st_size) != file_bytes)
    return fail(ErrorCode::io, path + " has " + std::to_string(file.st_size) + " bytes; a segmented bitmap has " +
                                   std::to_string(file_bytes));
  std::string bytes(read_step, '\0');
  std::size_t word = 0;
  for (std::uint64_t at = 0; at < file_bytes; at += read_step) {
    if (::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(read_step))
      return tl::make_unexpected(disk_error("cannot read", path));
    for (std::size_t i = 0; i < read_step; i += 4) set->words_[word++] = storage::get_be<std::uint32_t>(bytes, i);
  }
  return set;
}

Result<bool> SegmentedBitmap::seen(std::string_view url) {
  const Place at = place(url);
  const std::size_t index = std::size_t{at.segment} * segment_words + at.word;
  const std::uint32_t bit = 0x80000000u >> at.bit;
  if ((words_[index] & bit) != 0) return true;
  words_[index] |= bit;
  std::string word;
  storage::put_be(word, words_[index]);
  if (!write_at(fd_, word, index * 4)) return tl::make_unexpected(disk_error("cannot write", path_));
  return false;
}

bool SegmentedBitmap::would_be_seen(std::string_view url) const {
  const Place at = place(url);
  return (words_[std::size_t{at.segment} * segment_words + at.word] & (0x80000000u >> at.bit)) != 0;
}

double SegmentedBitmap::predicted_rate(std::uint64_t urls) const {
  return -std::expm1(-static_cast<double>(urls) / static_cast<double>(slots));
}

Result<std::uint64_t> SegmentedBitmap::disk_bytes() const {
  struct stat file {};
  if (::fstat(fd_, &file) != 0) return tl::make_unexpected(disk_error("cannot look at", path_));
  return static_cast<std::uint64_t>(file.st_blocks) * 512;
}

}  // namespace orbweaver
