#include "node/process/snapshot_saver.h"

#include <sys/statvfs.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"
#include "node/settings/units.h"
#include "node/snapshot/snapshot_files.h"
#include "node/system/thread_start.h"
#include "storage/append_directory.h"

namespace orbweaver {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view part = ".part";

// The snapshots that are there. What is half made goes.
Result<std::size_t> tidy(const std::string& directory) {
  std::size_t whole = 0;
  std::error_code trouble;
  for (auto at = fs::directory_iterator(directory, trouble); !trouble && at != fs::directory_iterator();
       at.increment(trouble)) {
    if (!at->path().filename().string().ends_with(part)) {
      ++whole;
      continue;
    }
    std::error_code failed;
    fs::remove_all(at->path(), failed);
    if (failed) return fail(ErrorCode::io, "cannot remove " + at->path().string() + ": " + failed.message());
  }
  if (trouble) return fail(ErrorCode::io, "cannot read " + directory + ": " + trouble.message());
  return whole;
}

}  // namespace

void SnapshotSaver::begin(storage::Kv& kv, const std::string& snapshot, const std::function<void(Event)>& tell) {
  if (busy_) return tell(CheckpointMade{snapshot, "the files of an earlier snapshot are still being listed"});
  if (thread_.joinable()) thread_.join();
  busy_ = true;
  const Result<void> started = start_thread(thread_, [this, &kv, snapshot, tell] {
    const Result<std::string> made = make(kv, snapshot);
    tell(CheckpointMade{snapshot, made ? "" : made.error().message});
    CheckpointListed listed;
    if (made) listed = list(snapshot, *made);
    busy_ = false;
    if (made) tell(std::move(listed));
  });
  if (started) return;
  busy_ = false;
  tell(CheckpointMade{snapshot, started.error().message});
}

Result<std::string> SnapshotSaver::make(storage::Kv& kv, const std::string& snapshot) const {
  const std::string all = directory_ + "/snapshots";
  const std::string whole = all + "/" + snapshot;
  const std::string half = whole + std::string(part);
  std::error_code trouble;
  fs::create_directories(all, trouble);
  if (trouble) return fail(ErrorCode::io, "cannot make " + all + ": " + trouble.message());
  const Result<std::size_t> there = tidy(all);
  if (!there) return tl::make_unexpected(there.error());
  if (*there >= max_snapshots)
    return fail(ErrorCode::disk_full,
                all + " has " + std::to_string(*there) + " snapshots, which keep old files of the store; remove some");
  struct statvfs room {};
  const std::uint64_t free_bytes =
      ::statvfs(all.c_str(), &room) == 0 ? std::uint64_t{room.f_bavail} * room.f_frsize : room_bytes;
  if (free_bytes < room_bytes)
    return fail(ErrorCode::disk_full, "disk full at " + all + ": " + size_text(free_bytes) +
                                          " are free, a snapshot needs " + size_text(room_bytes));
  fs::create_directory(half, trouble);
  if (trouble) return fail(ErrorCode::io, "cannot make " + half + ": " + trouble.message());
  if (const auto made = kv.checkpoint(half + "/store"); !made) return tl::make_unexpected(error_of(made.error()));
  fs::rename(half, whole, trouble);
  if (trouble) return fail(ErrorCode::io, "cannot rename " + half + ": " + trouble.message());
  if (const auto synced = storage::sync_directories_to(whole); !synced)
    return tl::make_unexpected(error_of(synced.error()));
  return whole;
}

CheckpointListed SnapshotSaver::list(const std::string& snapshot, const std::string& path) const {
  CheckpointListed told{.snapshot = snapshot, .failure = {}, .listing = {}};
  std::error_code unknown;
  SnapshotListing listing;
  listing.path = fs::absolute(path, unknown).string();
  listing.archive_path = fs::absolute(directory_ + "/archive", unknown).string();
  // First, while they have hardly grown. A page counts only once it is in the archive, so the checkpoint's pages are.
  if (fs::exists(listing.archive_path, unknown)) {
    auto archive = list_files(listing.archive_path, false, stop_);
    if (!archive) {
      told.failure = archive.error().message;
      return told;
    }
    listing.archive = std::move(*archive);
  }
  auto files = list_files(path, true, stop_);
  if (!files) {
    told.failure = files.error().message;
    return told;
  }
  listing.files = std::move(*files);
  told.listing = json_text(listing_json(listing));
  return told;
}

void SnapshotSaver::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace orbweaver
