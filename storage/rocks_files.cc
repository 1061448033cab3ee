#include "storage/rocks_files.h"

#include <rocksdb/file_system.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace orbweaver::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

// RocksDB gives the error's text but not its number: strerror's text, which for ENFILE begins like that for EMFILE.
int lack_in(const IOStatus& status) {
  return status.IsIOError() && status.ToString().find("Too many open files") != std::string::npos ? EMFILE : 0;
}

class WaitingFiles final : public rocksdb::FileSystemWrapper {
 public:
  WaitingFiles(const std::shared_ptr<rocksdb::FileSystem>& files, OpenWaiter& waiter)
      : rocksdb::FileSystemWrapper(files), waiter_(waiter) {}

  const char* Name() const override { return "WaitingFiles"; }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file, IODebugContext* debug) override {
    return again(name, [&] { return target()->NewSequentialFile(name, options, file, debug); });
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file, IODebugContext* debug) override {
    return again(name, [&] { return target()->NewRandomAccessFile(name, options, file, debug); });
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    return again(name, [&] { return target()->NewWritableFile(name, options, file, debug); });
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* debug) override {
    return again(name, [&] { return target()->ReopenWritableFile(name, options, file, debug); });
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file, IODebugContext* debug) override {
    return again(name, [&] { return target()->NewRandomRWFile(name, options, file, debug); });
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options, std::unique_ptr<rocksdb::FSDirectory>* made,
                        IODebugContext* debug) override {
    return again(name, [&] { return target()->NewDirectory(name, options, made, debug); });
  }
  IOStatus GetChildren(const std::string& name, const IOOptions& options, std::vector<std::string>* found,
                       IODebugContext* debug) override {
    return again(name, [&] { return target()->GetChildren(name, options, found, debug); });
  }
  IOStatus LockFile(const std::string& name, const IOOptions& options, rocksdb::FileLock** lock,
                    IODebugContext* debug) override {
    return again(name, [&] { return target()->LockFile(name, options, lock, debug); });
  }

 private:
  template <class Attempt>
  IOStatus again(const std::string& name, Attempt attempt) {
    IOStatus status;
    waiter_.open(name, [&] {
      status = attempt();
      return lack_in(status);
    });
    return status;
  }

  OpenWaiter& waiter_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> waiting_env(OpenWaiter& waiter) {
  return rocksdb::NewCompositeEnv(std::make_shared<WaitingFiles>(rocksdb::FileSystem::Default(), waiter));
}

}  // namespace orbweaver::storage
