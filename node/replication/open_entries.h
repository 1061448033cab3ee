// The entries of the outbox by number: which have not been taken out, and who waits for that. One bit for each, in
// blocks of 64 numbers; a block leaves when its last entry does.
//
// Entries that an earlier process left are only counted, and so are the oldest ones when there are too many blocks:
// who waits for one of them waits for them all.
//
// Bounds: max_blocks blocks; what waits, in proportion to the dependents. Cost of each call: logarithmic in the blocks,
// for each number. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "node/replication/dependents.h"
#include "ring/table_sizes.h"
#include "storage/store.h"

namespace orbweaver {

class OpenEntries {
 public:
  // `dependents` outlives it. `earlier`: how many an earlier process left. `next`: number of the next entry.
  OpenEntries(Dependents& dependents, std::uint64_t earlier, std::uint64_t next)
      : dependents_(&dependents), earlier_(earlier), boundary_(next) {}

  // A new entry, with a higher number than all before; 0: nobody waits for it.
  void add(std::uint64_t number, Dependents::Id id);
  // If the entry is open, the dependent waits for it.
  void wait_for(std::uint64_t number, Dependents::Id id);
  // Those that wait for any of these entries; some may be named twice.
  std::vector<Dependents::Id> waiting_for(const std::vector<storage::OutboxKey>& keys) const;
  // Each must be open.
  void take_out(const std::vector<storage::OutboxKey>& keys);

  // Every entry with a lower number was taken out. 0: not all that an earlier process left were. Exact, but where
  // entries are only counted: then it is the number of the first that was, until all of them are taken out.
  std::uint64_t safe() const;
  ring::TableSizes tables() const;

 private:
  struct Waiting {
    std::uint64_t entries = 0;  // bits, as in Block::open
    Dependents::Id id = 0;
  };
  struct Block {
    std::uint64_t open = 0;
    WaitingList<Waiting> waiting;
  };
  void wait_for(Block& block, std::uint64_t bit, Dependents::Id id);
  void release(Block& block);
  void count_oldest();

  Dependents* dependents_;
  std::map<std::uint64_t, Block> blocks_;  // by number / 64
  std::uint64_t earlier_;                  // entries below boundary_ that were not taken out
  std::uint64_t earlier_first_ = 0;        // a number that none of them is below
  std::uint64_t boundary_;
  WaitingList<Waiting> waiting_for_earlier_;
};

}  // namespace orbweaver
