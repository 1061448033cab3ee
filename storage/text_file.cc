#include "storage/text_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "storage/append_directory.h"

namespace orbweaver::storage {
namespace {

constexpr std::string_view file_ending = ".jsonl";
constexpr std::uint64_t chunk_bytes = 64 * 1024;

// The serial number in "<prefix>-<digits>.jsonl".
std::optional<std::uint64_t> serial_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(file_ending)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.size() < file_ending.size() + 2 || name.front() != '-') return std::nullopt;
  name = name.substr(1, name.size() - 1 - file_ending.size());
  std::uint64_t serial = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), serial);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return serial;
}

}  // namespace

std::string TextFile::path_of(std::uint64_t serial) const {
  std::string number = std::to_string(serial);
  number.insert(0, number.size() < 5 ? 5 - number.size() : 0, '0');
  const std::string name = config_.name_prefix + "-" + number + std::string(file_ending);
  return (std::filesystem::path(config_.directory) / name).string();
}

Result<TextFile> TextFile::open(TextFileConfig config) {
  TextFile text(std::move(config));
  const std::string& directory = text.config_.directory;
  if (auto made = make_directory(directory); !made) return tl::make_unexpected(made.error());
  if (text.config_.sync_names)
    if (auto synced = sync_directories_to(directory, text.config_.waiter); !synced)
      return tl::make_unexpected(synced.error());
  std::optional<std::uint64_t> newest;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const auto serial = serial_of(at->path().filename().string(), text.config_.name_prefix);
    if (serial && (!newest || *serial > *newest)) newest = serial;
  }
  if (error) return io_error("cannot read directory", directory, error.value());
  if (!newest) return text;
  text.next_serial_ = *newest + 1;
  auto file = AppendFile::open_existing(text.path_of(*newest), text.config_.waiter);
  if (!file) return tl::make_unexpected(file.error());
  text.file_ = std::move(*file);
  if (auto cut = text.cut_torn_line(); !cut) return tl::make_unexpected(cut.error());
  return text;
}

// Searches backwards for the last line feed and cuts what follows it.
Result<void> TextFile::cut_torn_line() {
  std::uint64_t end = file_.size();
  std::string chunk;
  while (end > 0) {
    const std::uint64_t begin = end - std::min(end, chunk_bytes);
    chunk.resize(static_cast<std::size_t>(end - begin));
    const auto got = file_.read_at(begin, chunk.data(), chunk.size());
    if (!got) return tl::make_unexpected(got.error());
    chunk.resize(static_cast<std::size_t>(*got));
    const std::size_t line_feed = chunk.rfind('\n');
    if (line_feed != std::string::npos) {
      end = begin + line_feed + 1;
      break;
    }
    end = begin;
  }
  return end == file_.size() ? Result<void>() : file_.cut(end);
}

Result<void> TextFile::begin_file() {
  auto file = AppendFile::create(path_of(next_serial_), config_.waiter);
  if (!file) return tl::make_unexpected(file.error());
  ++next_serial_;
  if (config_.sync_names)
    if (auto synced = sync_directory(config_.directory, config_.waiter); !synced) return synced;
  file_ = std::move(*file);
  return {};
}

Result<void> TextFile::append(std::string_view line) {
  if (file_.is_open() && file_.size() >= config_.file_bytes) {
    if (auto closed = close(); !closed) return closed;
  }
  if (!file_.is_open()) {
    if (auto begun = begin_file(); !begun) return begun;
  }
  scratch_.assign(line);
  std::replace(scratch_.begin(), scratch_.end(), '\n', ' ');
  std::replace(scratch_.begin(), scratch_.end(), '\r', ' ');
  scratch_ += '\n';
  auto appended = file_.append(scratch_);
  if (scratch_.capacity() > (1u << 20)) scratch_ = std::string();
  return appended;
}

Result<void> TextFile::close() {
  if (!file_.is_open()) return {};
  auto synced = file_.sync();
  file_.close();
  return synced;
}

}  // namespace orbweaver::storage
