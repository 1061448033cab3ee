#include "node/archive/index_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "node/archive/capture.h"
#include "node/archive/index_lines.h"
#include "node/archive/spool.h"
#include "node/sort/external_sort.h"
#include "node/try.h"

namespace orbweaver::archive {

namespace {

// As pywb and Common Crawl make them.
constexpr std::size_t lines_per_block = 3000;
constexpr const char* summary_ending = ".idx";
// Of a record: an HTTP head.
constexpr std::uint64_t kept_bytes = 64u << 10;

Result<void> rename(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) return fail(ErrorCode::io, "cannot rename " + from + " to " + to + ": " + error.message());
  return {};
}

// Sorts lines, and writes them to the index.
class Index {
 public:
  Index(const std::string& path, const WorkDirectory& work)
      : path_(path), work_(work), lines_(work.path(), "lines", index_sort_memory, true) {}

  Result<void> add(std::string_view line) { return lines_.add(line); }

  // Returns how many lines there are.
  Result<std::uint64_t> write(IndexForm form, IndexLayout layout) {
    ORBWEAVER_TRY(lines_.finish());
    ORBWEAVER_TRY(layout == IndexLayout::plain ? write_plain(form) : write_blocks());
    return written_;
  }

 private:
  Result<void> each(const std::function<Result<void>(std::string_view)>& take) {
    std::string_view line;
    for (;;) {
      const Result<bool> more = lines_.next(line);
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) return {};
      ++written_;
      ORBWEAVER_TRY(take(line));
    }
  }

  Result<void> write_plain(IndexForm form) {
    Spool out(work_.file("index"));
    if (form == IndexForm::cdx11) ORBWEAVER_TRY(out.add(std::string(cdx11_head) + "\n"));
    const auto add = [&out](std::string_view line) -> Result<void> {
      ORBWEAVER_TRY(out.add(line));
      return out.add("\n");
    };
    ORBWEAVER_TRY(each(add));
    ORBWEAVER_TRY(out.close());
    return rename(out.path(), path_);
  }

  Result<void> write_blocks() {
    const std::string stem = path_.substr(0, path_.size() - std::strlen(summary_ending));
    const std::string name = std::filesystem::path(stem).filename().string() + ".cdx.gz";
    Spool blocks(work_.file("blocks"));
    Spool summary(work_.file("summary"));
    std::uint64_t number = 0;
    BlockWriter writer(lines_per_block, [&](const BlockWriter::Block& block) -> Result<void> {
      ORBWEAVER_TRY(blocks.add(block.bytes));
      return summary.add(block.first + "\t" + name + "\t" + std::to_string(block.offset) + "\t" +
                         std::to_string(block.bytes.size()) + "\t" + std::to_string(++number) + "\n");
    });
    ORBWEAVER_TRY(each([&writer](std::string_view line) { return writer.add(line); }));
    ORBWEAVER_TRY(writer.finish());
    ORBWEAVER_TRY(blocks.close());
    ORBWEAVER_TRY(summary.close());
    Spool place(work_.file("place"));
    ORBWEAVER_TRY(place.add(name + "\t" + name + "\n"));
    ORBWEAVER_TRY(place.close());
    // In between there is no index, rather than one whose parts do not fit.
    std::error_code error;
    std::filesystem::remove(path_, error);
    if (error) return fail(ErrorCode::io, "cannot delete " + path_ + ": " + error.message());
    ORBWEAVER_TRY(rename(blocks.path(), stem + ".cdx.gz"));
    ORBWEAVER_TRY(rename(place.path(), stem + ".loc"));
    return rename(summary.path(), path_);
  }

  const std::string& path_;
  const WorkDirectory& work_;
  ExternalSort lines_;
  std::uint64_t written_ = 0;
};

Result<void> check_path(const std::string& path, IndexLayout layout) {
  if (layout == IndexLayout::plain || path.ends_with(summary_ending)) return {};
  return fail(ErrorCode::invalid_input, "the name of a ZipNum index ends in .idx, so '" + path + "' is none");
}

// The lines of a text file, compressed by gzip or not.
class Lines {
 public:
  static Result<std::unique_ptr<Lines>> open(const std::string& path) {
    gzFile file = ::gzopen(path.c_str(), "rb");
    if (file == nullptr) return fail(ErrorCode::invalid_input, "cannot read " + path + ": " + std::strerror(errno));
    return std::unique_ptr<Lines>(new Lines(path, file));
  }
  ~Lines() { ::gzclose(file_); }
  Lines(const Lines&) = delete;

