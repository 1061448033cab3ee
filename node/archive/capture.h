// The captures of a WARC file: what an index, a page list or a reader needs of each response and revisit. Outside
// bytes: nothing here throws, and memory is the kept part of one record. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "node/archive/byte_view.h"
#include "node/base.h"
#include "storage/warc_scan.h"

namespace orbweaver::archive {

struct Capture {
  std::string url;           // WARC-Target-URI
  std::string date;          // WARC-Date, as written
  std::string timestamp;     // the same as 14 digits
  std::string mime;          // media type in lower case; "warc/revisit" of a revisit; "unk" when none is said
  std::string status;        // three digits; empty when there is no status line
  std::string digest;        // WARC-Payload-Digest, as written; may be empty
  std::string location;      // of a redirect, as written; else empty
  std::string file;          // name without directory, and without ".open"
  std::uint64_t offset = 0;  // of its gzip member
  std::uint64_t length = 0;  // of its gzip member, bytes
  std::string_view head;     // status line and header lines; a view of the record
  std::string_view body;     // the kept part, as received; a view of the record
};

// Nothing: the record is no capture, or its date, URI or place is unusable.
std::optional<Capture> capture_of(const storage::ScannedRecord& record, const std::string& file);

struct CapturesRead {
  std::uint64_t captures = 0;
  std::uint64_t damaged = 0;  // records that could not be read, and were passed over
  std::uint64_t end = 0;      // bytes up to the end of the last whole record
};

// One file of an archive, finished or being written. It stays readable when it gets its final name meanwhile.
class ArchiveFile {
 public:
  // A name that ends in ".open" stands for the finished file too. Errors: io.
  static Result<std::unique_ptr<ArchiveFile>> open(const std::string& path);
  ArchiveFile(const ArchiveFile&) = delete;

  const std::string& name() const { return name_; }  // without directory, and without ".open"
  // All captures in order, with at most `keep` bytes of each block. Errors: io, and that of `take`.
  Result<CapturesRead> read(std::uint64_t keep, const std::function<Result<void>(const Capture&)>& take);
  const std::shared_ptr<const OpenFile>& file() const { return file_; }

 private:
  ArchiveFile(std::string name, std::shared_ptr<const OpenFile> file)
      : name_(std::move(name)), file_(std::move(file)) {}
  std::string name_;
  std::shared_ptr<const OpenFile> file_;
};

}  // namespace orbweaver::archive
