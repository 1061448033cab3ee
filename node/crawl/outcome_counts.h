// How URLs ended at this peer since its process began, by state and reason. A URL that ends again, after another visit,
// counts again. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "storage/record.h"

namespace orbweaver {

class OutcomeCounts {
 public:
  using Kind = std::pair<storage::UrlState, storage::Reason>;

  void note(const storage::UrlRecord& record) { ++counts_[{record.state, record.reason}]; }
  const std::map<Kind, std::uint64_t>& all() const { return counts_; }
  // Also those that were not seen yet, with 0: a counter that appears late is read as one that did not rise.
  std::map<Kind, std::uint64_t> with_all_reasons() const;
  std::uint64_t in(storage::UrlState state) const;

 private:
  std::map<Kind, std::uint64_t> counts_;  // of at most 3 states and some 50 reasons
};

}  // namespace orbweaver
