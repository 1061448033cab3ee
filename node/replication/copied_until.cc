#include "node/replication/copied_until.h"

#include "storage/bytes.h"

namespace orbweaver {

Result<void> CopiedUntil::restore(std::string_view row, Time now) {
  needed_ = now;
  last_ = Time::max();
  if (row.empty()) return {};
  if (row.size() != 16) return fail(ErrorCode::io, "it has " + std::to_string(row.size()) + " bytes");
  const auto moment = [&](std::size_t at) {
    return Time(Duration(static_cast<std::int64_t>(storage::get_be<std::uint64_t>(row, at))));
  };
  written_until_ = moment(0);
  written_last_ = moment(8);
  // The clock may have been set back: pages that are fetched from now on are not among those.
  until_ = std::clamp(written_until_, Time{}, now - Duration{1});
  last_ = written_last_;
  return {};
}

void CopiedUntil::note_alone(Time now, std::uint64_t outbox) {
  needed_ = std::max(needed_, now);
  first_unsent_ = std::min(first_unsent_, now);
  unsent_outbox_ = std::max(unsent_outbox_, outbox);
  until_ = Time{};
  last_ = Time::max();
  if (written_until_ != until_ || written_last_ < last_) next_ = now;
}

void CopiedUntil::note_unsent(Time fetched, std::uint64_t outbox, std::uint64_t items) {
  any_unsent_ = true;
  needed_ = std::max(needed_, fetched);
  last_ = std::max(last_, fetched);
  first_unsent_ = std::min(first_unsent_, fetched);
  unsent_outbox_ = std::max(unsent_outbox_, outbox);
  unsent_items_ = std::max(unsent_items_, items);
}

void CopiedUntil::move(Time now, Time open, std::uint64_t outbox_safe, std::uint64_t items_safe) {
  next_ = now + every;
  if (outbox_safe >= unsent_outbox_ && items_safe >= unsent_items_) first_unsent_ = Time::max();
  open = std::min(open, first_unsent_);
  until_ = std::max(until_, std::min(now, open - Duration{1}));
  if (!settled()) return;
  any_unsent_ = false;
  last_ = Time{};
}

std::optional<std::string> CopiedUntil::note_fetched(Time fetched) {
  fetched_ = std::max(fetched_, fetched);
  return fetched_ <= written_last_ ? std::nullopt : std::optional(row());
}

std::optional<std::string> CopiedUntil::take_row() {
  if (until_ == written_until_ && std::max(last_, fetched_) <= written_last_) return std::nullopt;
  return row();
}

std::string CopiedUntil::row() {
  written_until_ = until_;
  written_last_ = std::max(last_, fetched_);
  if (written_last_ < Time::max() - ahead) written_last_ += ahead;
  std::string row;
  for (const Time time : {written_until_, written_last_})
    storage::put_be(row, static_cast<std::uint64_t>(time.time_since_epoch().count()));
  return row;
}

}  // namespace orbweaver
