// A row of the store's meta table (node/crawl/meta_names.h), for the start of a process. Thread rule: one owner (the
// peer's loop).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "node/errors/storage_error.h"
#include "storage/store.h"

namespace orbweaver {

// Nothing: there is none. Error: the store cannot be read.
inline Result<std::optional<std::string>> meta_row(storage::Store& store, std::string_view name) {
  auto stored = store.meta(std::string(name));
  if (!stored) return tl::make_unexpected(error_of(stored.error()));
  return std::move(*stored);
}

}  // namespace orbweaver
