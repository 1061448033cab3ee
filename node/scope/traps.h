// Traps: endless addresses that a site generates (docs/how-to/traps.md). A rule looks at one URL, its depth and the
// year, and nothing else: the same verdict on every peer, after any restart. A suspect is not dropped: for each rule
// and host trap_budget are fetched anyway, the others are kept as excluded with reason trap.
//
// TrapBudgets counts the suspects admitted. Its state is a hint: counts that it lacks (after a restart, a hand-off, or
// when it has made room) it reads from the host's records again. Bounded: max_hosts hosts, about 100 bytes each. Pure.
// Thread rule: TrapRules is immutable; TrapBudgets has one owner (the peer's loop). Cost of suspect(): one pass over
// the URL, about 0.1 us (tests/bench/traps_bench.cc).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/store.h"

namespace orbweaver {

// In the order of trap_rule_names, the names of setting trap_rules.
enum class TrapRule : std::uint8_t {
  repeated_segments,
  calendar,
  long_query,
  session_id,
  deep_chain,
  same_content,
  mirror
};
inline constexpr std::array<std::string_view, 7> trap_rule_names = {
    "repeated_segments", "calendar", "long_query", "session_id", "deep_chain", "same_content", "mirror"};
inline constexpr std::size_t trap_rules_count = trap_rule_names.size();
std::string_view trap_rule_name(TrapRule rule);
std::optional<TrapRule> trap_rule_of(std::string_view name);

class TrapRules {
 public:
  TrapRules() = default;  // none is on
  explicit TrapRules(const Settings& settings);

  bool on(TrapRule rule) const { return on_[static_cast<std::size_t>(rule)]; }
  bool any() const { return any_; }
  // The first rule, in their order, that suspects the URL;
  // never same_content and mirror, which look at bodies. Of `now` only the year is used.
  std::optional<TrapRule> suspect(std::string_view path_and_query, std::uint16_t depth, Time now) const;

 private:
  bool repeats(std::string_view path) const;

  std::array<bool, trap_rules_count> on_{};
  bool any_ = false;
  std::size_t repeats_ = 3;
  int year_first_ = 1970;
  int years_ahead_ = 2;
  std::size_t parameters_ = 16;
  std::size_t query_bytes_ = 1024;
  std::uint32_t depth_ = 200;
};

// The single rules, for tests and for other checks.
// A date in the path or the query whose year is not within first to last; or a calendar page that is not a date.
bool is_outlying_date(std::string_view path, std::string_view query, int first, int last);
bool has_session_id(std::string_view path);

class TrapBudgets {
 public:
  using Counts = std::array<std::uint32_t, trap_rules_count>;
  explicit TrapBudgets(std::size_t max_hosts) : max_hosts_(max_hosts) {}

  // Whether one more suspect of the rule is within the host's budget; if so, it is counted. `load` returns the counts
  // of admitted suspects from the host's records, when this object does not have them.
  bool admit(const storage::HostKey& host, TrapRule rule, std::uint32_t budget, const std::function<Counts()>& load);
  std::size_t hosts() const { return hosts_.size(); }

 private:
  std::size_t max_hosts_;
  std::map<storage::HostKey, Counts> hosts_;
};

}  // namespace orbweaver
