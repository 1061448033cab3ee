#include "node/cli/url_source.h"

#include <algorithm>
#include <utility>

#include "node/cli/export_command.h"
#include "node/cli/peer_directories.h"
#include "node/cli/ring_reader.h"
#include "node/peer/url_report.h"
#include "node/process/directory_lock.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::uint64_t progress_every = 16'384;  // records

}  // namespace

Result<bool> any_runs(const PeerTarget& target) {
  if (!target.peer.empty()) return true;
  const auto directories = peer_directories(target.directory);
  if (!directories) return tl::make_unexpected(directories.error());
  return std::any_of(directories->begin(), directories->end(),
                     [](const std::string& peer) { return DirectoryLock::holder(peer).has_value(); });
}

Result<UrlsRead> for_each_url(const PeerTarget& target, const RecordFilter& filter,
                              const std::function<bool(const json&)>& take,
                              const std::function<void(std::uint64_t)>& progress) {
  const Result<bool> live = any_runs(target);
  if (!live) return tl::make_unexpected(live.error());
  if (*live) {
    const auto ask = [&target](const json& question) { return ask_peer(target, "urls", question, true); };
    return RingReader(ask, filter).read(take, progress);
  }
  UrlsRead read;
  const auto take_record = [&](const storage::UrlRecord& record) {
    if (++read.looked_at % progress_every == 0) progress(read.looked_at);
    return !filter.takes(record) || take(url_entry(record));
  };
  if (const Result<void> done = for_each_record(target.directory, take_record); !done)
    return tl::make_unexpected(done.error());
  return read;
}

}  // namespace orbweaver
