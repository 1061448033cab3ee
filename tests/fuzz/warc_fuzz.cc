// WARC files of any bytes: the scan ends, its records are inside the file one after the other, and its memory is
// bounded.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "storage/warc_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace st = orbweaver::storage;
  constexpr std::uint64_t keep = 1000;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto read_at = [file](std::uint64_t offset, char* to, std::uint64_t count) -> st::Result<std::uint64_t> {
    return offset >= file.size() ? 0 : file.copy(to, count, offset);
  };
  st::WarcScan scan(read_at, "input", size);
  st::ScannedRecord record;
  std::uint64_t end = 0;
  // A gzip member expands each of its bytes to at most 1032, so a record (of at least 30) may need less than a byte of
  // the file.
  for (std::size_t calls = 0; calls <= size * 50 + 10; ++calls) {
    const auto found = scan.next(record, keep);
    if (found && !*found) return 0;
    if (!found) continue;
    const bool shared = record.record.length == 0;
    if (record.end > size || (!shared && record.record.offset + record.record.length != record.end)) std::abort();
    if (!shared && record.record.offset < end) std::abort();
    if (record.record.block.size() > keep || record.record.block.size() > record.block_bytes) std::abort();
    if (!shared) end = record.end;
  }
  std::abort();
}
