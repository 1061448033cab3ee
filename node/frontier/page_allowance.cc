#include "node/frontier/page_allowance.h"

#include <charconv>
#include <string>

#include "node/crawl/meta_names.h"

namespace orbweaver {

void PageAllowance::restore(std::string_view row) { std::from_chars(row.data(), row.data() + row.size(), bytes_); }

void PageAllowance::count_bytes(std::uint64_t bytes, storage::Commit& commit) {
  if (settings_->max_bytes == 0 || bytes == 0) return;
  bytes_ += bytes;
  commit.meta.emplace_back(meta_name::bytes, std::to_string(bytes_));
}

}  // namespace orbweaver
