#include "node/process/link_recorder.h"

#include <utility>

#include "node/config/settings_table.h"
#include "node/errors/storage_error.h"
#include "node/process/log.h"

namespace orbweaver {

Result<void> LinkRecorder::open(const Core& peer, const std::string& directory, storage::OpenWaiter* waiter) {
  const Settings& settings = peer.settings();
  storage::LinkTraceConfig config;
  config.directory = directory;
  config.name_prefix = "orbweaver-" + peer.ring_id().brief() + "-" + peer.id().brief();
  config.max_bytes = settings.max_link_trace_bytes;
  config.waiter = waiter;
  config.sync_names = settings.durability == Durability::power;
  config.facts = {{"peer", peer.id().hex()}, {"ring", peer.ring_id().hex()}};
  for (const auto& [name, value] : ring_wide_settings(settings))
    if (name == "partitions" || name == "partition_by" || name == "order" || name == "scope")
      config.facts[name] = value;
  auto opened = storage::LinkTraceWriter::open(std::move(config));
  if (!opened) return tl::make_unexpected(error_of(opened.error()));
  writer_.emplace(std::move(*opened));
  return {};
}

Result<void> LinkRecorder::record(const storage::TracePage& page) {
  if (const auto added = writer_->add(page); !added) return tl::make_unexpected(error_of(added.error()));
  if (writer_->files_removed() == removed_) return {};
  if (removed_ == 0)
    log(LogLevel::warning, "storage", "oldest recorded links removed: max_link_trace_bytes is reached",
        {{"bytes", writer_->bytes()}});
  removed_ = writer_->files_removed();
  return {};
}

void LinkRecorder::tell(Core& peer) const {
  if (!writer_) return;
  peer.note_link_trace({{"pages", writer_->pages()},
                        {"links", writer_->links()},
                        {"bytes", writer_->bytes()},
                        {"files_removed", writer_->files_removed()}});
}

void LinkRecorder::close() {
  if (!writer_) return;
  if (const auto closed = writer_->close(); !closed)
    log(LogLevel::error, "storage", "link trace not closed", {{"cause", closed.error().message}});
}

}  // namespace orbweaver
