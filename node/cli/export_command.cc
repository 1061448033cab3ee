#include "node/cli/export_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "node/cli/peer_directories.h"
#include "node/cli/wacz_command.h"
#include "node/errors/storage_error.h"
#include "node/process/directory_lock.h"
#include "node/terminal/say.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::size_t scan_step = 4096;

// One peer's directory, which is only read.
class OpenStore {
 public:
  static Result<std::unique_ptr<OpenStore>> open(const std::string& directory) {
    auto opened = std::unique_ptr<OpenStore>(new OpenStore);
    storage::RocksConfig config;
    config.directory = directory + "/store";
    config.look_only = true;
    auto kv = storage::open_rocks(config);
    if (!kv) return tl::make_unexpected(error_of(kv.error()));
    opened->kv_ = std::move(*kv);
    auto store = storage::Store::open(*opened->kv_);
    if (!store) return tl::make_unexpected(error_of(store.error()));
    opened->store_.emplace(std::move(*store));
    return opened;
  }
  std::vector<std::uint16_t> partitions() const { return store_->partitions(); }

  // Starts at a partition's first record.
  Result<void> begin(std::uint16_t partition) {
    partition_ = partition;
    rows_.clear();
    at_ = 0;
    more_ = true;
    return fill(nullptr);
  }
  const storage::Merge* current() const { return at_ < rows_.size() ? &rows_[at_] : nullptr; }
  Result<void> next() {
    if (++at_ < rows_.size() || !more_) return {};
    const storage::UrlKey last = rows_.back().key;
    return fill(&last);
  }

 private:
  OpenStore() = default;
  Result<void> fill(const storage::UrlKey* after) {
    auto rows = store_->scan(partition_, after, scan_step);
    if (!rows) return tl::make_unexpected(error_of(rows.error()));
    rows_ = std::move(*rows);
    more_ = rows_.size() == scan_step;
    at_ = 0;
    return {};
  }
  std::unique_ptr<storage::Kv> kv_;
  std::optional<storage::Store> store_;
  std::uint16_t partition_ = 0;
  std::vector<storage::Merge> rows_;
  std::size_t at_ = 0;
  bool more_ = false;
};

struct ExportOptions {
  std::string directory = "orbweaver-crawl";
  std::vector<std::string> states;
  bool as_json = false;
};

Result<void> export_urls(const ExportOptions& options) {
  std::set<std::string_view> states(options.states.begin(), options.states.end());
  const auto print = [&](const storage::UrlRecord& record) {
    const std::string_view state = storage::state_name(record.state);
    if (!states.empty() && !states.contains(state)) return true;
    if (options.as_json) {
      say_json({{"url", record.url},
                {"state", state},
                {"reason", storage::reason_name(record.reason)},
                {"status", record.status},
                {"depth", record.depth}},
               -1);
    } else {
      say_text(record.url);
      say_text("\n");
    }
    return can_say();
  };
  if (Result<void> done = for_each_record(options.directory, print); !done) return done;
  if (!all_said()) return fail(ErrorCode::io, "standard output could not be written");
  return {};
}

}  // namespace

Result<void> for_each_record(const std::string& directory, const std::function<bool(const storage::UrlRecord&)>& take) {
  const auto directories = peer_directories(directory);
  if (!directories) return tl::make_unexpected(directories.error());
  std::vector<std::unique_ptr<OpenStore>> stores;
  std::set<std::uint16_t> partitions;
  for (const std::string& peer : *directories) {
    if (const std::optional<std::string> holder = DirectoryLock::holder(peer))
      return fail(ErrorCode::in_use, "the directory " + peer + " is in use by process " + *holder +
                                         "; its URLs can be read once it is stopped");
    auto store = OpenStore::open(peer);
    if (!store) return tl::make_unexpected(store.error());
    const std::vector<std::uint16_t> own = (*store)->partitions();
    partitions.insert(own.begin(), own.end());
    stores.push_back(std::move(*store));
  }
  for (const std::uint16_t partition : partitions) {
    for (const auto& store : stores)
      if (Result<void> begun = store->begin(partition); !begun) return begun;
    for (;;) {
      // Copies of one URL have the same key in every store.
      const storage::Merge* first = nullptr;
      for (const auto& store : stores)
        if (const storage::Merge* at = store->current(); at != nullptr && (first == nullptr || at->key < first->key))
          first = at;
      if (first == nullptr) break;
      const storage::UrlKey key = first->key;
      storage::UrlRecord record = first->record;
      for (const auto& store : stores)
        if (const storage::Merge* at = store->current(); at != nullptr && at->key == key) {
          record = storage::merge(record, at->record);
          if (Result<void> moved = store->next(); !moved) return moved;
        }
      if (!take(record)) return {};
    }
  }
  return {};
}

void add_export_commands(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("export", "exports what a crawl knows, for other programs");
  command->require_subcommand(1);
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* urls = command->add_subcommand("urls", "the URLs that a stopped crawl knows, one per line");
  urls->add_option("--dir,--out", options->directory, "directory of a peer, or of a crawl (all its peers together)")
      ->type_name("DIR")
      ->capture_default_str();
  urls->add_option("--states,--state", options->states,
                   "only URLs in this state: queued, fetched, failed or excluded [all]")
      ->delimiter(',')
      ->check(CLI::IsMember({"queued", "fetched", "failed", "excluded"}))
      ->type_name("STATE,…");
  urls->add_flag("--json", options->as_json, "as JSON lines, with state, reason, status and depth");
  urls->callback([options, &code] {
    const Result<void> done = export_urls(*options);
    if (done) return;
    complain("%s", done.error().message.c_str());
    code = static_cast<int>(done.error().code);
  });
  add_wacz_command(*command, code);
}

}  // namespace orbweaver