  // Without line feed; nothing: there are no more. Errors: invalid_input, also for a line that is too long.
  Result<std::optional<std::string_view>> next() {
    const char* got = ::gzgets(file_, buffer_.data(), static_cast<int>(buffer_.size()));
    int code = Z_OK;
    const char* message = ::gzerror(file_, &code);
    // A file that ends in a compressed block too early is damaged; one that is no gzip is read as it is.
    if (code != Z_OK) return fail(ErrorCode::invalid_input, path_ + " is damaged: " + message);
    if (got == nullptr) return std::optional<std::string_view>();
    std::string_view line(got);
    if (line.size() + 1 == buffer_.size() && !line.ends_with('\n'))
      return fail(ErrorCode::invalid_input,
                  path_ + " has a line of more than " + std::to_string(line.size()) + " bytes: it is no index");
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    return std::optional(line);
  }

 private:
  Lines(std::string path, gzFile file) : path_(std::move(path)), file_(file), buffer_(max_index_line + 2, '\0') {}
  std::string path_;
  gzFile file_;
  std::string buffer_;
};

// Nothing: it is a line of no index.
std::optional<IndexForm> form_of(std::string_view line) {
  const std::size_t stamp = line.find(' ');
  if (stamp == std::string_view::npos || stamp == 0) return std::nullopt;
  const std::size_t rest = line.find(' ', stamp + 1);
  if (rest == std::string_view::npos) return std::nullopt;
  return line[rest + 1] == '{' ? IndexForm::cdxj : IndexForm::cdx11;
}

}  // namespace

Result<IndexWritten> write_index(const std::vector<std::string>& warc_files, const std::string& path, IndexForm form,
                                 IndexLayout layout) {
  ORBWEAVER_TRY(check_path(path, layout));
  const auto work = WorkDirectory::make(path + ".work");
  if (!work) return tl::make_unexpected(work.error());
  Index index(path, **work);
  IndexWritten written;
  for (const std::string& warc : warc_files) {
    const auto file = ArchiveFile::open(warc);
    if (!file) return tl::make_unexpected(file.error());
    const auto read = (*file)->read(kept_bytes, [&](const Capture& capture) -> Result<void> {
      const std::string key = search_key(capture.url);
      const std::string line = form == IndexForm::cdxj ? cdxj_line(capture, key) : cdx11_line(capture, key);
      if (line.empty()) ++written.left_out;
      return line.empty() ? Result<void>() : index.add(line);
    });
    if (!read) return tl::make_unexpected(read.error());
    ++written.files;
    written.damaged += read->damaged;
  }
  const Result<std::uint64_t> lines = index.write(form, layout);
  if (!lines) return tl::make_unexpected(lines.error());
  written.captures = *lines;
  return written;
}

Result<IndexWritten> merge_indexes(const std::vector<std::string>& index_files, const std::string& path,
                                   IndexLayout layout) {
  ORBWEAVER_TRY(check_path(path, layout));
  const auto work = WorkDirectory::make(path + ".work");
  if (!work) return tl::make_unexpected(work.error());
  Index index(path, **work);
  IndexWritten written;
  std::optional<IndexForm> form;
  for (const std::string& name : index_files) {
    const auto lines = Lines::open(name);
    if (!lines) return tl::make_unexpected(lines.error());
    for (;;) {
      const auto line = (*lines)->next();
      if (!line) return tl::make_unexpected(line.error());
      if (!*line) break;
      // A head (" CDX N b a …", "!meta …").
      if ((*line)->empty() || (*line)->front() == ' ' || (*line)->front() == '!') continue;
      const std::optional<IndexForm> found = form_of(**line);
      if (!found)
        return fail(ErrorCode::invalid_input,
                    name + " is no index: it has a line '" + std::string((*line)->substr(0, 80)) + "'");
      if (form && *form != *found)
        return fail(ErrorCode::invalid_input, name + " has lines of another form (CDXJ, CDX) than the one before it");
      form = found;
      ORBWEAVER_TRY(index.add(**line));
    }
    ++written.files;
  }
  const Result<std::uint64_t> lines = index.write(form.value_or(IndexForm::cdxj), layout);
  if (!lines) return tl::make_unexpected(lines.error());
  written.captures = *lines;
  return written;
}

}  // namespace orbweaver::archive
