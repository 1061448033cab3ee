#include "node/process/log_limiter.h"

#include <algorithm>

namespace orbweaver {

bool LogLimiter::admit(LogLevel level, std::string_view channel, std::string_view event, Time now) {
  Key key{std::string(channel), std::string(event)};
  auto found = windows_.find(key);
  if (found == windows_.end()) {
    if (windows_.size() + 1 >= max_keys) key = {"node", "other events"};
    found = windows_.try_emplace(std::move(key), Window{now + window, 0, 0, level}).first;
    first_end_ = std::min(first_end_, found->second.ends);
  }
  Window& current = found->second;
  if (current.let_through < burst) {
    ++current.let_through;
    return true;
  }
  current.level = current.suppressed == 0 ? level : std::max(current.level, level);
  ++current.suppressed;
  return false;
}

std::vector<Suppressed> LogLimiter::ended(Time now) {
  std::vector<Suppressed> out;
  // The clock was set back: no window may last longer than its length from now.
  const bool clock_set_back = first_end_ != Time::max() && first_end_ - now > window;
  if (now < first_end_ && !clock_set_back) return out;
  first_end_ = Time::max();
  for (auto at = windows_.begin(); at != windows_.end();) {
    const Window& entry = at->second;
    if (now < entry.ends && !(entry.ends - now > window)) {
      first_end_ = std::min(first_end_, entry.ends);
      ++at;
      continue;
    }
    if (entry.suppressed > 0) out.push_back({entry.level, at->first.first, at->first.second, entry.suppressed});
    at = windows_.erase(at);
  }
  return out;
}

std::vector<Suppressed> LogLimiter::finish() { return ended(Time::max()); }

}  // namespace orbweaver
