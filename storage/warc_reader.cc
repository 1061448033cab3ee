#include "storage/warc.h"
#include "storage/warc_scan.h"

namespace orbweaver::storage {

struct WarcReader::Impl {
  std::unique_ptr<WarcScan> scan;
  std::string path;
  std::uint64_t max_block_bytes = 0;
};

WarcReader::WarcReader() : impl_(std::make_unique<Impl>()) {}
WarcReader::~WarcReader() = default;

Result<std::unique_ptr<WarcReader>> WarcReader::open(const std::string& path, std::uint64_t max_block_bytes) {
  auto scan = scan_file(path);
  if (!scan) return tl::make_unexpected(scan.error());
  std::unique_ptr<WarcReader> reader(new WarcReader());
  reader->impl_->scan = std::move(*scan);
  reader->impl_->path = path;
  reader->impl_->max_block_bytes = max_block_bytes;
  return reader;
}

Result<bool> WarcReader::next(WarcRecord& out) {
  ScannedRecord scanned;
  Result<bool> found = impl_->scan->next(scanned, impl_->max_block_bytes);
  if (!found || !*found) return found;
  if (scanned.block_bytes > impl_->max_block_bytes) {
    return fail(ErrorKind::corrupt, impl_->path + ": record at offset " + std::to_string(scanned.record.offset) +
                                        ": a block of " + std::to_string(scanned.block_bytes) +
                                        " bytes is above the limit of " + std::to_string(impl_->max_block_bytes));
  }
  out = std::move(scanned.record);
  return true;
}

}  // namespace orbweaver::storage
