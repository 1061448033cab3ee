#include "node/sort/external_sort.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orbweaver {

namespace {

// Number of runs that are merged at once; when there are this many they become one.
constexpr std::size_t max_runs = 64;
constexpr std::size_t buffer_min = 4096;

tl::unexpected<Error> failed(const std::string& what, const std::string& path) {
  return fail(ErrorCode::io, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

bool put(std::FILE* file, std::string_view record) {
  const auto size = static_cast<std::uint32_t>(record.size());
  return std::fwrite(&size, sizeof size, 1, file) == 1 && (size == 0 || std::fwrite(record.data(), size, 1, file) == 1);
}

}  // namespace

ExternalSort::ExternalSort(std::string directory, std::string name, std::uint64_t memory, bool unique)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      memory_(std::max(memory, sort_memory_min)),
      unique_(unique) {}

ExternalSort::~ExternalSort() {
  for (const auto& run : runs_) ::unlink(run->path.c_str());
}

Result<void> ExternalSort::add(std::string_view record) {
  if (record.size() > max_sort_record)
    return fail(ErrorCode::invalid_input, "a record of " + std::to_string(record.size()) + " bytes");
  // The memory that the two containers have reserved, not only what is in use: they double.
  const std::uint64_t used = 2 * (bytes_.size() + record.size() + (places_.size() + 1) * sizeof(Place));
  if (used > memory_ && !places_.empty())
    if (Result<void> written = write_run(); !written) return written;
  places_.push_back({bytes_.size(), static_cast<std::uint32_t>(record.size())});
  bytes_.append(record);
  return {};
}

void ExternalSort::sort_at_hand() {
  std::sort(places_.begin(), places_.end(), [this](const Place& a, const Place& b) { return at(a) < at(b); });
}

Result<void> ExternalSort::write_run() {
  sort_at_hand();
  auto run = std::make_unique<Run>();
  run->path = directory_ + "/" + name_ + "-" + std::to_string(next_run_++);
  File file(std::fopen(run->path.c_str(), "wb"));
  if (!file) return failed("write", run->path);
  const std::string path = run->path;
  runs_.push_back(std::move(run));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (unique_ && i > 0 && at(places_[i]) == at(places_[i - 1])) continue;
    if (!put(file.get(), at(places_[i]))) return failed("write", path);
  }
  if (std::fflush(file.get()) != 0) return failed("write", path);
  places_.clear();
  bytes_.clear();
  return runs_.size() >= max_runs ? merge_runs() : Result<void>();
}

Result<void> ExternalSort::advance(Run& run) {
  std::uint32_t size = 0;
  if (std::fread(&size, sizeof size, 1, run.file.get()) != 1) {
    if (std::ferror(run.file.get()) != 0) return failed("read", run.path);
    run.done = true;
    return {};
  }
  run.record.resize(size);
  if (size > 0 && std::fread(run.record.data(), size, 1, run.file.get()) != 1) return failed("read", run.path);
  return {};
}

Result<void> ExternalSort::open_runs() {
  heap_.clear();
  const std::size_t each = std::max<std::size_t>(memory_ / 2 / std::max<std::size_t>(runs_.size(), 1), buffer_min);
  for (const auto& run : runs_) {
    run->file.reset(std::fopen(run->path.c_str(), "rb"));
    if (!run->file) return failed("read", run->path);
    run->buffer.resize(std::min<std::size_t>(each, 1u << 20));
    std::setvbuf(run->file.get(), run->buffer.data(), _IOFBF, run->buffer.size());
    run->done = false;
    if (Result<void> read = advance(*run); !read) return read;
    if (!run->done) heap_.push_back(run.get());
  }
  std::make_heap(heap_.begin(), heap_.end(), [](const Run* a, const Run* b) { return a->record > b->record; });
  any_given_ = false;
  return {};
}

Result<bool> ExternalSort::next_merged(std::string_view& record) {
  const auto later = [](const Run* a, const Run* b) { return a->record > b->record; };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Run& run = *heap_.back();
    const bool again = unique_ && any_given_ && run.record == given_;
    if (!again) given_.swap(run.record);
    if (Result<void> read = advance(run); !read) return tl::make_unexpected(read.error());
    if (run.done) {
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    if (again) continue;
    any_given_ = true;
    record = given_;
    return true;
  }
  return false;
}

Result<void> ExternalSort::merge_runs() {
  if (Result<void> opened = open_runs(); !opened) return opened;
  auto merged = std::make_unique<Run>();
  merged->path = directory_ + "/" + name_ + "-" + std::to_string(next_run_++);
  File file(std::fopen(merged->path.c_str(), "wb"));
  if (!file) return failed("write", merged->path);
  const std::string path = merged->path;
  for (std::string_view record;;) {
    const Result<bool> more = next_merged(record);
    if (more && !*more) break;
    if (!more || !put(file.get(), record)) {
      ::unlink(path.c_str());
      return more ? failed("write", path) : Result<void>(tl::make_unexpected(more.error()));
    }
  }
  if (std::fflush(file.get()) != 0) return failed("write", path);
  for (const auto& run : runs_) ::unlink(run->path.c_str());
  runs_.clear();
  runs_.push_back(std::move(merged));
  return {};
}

Result<void> ExternalSort::finish() {
  if (runs_.empty()) {
    sort_at_hand();
    return {};
  }
  if (!places_.empty())
    if (Result<void> written = write_run(); !written) return written;
  std::string().swap(bytes_);
  std::vector<Place>().swap(places_);
  return open_runs();
}

Result<bool> ExternalSort::next(std::string_view& record) {
  if (!runs_.empty()) return next_merged(record);
  while (next_place_ < places_.size()) {
    const std::size_t i = next_place_++;
    if (unique_ && i > 0 && at(places_[i]) == at(places_[i - 1])) continue;
    record = at(places_[i]);
    return true;
  }
  return false;
}

}  // namespace orbweaver
