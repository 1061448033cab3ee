#include "storage/link_trace.h"

#include <libdeflate.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "storage/append_directory.h"
#include "storage/bytes.h"
#include "storage/link_trace_block.h"

namespace orbweaver::storage {
namespace {

// "<prefix>-<digits>.links"
std::optional<std::uint64_t> serial_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(link_trace_ending)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.size() < link_trace_ending.size() + 2 || name.front() != '-') return std::nullopt;
  name = name.substr(1, name.size() - 1 - link_trace_ending.size());
  std::uint64_t serial = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), serial);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return serial;
}

// The end of the last whole block; the file begins with `head`.
Result<std::uint64_t> whole_end(const AppendFile& file, std::uint64_t at) {
  std::string bytes(trace_block_head_bytes, '\0');
  std::string packed;
  for (;;) {
    const auto got = file.read_at(at, bytes.data(), trace_block_head_bytes);
    if (!got) return tl::make_unexpected(got.error());
    if (*got < trace_block_head_bytes) return at;
    const auto head = TraceBlockHead::decode(bytes);
    if (!head || head->packed > file.size() - at - trace_block_head_bytes) return at;
    packed.resize(head->packed);
    const auto read = file.read_at(at + trace_block_head_bytes, packed.data(), packed.size());
    if (!read) return tl::make_unexpected(read.error());
    if (*read < packed.size() || trace_crc(packed) != head->crc) return at;
    at += trace_block_head_bytes + head->packed;
  }
}

struct CompressorDeleter {
  void operator()(libdeflate_compressor* it) const { libdeflate_free_compressor(it); }
};

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(ends.first - a.begin());
}

}  // namespace

std::string LinkTraceWriter::path_of(std::uint64_t serial) const {
  std::string number = std::to_string(serial);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
  const std::string name = config_.name_prefix + "-" + number + std::string(link_trace_ending);
  return (std::filesystem::path(config_.directory) / name).string();
}

Result<LinkTraceWriter> LinkTraceWriter::open(LinkTraceConfig config) {
  LinkTraceWriter writer(std::move(config));
  writer.config_.max_bytes = std::max(writer.config_.max_bytes, trace_bytes_least);
  writer.head_ = encode_trace_head(writer.config_.facts);
  const std::string& directory = writer.config_.directory;
  if (auto made = make_directory(directory); !made) return tl::make_unexpected(made.error());
  if (writer.config_.sync_names)
    if (auto synced = sync_directories_to(directory, writer.config_.waiter); !synced)
      return tl::make_unexpected(synced.error());
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const auto serial = serial_of(at->path().filename().string(), writer.config_.name_prefix);
    if (!serial) continue;
    const std::uint64_t bytes = at->file_size(error);
    if (error) break;
    writer.closed_.emplace_back(*serial, bytes);
  }
  if (error) return io_error("cannot read directory", directory, error.value());
  std::sort(writer.closed_.begin(), writer.closed_.end());
  if (writer.closed_.empty()) return writer;
  writer.serial_ = writer.closed_.back().first;
  auto file = AppendFile::open_existing(writer.path_of(writer.serial_), writer.config_.waiter);
  if (!file) return tl::make_unexpected(file.error());
  std::string begin(std::min<std::uint64_t>(file->size(), max_trace_head_bytes), '\0');
  const auto got = file->read_at(0, begin.data(), begin.size());
  if (!got) return tl::make_unexpected(got.error());
  begin.resize(static_cast<std::size_t>(*got));
  const auto head = decode_trace_head(begin);
  if (!head && head.error().kind == ErrorKind::version)
    return fail(ErrorKind::version, file->path() + ": " + head.error().message);
  // A file with a torn head is empty; a file that is not ours is left as it is.
  const bool torn = begin.size() < writer.head_.size() && writer.head_.starts_with(begin);
  if (torn) {
    if (auto cut = file->cut(0); !cut) return tl::make_unexpected(cut.error());
    if (auto written = file->append(writer.head_); !written) return tl::make_unexpected(written.error());
  } else if (head) {
    const auto end = whole_end(*file, head->bytes);
    if (!end) return tl::make_unexpected(end.error());
    if (*end < file->size())
      if (auto cut = file->cut(*end); !cut) return tl::make_unexpected(cut.error());
  }
  if (torn || (head && head->facts == writer.config_.facts)) {
    writer.file_ = std::move(*file);
    writer.closed_.pop_back();
  } else {
    writer.closed_.back().second = file->size();
    ++writer.serial_;
  }
  return writer;
}

