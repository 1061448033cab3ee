#include "node/replication/copied_until.h"

#include "storage/bytes.h"

namespace orbweaver {

Result<void> CopiedUntil::restore(std::string_view row, Time now) {
  needed_ = now;
  if (row.empty()) return {};
  if (row.size() != 8) return fail(ErrorCode::io, "it has " + std::to_string(row.size()) + " bytes");
  const Time written(Duration(static_cast<std::int64_t>(storage::get_be<std::uint64_t>(row, 0))));
  // The clock may have been set back: pages that are fetched from now on are not among those.
  until_ = std::clamp(written, Time{}, now - Duration{1});
  written_ = written;
  return {};
}

void CopiedUntil::note_alone(Time now) {
  needed_ = std::max(needed_, now);
  until_ = Time{};
  if (written_ != until_) next_ = now;
}

void CopiedUntil::note_unsent(Time fetched, std::uint64_t outbox, std::uint64_t items) {
  any_unsent_ = true;
  needed_ = std::max(needed_, fetched);
  first_unsent_ = std::min(first_unsent_, fetched);
  unsent_outbox_ = std::max(unsent_outbox_, outbox);
  unsent_items_ = std::max(unsent_items_, items);
}

void CopiedUntil::move(Time now, Time open, std::uint64_t outbox_safe, std::uint64_t items_safe) {
  next_ = now + every;
  if (outbox_safe >= unsent_outbox_ && items_safe >= unsent_items_) first_unsent_ = Time::max();
  open = std::min(open, first_unsent_);
  until_ = std::max(until_, std::min(now, open - Duration{1}));
  if (settled()) any_unsent_ = false;
}

std::optional<std::string> CopiedUntil::take_row() {
  if (until_ == written_) return std::nullopt;
  written_ = until_;
  std::string row;
  storage::put_be(row, static_cast<std::uint64_t>(until_.time_since_epoch().count()));
  return row;
}

}  // namespace orbweaver
