#include "node/graph/trace_edges.h"

#include <filesystem>

#include "node/errors/storage_error.h"
#include "storage/link_trace.h"

namespace orbweaver {

bool is_trace(const std::string& path) {
  std::error_code ignored;
  return path.ends_with(storage::link_trace_ending) || std::filesystem::is_directory(path, ignored);
}

Result<void> read_trace_edges(const std::string& path, const TakeEdge& take) {
  const auto files = storage::link_trace_files({path});
  if (!files) return fail(ErrorCode::invalid_input, files.error().message);
  bool any = false;
  for (const std::string& file : *files) {
    auto reader = storage::LinkTraceReader::open(file);
    if (!reader) return tl::make_unexpected(error_of_input(reader.error()));
    storage::TracePage page;
    for (;;) {
      const auto more = reader->next(page);
      if (!more) return tl::make_unexpected(error_of_input(more.error()));
      if (!*more) break;
      for (const storage::TraceLink& link : page.links) {
        if (link.has(storage::LinkFlag::requisite)) continue;
        any = true;
        if (Result<void> taken = take(page.url, link.url); !taken) return taken;
      }
    }
  }
  return any ? Result<void>() : fail(ErrorCode::invalid_input, path + ": has no link in it");
}

}  // namespace orbweaver
