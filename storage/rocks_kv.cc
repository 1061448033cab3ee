#include "storage/rocks_kv.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/rocks_files.h"
#include "storage/store.h"

namespace orbweaver::storage {

namespace {

tl::unexpected<Error> failed(const std::string& what, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  const bool full = status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace ||
                    text.find("No space left") != std::string::npos || text.find("Disk quota") != std::string::npos;
  if (full)
    return fail(ErrorKind::disk_full,
                what + ": the disk is full; free some space and start again: nothing is lost (" + text + ")");
  if (text.find("lock hold by current process") != std::string::npos ||
      text.find("While lock file") != std::string::npos)
    return fail(ErrorKind::in_use,
                what + ": another process has it open; stop that peer first, or give this one its own directory");
  if (status.IsCorruption()) return fail(ErrorKind::corrupt, what + ": stored bytes cannot be read: " + text);
  return fail(ErrorKind::io, what + ": " + text);
}

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

// RocksDB's own log is off: errors come back as a status. On a full disk its log file would end the process: the
// write after a failed one breaks an assertion that distributions
// leave compiled in (WritableFileWriter, RocksDB 7.8).
class NoLog final : public rocksdb::Logger {
 public:
  NoLog() : rocksdb::Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

class RocksCursor final : public KvCursor {
 public:
  RocksCursor(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, std::string_view upper_bound)
      : bound_(upper_bound) {
    rocksdb::ReadOptions options;
    bound_slice_ = slice(bound_);
    if (!bound_.empty()) options.iterate_upper_bound = &bound_slice_;
    iterator_.reset(db.NewIterator(options, family));
  }
  void seek(std::string_view key) override { iterator_->Seek(slice(key)); }
  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return view(iterator_->key()); }
  std::string_view value() const override { return view(iterator_->value()); }
  void next() override { iterator_->Next(); }
  Result<void> status() const override {
    if (iterator_->status().ok()) return {};
    return failed("reading the store", iterator_->status());
  }

 private:
  std::string bound_;
  rocksdb::Slice bound_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class RocksKv final : public Kv {
 public:
  RocksKv(RocksConfig config, std::unique_ptr<rocksdb::Env> env, rocksdb::DB* db,
          std::vector<rocksdb::ColumnFamilyHandle*> families)
      : config_(std::move(config)), env_(std::move(env)), db_(db), families_(std::move(families)) {}
  // What is in memory goes into files, so that who opens the store next need not read the log. A failure loses nothing:
  // all of it is in the log.
  ~RocksKv() override {
    if (!config_.look_only) static_cast<void>(db_->Flush(rocksdb::FlushOptions(), families_));
    for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
    db_->Close();
  }
  RocksKv(const RocksKv&) = delete;

  Result<std::optional<std::string>> get(Table table, std::string_view key) override {
    std::string value;
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), family(table), slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return failed("reading " + config_.directory, status);
    return std::optional<std::string>(std::move(value));
  }

  Result<void> multi_get(Table table, std::span<const std::string_view> keys,
                         std::vector<std::optional<std::string>>& values) override {
    values.assign(keys.size(), std::nullopt);
    // Internally RocksDB reads at most 32 keys per round; one call with all keys lets it share the block reads.
    key_slices_.clear();
    for (const std::string_view key : keys) key_slices_.push_back(slice(key));
    found_.resize(keys.size());
    statuses_.assign(keys.size(), rocksdb::Status());
    db_->MultiGet(rocksdb::ReadOptions(), family(table), keys.size(), key_slices_.data(), found_.data(),
                  statuses_.data(), true);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses_[i].ok()) {
        values[i].emplace(found_[i].data(), found_[i].size());
      } else if (!statuses_[i].IsNotFound()) {
        return failed("reading " + config_.directory, statuses_[i]);
      }
      found_[i].Reset();
    }
    return {};
  }

  std::unique_ptr<KvCursor> cursor(Table table, std::string_view upper_bound) override {
    return std::make_unique<RocksCursor>(*db_, family(table), upper_bound);
  }

