// RocksDB's files behind an OpenWaiter: without it a flush or compaction that finds no descriptor leaves the store
// read-only until it is opened again. Only for storage/rocks_*.cc.
#pragma once

#include <rocksdb/env.h>

#include <memory>

#include "storage/open_waiter.h"

namespace orbweaver::storage {

// The system's files; `waiter` must outlive the returned Env.
std::unique_ptr<rocksdb::Env> waiting_env(OpenWaiter& waiter);

}  // namespace orbweaver::storage
