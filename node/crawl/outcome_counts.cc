#include "node/crawl/outcome_counts.h"

namespace orbweaver {

using storage::Reason;
using storage::UrlState;

namespace {

// The numbers of reasons tell for what they are (storage/record.h): robots.txt, limits and scope come first, and what
// robots.txt failed by from 64 on.
UrlState usual_state(std::uint8_t number, Reason reason) {
  if (reason == Reason::none || reason == Reason::noindex || reason == Reason::links_over_budget)
    return UrlState::fetched;
  return number < 16 || number >= 64 ? UrlState::excluded : UrlState::failed;
}

}  // namespace

std::map<OutcomeCounts::Kind, std::uint64_t> OutcomeCounts::with_all_reasons() const {
  std::map<Kind, std::uint64_t> all = counts_;
  for (unsigned number = 0; number < 256; ++number) {
    const auto reason = static_cast<Reason>(number);
    if (storage::reason_name(reason) == storage::unknown_name) continue;
    all.try_emplace({usual_state(static_cast<std::uint8_t>(number), reason), reason}, 0);
  }
  return all;
}

std::uint64_t OutcomeCounts::in(UrlState state) const {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : counts_) sum += kind.first == state ? count : 0;
  return sum;
}

}  // namespace orbweaver
