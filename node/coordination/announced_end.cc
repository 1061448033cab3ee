#include "node/coordination/announced_end.h"

#include "node/crawl/meta_names.h"
#include "ring/codec.h"

namespace orbweaver {

void AnnouncedEnd::agree(const ring::Finish& end, storage::Commit& commit) {
  if (decided_) return;
  closed_ = true;
  if (knows(end.by, end.wave)) return;
  end_ = end;
  end_->stage = ring::EndStage::proposed;
  write(commit);
}

void AnnouncedEnd::remember(const ring::Finish& end, storage::Commit& commit) {
  closed_ = true;
  if (decided_) return;
  end_ = end;
  end_->stage = ring::EndStage::decided;
  decided_ = true;
  write(commit);
}

void AnnouncedEnd::reopen(storage::Commit& commit) {
  if (!end_) return;
  end_.reset();
  decided_ = closed_ = false;
  commit.meta.emplace_back(meta_name::ended, "");
}

void AnnouncedEnd::write(storage::Commit& commit) const {
  if (end_) commit.meta.emplace_back(meta_name::ended, ring::encode(messenger_->message(*end_, {})));
}

Result<void> AnnouncedEnd::restore(const std::string& row) {
  const auto read = ring::decode(row);
  const auto* end = read ? std::get_if<ring::Finish>(&read->body) : nullptr;
  end_ = end == nullptr ? ring::Finish{0, "the crawl has ended", {}} : *end;
  decided_ = end_->stage != ring::EndStage::proposed;
  closed_ = !decided_;
  if (end != nullptr) return {};
  return fail(ErrorCode::io, read ? "it is not a finish message" : read.error().message);
}

}  // namespace orbweaver
