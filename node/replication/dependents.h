// What waits until something of this peer's is on another disk too: the outcome of a fetched page, the acknowledgement
// of a batch of links, the sitemaps that robots.txt files name. Each counts what it still waits for, and for nothing
// else: entries of the outbox (open_entries.h), copies (replicator.h), another dependent. So one slow peer holds back
// what depends on it, and no more.
//
// A page that is committed in pieces keeps its dependent from the first piece to the last. Who counts for a dependent
// that was forgotten counts for nothing.
//
// Bounds: as many as there are outcomes, batches without an answer, pages in pieces, and partitions whose robots.txt
// files name sitemaps. Cost: constant, but for one that is met and has followers: they are gone through. Pure. Thread
// rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ring/table_sizes.h"
#include "ring/types.h"

namespace orbweaver {

class Dependents {
 public:
  using Id = std::uint64_t;  // 0: none
  // sitemaps: those that the robots.txt files of a partition name. They are followed, and take_met() has none of them.
  enum class Kind : std::uint8_t { outcome, batch, sitemaps };

  // Not met before close(): until then it may be given more to wait for.
  Id begin(Kind kind) {
    open_[++last_] = {1, kind};
    return last_;
  }
  void close(Id id) { done(id); }
  // It waits for the other one too, if that one waits for something.
  void follow(Id id, Id other) {
    if (!open_.contains(other)) return;
    wait(id);
    std::vector<Id>& followers = followers_[other];
    if (followers.size() == followers.capacity()) {
      std::erase_if(followers, [this](Id one) { return !waits(one); });
      followers.reserve(2 * followers.size() + 1);
    }
    followers.push_back(id);
  }
  // One thing more that it waits for, and one less.
  void wait(Id id) {
    if (const auto found = open_.find(id); found != open_.end()) ++found->second.count;
  }
  void done(Id id) {
    const auto found = open_.find(id);
    if (found == open_.end() || --found->second.count > 0) return;
    if (found->second.kind != Kind::sitemaps) met_[static_cast<std::size_t>(found->second.kind)].push_back(id);
    open_.erase(found);
    if (const auto node = followers_.extract(id)) std::ranges::for_each(node.mapped(), [this](Id one) { done(one); });
  }
  void forget(Id id) { open_.erase(id); }

  bool waits(Id id) const { return open_.contains(id); }
  std::size_t size() const { return open_.size(); }
  Id last() const { return last_; }  // that began; numbers rise
  // Those that wait for nothing more, since the last call.
  std::vector<Id> take_met(Kind kind) { return std::exchange(met_[static_cast<std::size_t>(kind)], {}); }
  ring::TableSizes tables() const;

 private:
  struct Open {
    std::uint32_t count = 0;
    Kind kind = Kind::outcome;
  };
  std::unordered_map<Id, Open> open_;
  std::unordered_map<Id, std::vector<Id>> followers_;  // of each that is followed; some may be forgotten
  std::array<std::vector<Id>, 2> met_;
  Id last_ = 0;
};

// A list of who waits for one thing. Those that were forgotten leave when the list has doubled, so it stays in
// proportion to the dependents that there are. `Entry`: has an `id`.
template <class Entry, template <class...> class List = std::vector>
class WaitingList {
 public:
  bool empty() const { return entries_.empty(); }
  List<Entry>& entries() { return entries_; }
  const List<Entry>& entries() const { return entries_; }
  void add(const Dependents& dependents, Entry entry) {
    if (entries_.size() >= purge_at_) {
      std::erase_if(entries_, [&](const Entry& one) { return !dependents.waits(one.id); });
      purge_at_ = std::max<std::size_t>(least, 2 * entries_.size());
    }
    entries_.push_back(std::move(entry));
  }

 private:
  static constexpr std::size_t least = 64;
  List<Entry> entries_;
  std::size_t purge_at_ = least;
};

// Links of a page that were known already, so that its commit brings nothing of them.
struct KnownLinks {
  // Own ones in this partition have their copies, or are on the way there. Others are committed once more, which copies
  // them (record_writer.h).
  std::function<bool(ring::Partition)> copied;
  std::vector<ring::Partition> own;    // of this peer's own ones, no two neighbours the same
  std::vector<std::uint64_t> foreign;  // numbers of outbox entries
};

}  // namespace orbweaver
