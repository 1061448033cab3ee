#include "node/cli/archived_pages.h"

#include <algorithm>
#include <filesystem>

#include "node/cli/peer_directories.h"
#include "node/errors/storage_error.h"
#include "node/http/http_message.h"
#include "node/http/response_head.h"
#include "storage/warc.h"

namespace orbweaver {

namespace {

// An HTTP response as a WARC has it, into its parts. False: it is no response.
bool split(const std::string& block, std::size_t max_body_bytes, ArchivedPage& page) {
  const std::size_t end = block.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const auto status = status_of_line(std::string_view(block).substr(0, block.find("\r\n")));
  if (!status) return false;
  page.status = *status;
  page.head = block.substr(0, end + 2);
  page.body = decoded_body(page.head, block.substr(end + 4), max_body_bytes, max_body_bytes);
  page.body.resize(std::min(page.body.size(), max_body_bytes));
  return true;
}

}  // namespace

Result<std::vector<std::string>> archive_files(const std::string& directory) {
  const auto peers = peer_directories(directory);
  if (!peers) return tl::make_unexpected(peers.error());
  std::vector<std::string> files;
  for (const std::string& peer : *peers) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(peer + "/archive", error), last; !error && at != last;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (name.ends_with(".warc.gz") || name.ends_with(".warc.gz.open")) files.push_back(at->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<PagesRead> for_each_archived_page(const std::string& file, std::size_t max_body_bytes,
                                         const std::function<bool(const ArchivedPage&)>& take) {
  PagesRead read;
  // One that was written a moment ago may have its final name now, or have been taken away.
  constexpr std::string_view open_ending = ".open";
  std::string path = file;
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown) && path.ends_with(open_ending))
    path.resize(path.size() - open_ending.size());
  if (!std::filesystem::exists(path, unknown)) {
    read.gone = true;
    return read;
  }
  auto reader = storage::WarcReader::open(path);
  if (!reader) return tl::make_unexpected(error_of(reader.error()));
  storage::WarcRecord record;
  for (;;) {
    const auto more = (*reader)->next(record);
    if (!more) {
      if (more.error().kind != storage::ErrorKind::corrupt) return tl::make_unexpected(error_of(more.error()));
      ++read.damaged;
      continue;
    }
    if (!*more) return read;
    if (record.field("WARC-Type") != "response") continue;
    ArchivedPage page{.url = std::string(record.field("WARC-Target-URI")),
                      .date = std::string(record.field("WARC-Date")),
                      .status = 0,
                      .head = {},
                      .body = {}};
    if (!split(record.block, max_body_bytes, page)) continue;
    ++read.pages;
    if (!take(page)) return read;
  }
}

}  // namespace orbweaver