std::uint64_t LinkTraceWriter::bytes() const {
  std::uint64_t sum = file_.is_open() ? file_.size() : 0;
  for (const auto& [serial, size] : closed_) sum += size;
  return sum;
}

// Makes room for another file, however large it gets.
Result<void> LinkTraceWriter::make_room() {
  while (!closed_.empty() && bytes() + file_bytes() > config_.max_bytes) {
    const std::string path = path_of(closed_.front().first);
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return io_error("cannot remove", path, error.value());
    closed_.erase(closed_.begin());
    ++files_removed_;
  }
  return {};
}

Result<void> LinkTraceWriter::begin_file() {
  if (auto room = make_room(); !room) return room;
  auto file = AppendFile::create(path_of(serial_), config_.waiter);
  if (!file) return tl::make_unexpected(file.error());
  if (auto written = file->append(head_); !written) {
    file->close();
    std::error_code ignored;  // the file is empty; the next open handles it
    std::filesystem::remove(path_of(serial_), ignored);
    return written;
  }
  file_ = std::move(*file);
  if (config_.sync_names) return sync_directory(config_.directory, config_.waiter);
  return {};
}

Result<void> LinkTraceWriter::finish_file() {
  auto synced = file_.sync();
  closed_.emplace_back(serial_++, file_.size());
  file_.close();
  return synced;
}

void LinkTraceWriter::put_url(std::string_view url) {
  const std::size_t shared = shared_prefix(url, last_url_);
  put_varint(block_, shared);
  put_varint(block_, url.size() - shared);
  block_.append(url.substr(shared));
  last_url_.assign(url);
}

void LinkTraceWriter::begin_page(const TracePage& page) {
  const auto us = page.at.time_since_epoch().count();
  if (last_time_) {
    put_varint(block_, zigzag(us - last_time_->time_since_epoch().count()));
  } else {
    put_varint(block_, static_cast<std::uint64_t>(us));
  }
  last_time_ = page.at;
  put_varint(block_, page.depth);
  put_varint(block_, page.worker);
  put_url(page.url);
  ++block_pages_;
}

Result<void> LinkTraceWriter::add(const TracePage& page) {
  std::size_t longest = page.url.size();
  for (const TraceLink& link : page.links) longest = std::max(longest, link.url.size());
  if (longest > max_trace_url_bytes)
    return fail(ErrorKind::corrupt, "a URL of " + std::to_string(longest) + " bytes cannot go into a trace");
  begin_page(page);
  for (const TraceLink& link : page.links) {
    if (block_.size() >= trace_block_bytes) {
      block_.push_back(static_cast<char>(trace_page_goes_on));
      if (auto written = flush(); !written) return written;
      begin_page(page);
    }
    block_.push_back(static_cast<char>(link.flags));
    put_url(link.url);
    ++block_links_;
    ++links_;
  }
  block_.push_back(static_cast<char>(trace_page_ends));
  ++pages_;
  return block_.size() < trace_block_bytes ? Result<void>() : flush();
}

Result<void> LinkTraceWriter::flush() {
  if (block_.empty()) return {};
  // Level 1: about 200 MB a second, and the blocks of a crawl shrink to about a fifth.
  const std::unique_ptr<libdeflate_compressor, CompressorDeleter> compressor(libdeflate_alloc_compressor(1));
  std::string bytes(trace_block_head_bytes + libdeflate_deflate_compress_bound(compressor.get(), block_.size()), '\0');
  const std::size_t packed =
      libdeflate_deflate_compress(compressor.get(), block_.data(), block_.size(), bytes.data() + trace_block_head_bytes,
                                  bytes.size() - trace_block_head_bytes);
  bytes.resize(trace_block_head_bytes + packed);
  TraceBlockHead head;
  head.unpacked = static_cast<std::uint32_t>(block_.size());
  head.packed = static_cast<std::uint32_t>(packed);
  head.pages = block_pages_;
  head.links = block_links_;
  head.crc = trace_crc(std::string_view(bytes).substr(trace_block_head_bytes));
  bytes.replace(0, trace_block_head_bytes, head.encode());
  if (file_.is_open() && file_.size() + bytes.size() > file_bytes())
    if (auto finished = finish_file(); !finished) return finished;
  if (!file_.is_open())
    if (auto begun = begin_file(); !begun) return begun;
  block_.clear();
  last_url_.clear();
  last_time_.reset();
  block_pages_ = block_links_ = 0;
  return file_.append(bytes);
}

Result<void> LinkTraceWriter::close() {
  auto flushed = flush();
  if (!file_.is_open()) return flushed;
  auto synced = file_.sync();
  file_.close();
  return flushed ? synced : flushed;
}

}  // namespace orbweaver::storage