  Result<void> write(const KvBatch& batch) override {
    if (config_.look_only) return {};
    batch_.Clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const KvBatch::Op op = batch[i];
      const rocksdb::Status status = op.put ? batch_.Put(family(op.table), slice(op.key), slice(op.value))
                                            : batch_.Delete(family(op.table), slice(op.key));
      if (!status.ok()) return failed("preparing a write to " + config_.directory, status);
    }
    rocksdb::WriteOptions options;
    options.sync = batch.synced();
    const rocksdb::Status status = db_->Write(options, &batch_);
    if (!status.ok()) return keep(failed("writing to " + config_.directory, status));
    written_.fetch_add(1, std::memory_order_release);
    return {};
  }

  std::uint64_t written() const override { return written_.load(std::memory_order_acquire); }

  // Writes go on meanwhile. After a failed write RocksDB must not be asked: an assertion that distributions leave
  // compiled in would end the process (WritableFileWriter, RocksDB 7.8).
  Result<void> sync() override {
    if (config_.look_only) return {};
    {
      const std::lock_guard lock(fault_mutex_);
      if (fault_) return tl::make_unexpected(*fault_);
    }
    const rocksdb::Status status = db_->SyncWAL();
    if (!status.ok()) return keep(failed("syncing " + config_.directory, status));
    return {};
  }

  // Tables become hard links. What is in memory only is not written out, which would hold up the owner: it is in the
  // journal, which is copied, and whose size max_total_wal_size bounds.
  Result<void> checkpoint(const std::string& directory) override {
    rocksdb::Checkpoint* made = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    if (status.ok()) status = checkpoint->CreateCheckpoint(directory, std::numeric_limits<std::uint64_t>::max());
    if (!status.ok()) return failed("making the checkpoint " + directory, status);
    return {};
  }

  // Write buffers, the readers of open tables, and the blocks in the cache, which all tables share.
  std::uint64_t memory_bytes() const override {
    std::uint64_t bytes = 0;
    std::uint64_t part = 0;
    for (rocksdb::ColumnFamilyHandle* const table : families_)
      for (const std::string* const name :
           {&rocksdb::DB::Properties::kCurSizeAllMemTables, &rocksdb::DB::Properties::kEstimateTableReadersMem})
        if (db_->GetIntProperty(table, *name, &part)) bytes += part;
    if (db_->GetIntProperty(families_.front(), rocksdb::DB::Properties::kBlockCacheUsage, &part)) bytes += part;
    return bytes;
  }

 private:
  tl::unexpected<Error> keep(tl::unexpected<Error> fault) {
    const std::lock_guard lock(fault_mutex_);
    if (!fault_) fault_ = fault.value();
    return fault;
  }
  rocksdb::ColumnFamilyHandle* family(Table table) const { return families_[static_cast<std::size_t>(table)]; }

  RocksConfig config_;
  std::unique_ptr<rocksdb::Env> env_;  // declared before everything that uses it
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::WriteBatch batch_;
  std::atomic<std::uint64_t> written_{0};
  std::mutex fault_mutex_;
  std::optional<Error> fault_;  // the first write or sync that failed
  std::vector<rocksdb::Slice> key_slices_;
  std::vector<rocksdb::PinnableSlice> found_;
  std::vector<rocksdb::Status> statuses_;
};

rocksdb::ColumnFamilyOptions table_options(const std::shared_ptr<rocksdb::Cache>& cache, Table table) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = cache;
  blocks.cache_index_and_filter_blocks = true;  // bounded: counted in the cache
  blocks.pin_l0_filter_and_index_blocks_in_cache = true;
  // In pieces of 4 KiB: a whole file's filter is 100 KB to several MB. Once they do not all fit into the cache, each
  // read would load one and evict another. The index of the pieces stays.
  blocks.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  blocks.partition_filters = true;
  blocks.metadata_block_size = 4u << 10;
  blocks.pin_top_level_index_and_filter = true;
  blocks.block_size = 16u << 10;
  blocks.format_version = 5;
  // Only the seen-set is queried for keys that are mostly absent.
  if (table == Table::urls) blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = table == Table::meta ? (1u << 20) : (16u << 20);
  options.max_write_buffer_number = 3;
  options.level_compaction_dynamic_level_bytes = true;
  return options;
}

}  // namespace

Result<std::unique_ptr<Kv>> open_rocks(const RocksConfig& config) {
  rocksdb::DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.max_background_jobs = 2;
  options.max_file_opening_threads = 1;  // with more, a thread that cannot be started ends the process
  options.max_open_files = config.max_open_files;
  options.db_write_buffer_size = config.write_buffer_bytes;
  std::unique_ptr<rocksdb::Env> env;
  if (config.waiter != nullptr) env = waiting_env(*config.waiter);
  if (env != nullptr) options.env = env.get();
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_total_wal_size = 64u << 20;
  // A write-ahead log torn by a crash is read up to its last whole record: everything acknowledged is before that.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(config.cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (std::size_t i = 0; i < table_count; ++i) {
    const std::string name = i == 0 ? rocksdb::kDefaultColumnFamilyName : table_names[i];
    descriptors.emplace_back(name, table_options(cache, static_cast<Table>(i)));
  }
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  const rocksdb::Status status =
      config.look_only ? rocksdb::DB::OpenForReadOnly(options, config.directory, descriptors, &families, &db)
                       : rocksdb::DB::Open(options, config.directory, descriptors, &families, &db);
  if (status.IsInvalidArgument() && status.ToString().find("Column families not opened") != std::string::npos)
    return fail(ErrorKind::version,
                config.directory +
                    " was written by a later version of orbweaver: it has tables that this build does not "
                    "know; use that version");
  if (!status.ok()) return failed("opening " + config.directory, status);
  std::unique_ptr<Kv> kv = std::make_unique<RocksKv>(config, std::move(env), db, std::move(families));
  if (const Result<void> checked = check_format(*kv, config.directory); !checked)
    return tl::make_unexpected(checked.error());
  return kv;
}

}  // namespace orbweaver::storage
