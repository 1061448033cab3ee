#include "node/lab/dedup/sqlite_set.h"

#include <sqlite3.h>

#include "node/lab/dedup/disk_use.h"

namespace orbweaver {

namespace {

class SqliteSet final : public UrlSet {
 public:
  explicit SqliteSet(std::string directory) : directory_(std::move(directory)), path_(directory_ + "/urls.sqlite") {}
  ~SqliteSet() override {
    sqlite3_finalize(select_);
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }
  SqliteSet(const SqliteSet&) = delete;

  Result<void> open() {
    // SQLITE_OPEN_NOMUTEX: one thread.
    if (sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        nullptr) != SQLITE_OK)
      return failed("cannot open");
    for (const char* const statement : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                                        "CREATE TABLE IF NOT EXISTS urls (url TEXT NOT NULL)",
                                        "CREATE UNIQUE INDEX IF NOT EXISTS urls_by_text ON urls (url)"})
      if (sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) != SQLITE_OK) return failed("cannot open");
    if (!prepare("SELECT 1 FROM urls WHERE url = ?", select_) || !prepare("INSERT INTO urls (url) VALUES (?)", insert_))
      return failed("cannot open");
    return {};
  }

  Result<bool> seen(std::string_view url) override {
    const int found = run(select_, url);
    if (found == SQLITE_ROW) return true;
    if (found != SQLITE_DONE) return failed<bool>("cannot read");
    if (run(insert_, url) != SQLITE_DONE) return failed<bool>("cannot write");
    return false;
  }
  // Page cache, statements and schema of this connection, by SQLite's own count.
  std::uint64_t memory_bytes() const override {
    std::uint64_t bytes = 0;
    for (const int what : {SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED}) {
      int now = 0;
      int most = 0;
      if (sqlite3_db_status(database_, what, &now, &most, 0) == SQLITE_OK) bytes += static_cast<std::uint64_t>(now);
    }
    return bytes;
  }
  Result<std::uint64_t> disk_bytes() const override {
    const Result<DiskUse> use = disk_use(directory_);
    if (!use) return tl::make_unexpected(use.error());
    return use->bytes;
  }

 private:
  bool prepare(const char* text, sqlite3_stmt*& statement) {
    return sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) == SQLITE_OK;
  }
  // The answer of the first step; after it the statement is ready for the next URL.
  static int run(sqlite3_stmt* statement, std::string_view url) {
    sqlite3_bind_text(statement, 1, url.data(), static_cast<int>(url.size()), SQLITE_STATIC);
    const int answer = sqlite3_step(statement);
    const int ended = sqlite3_reset(statement);
    return answer == SQLITE_ROW ? answer : (ended == SQLITE_OK ? answer : ended);
  }
  template <class T = void>
  Result<T> failed(const char* what) const {
    const bool full = sqlite3_errcode(database_) == SQLITE_FULL;
    return fail(full ? ErrorCode::disk_full : ErrorCode::io,
                std::string(what) + " " + path_ + ": " + sqlite3_errmsg(database_));
  }

  std::string directory_;
  std::string path_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* select_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<UrlSet>> open_sqlite_set(const std::string& directory) {
  auto set = std::make_unique<SqliteSet>(directory);
  if (Result<void> opened = set->open(); !opened) return tl::make_unexpected(opened.error());
  return set;
}

}  // namespace orbweaver
