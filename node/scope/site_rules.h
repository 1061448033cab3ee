// Settings of single sites: the entries of `sites`, each "PATTERN name=value…", as a table looked up by host.
//   PATTERN      a host ("example.org"), or "*.example.org": that host and all below it. An exact host goes before a
//                pattern, a longer pattern before a shorter; of equal ones the first.
//   delay=5s     instead of the ring's delay; 0s for your own servers
//   hours=A-B    requests only between A and B o'clock UTC ("22:00-06:00" spans midnight), for sites that sleep
//   factor=N     instead of delay_factor
// The ring's own settings give what an entry leaves out: entries do not add up.
// Pure. Thread rule: a value; const calls from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// A part of every day, in UTC. `from` equal to `to` is the whole day.
struct Hours {
  std::chrono::minutes from{};  // since midnight
  std::chrono::minutes to{};    // the first minute outside
  // The first moment within the hours that is not before `at`.
  Time first_from(Time at) const;
};

struct SiteRule {
  std::string pattern;
  std::optional<Duration> delay;
  std::optional<std::uint32_t> delay_factor;
  std::optional<Hours> hours;
};

// One entry of the setting; the error says what is wrong with it.
Result<SiteRule> parse_site_rule(std::string_view entry);

class SiteRules {
 public:
  SiteRules() = default;
  // Skips entries that parse_site_rule() refuses: the settings' table has refused them before.
  explicit SiteRules(const std::vector<std::string>& entries);
  // nullptr: none; valid as long as this object. Cost: one look-up per label of the host.
  const SiteRule* find(std::string_view host) const;

 private:
  std::map<std::string, SiteRule, std::less<>> exact_;
  std::map<std::string, SiteRule, std::less<>> below_;  // by the text after "*."
};

}  // namespace orbweaver
