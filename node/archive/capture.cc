#include "node/archive/capture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "node/errors/storage_error.h"
#include "node/http/http_message.h"
#include "node/http/response_head.h"
#include "node/try.h"
#include "storage/warc_format.h"

namespace orbweaver::archive {

namespace {

constexpr std::string_view open_ending = ".open";

tl::unexpected<Error> failed(const std::string& what, const std::string& path) {
  return fail(ErrorCode::io, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

}  // namespace

std::optional<Capture> capture_of(const storage::ScannedRecord& scanned, const std::string& file) {
  const storage::WarcRecord& record = scanned.record;
  const std::string_view type = record.field("WARC-Type");
  if ((type != "response" && type != "revisit") || record.length == 0) return std::nullopt;
  std::string_view uri = record.field("WARC-Target-URI");
  if (uri.starts_with('<') && uri.ends_with('>')) uri = uri.substr(1, uri.size() - 2);  // as older tools wrote it
  Capture capture;
  capture.date = record.field("WARC-Date");
  capture.timestamp = storage::stamp_14_of(capture.date);
  if (uri.empty() || capture.timestamp.empty()) return std::nullopt;
  capture.url = uri;
  capture.digest = record.field("WARC-Payload-Digest");
  capture.file = file;
  capture.offset = record.offset;
  capture.length = record.length;
  const std::string_view block = record.block;
  const std::size_t end = block.find("\r\n\r\n");
  capture.head = block.substr(0, end == std::string_view::npos ? end : end + 2);
  capture.body = end == std::string_view::npos ? std::string_view() : block.substr(end + 4);
  if (const auto status = status_of_line(capture.head.substr(0, capture.head.find("\r\n")))) {
    capture.status = std::to_string(*status);
    capture.mime = media_type(content_type_of(capture.head));
    if (*status >= 300 && *status < 400) capture.location = header_value(capture.head, "location").value_or("");
  }
  if (type == "revisit") capture.mime = "warc/revisit";
  if (capture.mime.empty()) capture.mime = "unk";
  return capture;
}

Result<std::unique_ptr<ArchiveFile>> ArchiveFile::open(const std::string& path) {
  std::string finished = path;
  if (path.ends_with(open_ending)) finished.resize(path.size() - open_ending.size());
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT && finished != path)
    descriptor = ::open(finished.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed("read", path);
  std::string name = std::filesystem::path(finished).filename().string();
  return std::unique_ptr<ArchiveFile>(new ArchiveFile(std::move(name), std::make_shared<OpenFile>(descriptor, path)));
}

Result<CapturesRead> ArchiveFile::read(std::uint64_t keep, const std::function<Result<void>(const Capture&)>& take) {
  struct stat facts {};
  if (::fstat(file_->descriptor(), &facts) != 0) return failed("read", file_->path());
  const auto read_at = [this](std::uint64_t offset, char* to, std::uint64_t count) -> storage::Result<std::uint64_t> {
    const Result<std::size_t> got = file_->read(offset, to, static_cast<std::size_t>(count));
    if (!got) return tl::make_unexpected(storage::Error{storage::ErrorKind::io, got.error().message});
    return *got;
  };
  storage::WarcScan scan(read_at, file_->path(), static_cast<std::uint64_t>(facts.st_size));
  CapturesRead read;
  storage::ScannedRecord scanned;
  for (;;) {
    const auto found = scan.next(scanned, keep);
    if (!found && found.error().kind != storage::ErrorKind::corrupt)
      return tl::make_unexpected(error_of(found.error()));
    if (!found) {
      // The last record of a file that is being written is not damaged.
      read.damaged += scan.torn() ? 0 : 1;
      continue;
    }
    if (!*found) return read;
    read.end = scanned.end;
    const std::optional<Capture> capture = capture_of(scanned, name_);
    if (!capture) continue;
    ++read.captures;
    ORBWEAVER_TRY(take(*capture));
  }
}

}  // namespace orbweaver::archive
