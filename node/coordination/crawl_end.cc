#include "node/coordination/crawl_end.h"

#include "node/crawl/meta_names.h"
#include "ring/codec.h"

namespace orbweaver {

void CrawlEnd::remember(const ring::Finish& end, storage::Commit& commit) {
  if (announced_) return;
  announced_ = end;
  write(commit);
}

void CrawlEnd::reopen(storage::Commit& commit) {
  if (!announced_) return;
  announced_.reset();
  commit.meta.emplace_back(meta_name::ended, "");
}

void CrawlEnd::write(storage::Commit& commit) const {
  if (announced_) commit.meta.emplace_back(meta_name::ended, ring::encode(messenger_->message(*announced_, {})));
}

Result<void> CrawlEnd::restore(const std::string& row) {
  const auto read = ring::decode(row);
  if (read && std::holds_alternative<ring::Finish>(read->body)) {
    announced_ = std::get<ring::Finish>(read->body);
    return {};
  }
  announced_ = ring::Finish{0, "the crawl has ended", {}};
  return fail(ErrorCode::io, read ? "it is not a finish message" : read.error().message);
}

}  // namespace orbweaver
