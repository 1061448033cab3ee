// The robots rules in memory. Equal files are kept once, whatever hosts they are of. Where all would be more than a
// share of the peer's memory (MemoryPlan::robots), the least recently used are dropped, and parsed again from the
// store. Pure. Thread rule: one owner (the peer's core); rules themselves are shared freely.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "node/robots/robots.h"
#include "ring/md5.h"

namespace orbweaver {

// A body and what is in it (robots_reader.h makes it).
struct ParsedRobots {
  ring::Md5 digest{};                        // of the body
  std::shared_ptr<const RobotsRules> rules;  // null: there is no body
};

class RobotsCache {
 public:
  struct Entry {
    ring::Md5 digest{};
    std::shared_ptr<const RobotsRules> rules;  // null: dropped
    bool pinned = false;
    std::list<std::shared_ptr<Entry>>::iterator place;  // unless dropped or pinned
  };
  using Handle = std::shared_ptr<Entry>;

  explicit RobotsCache(std::uint64_t max_bytes);

  // The entry of these rules. The rules put last stay, whatever their size.
  Handle put(const ParsedRobots& parsed);
  // Null: they were dropped. Counts as a use.
  std::shared_ptr<const RobotsRules> use(const Handle& handle);
  // Never dropped.
  const Handle& allow_all() const { return allow_all_; }
  const Handle& disallow_all() const { return disallow_all_; }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t max_bytes() const { return max_bytes_; }
  std::size_t files() const { return known_.size(); }
  std::uint64_t dropped() const { return dropped_; }  // so far
  std::uint64_t shared() const { return shared_; }    // puts of rules that were there already

 private:
  static std::uint64_t charge(const RobotsRules& rules);

  const std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t shared_ = 0;
  std::list<Handle> recent_;  // the last used in front
  std::map<ring::Md5, Handle> known_;
  Handle allow_all_;
  Handle disallow_all_;
};

}  // namespace orbweaver
