#include "storage/warc_repair.h"

#include "storage/warc_scan.h"

namespace orbweaver::storage {

Result<OpenWarcRepair> repair_open_warc(AppendFile& file) {
  WarcScan scan(
      [&file](std::uint64_t offset, char* to, std::uint64_t count) { return file.read_at(offset, to, count); },
      file.path(), file.size());
  OpenWarcRepair repair;
  std::uint64_t whole_end = 0;
  ScannedRecord record;
  for (;;) {
    const Result<bool> found = scan.next(record, 0);
    if (found && !*found) break;
    if (found) {
      whole_end = record.end;
      ++repair.done.records;
      if (record.record.field("WARC-Type") != "warcinfo") ++repair.captures;
      continue;
    }
    if (found.error().kind != ErrorKind::corrupt) return tl::make_unexpected(found.error());
    // A record that is cut by the end of the file is the last one:
    // what looks like a record inside it is part of an archived archive.
    if (scan.torn()) break;
  }
  repair.done.bytes_cut = file.size() - whole_end;
  if (repair.done.bytes_cut > 0) {
    if (auto cut = file.cut(whole_end); !cut) return tl::make_unexpected(cut.error());
  }
  return repair;
}

Result<WarcRepair> repair_warc(const std::string& path) {
  auto file = AppendFile::open_existing(path);
  if (!file) return tl::make_unexpected(file.error());
  const auto repaired = repair_open_warc(*file);
  if (!repaired) return tl::make_unexpected(repaired.error());
  if (auto synced = file->sync(); !synced) return tl::make_unexpected(synced.error());
  return repaired->done;
}

}  // namespace orbweaver::storage
