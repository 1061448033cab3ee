// The ring's seeds, which every peer knows, and the scope that follows from them. Whichever peer owns a seed admits it,
// even if the peer that it was given to is gone with its disk. Thread rule: one owner (the peer's loop).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/coordination/announced_end.h"
#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"
#include "node/scope/scope.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class SeedSet {
 public:
  // All outlive it. `changed` is called after each change.
  SeedSet(const PeerState& state, const Members& members, const Messenger& messenger, RecordWriter& writer,
          AnnouncedEnd& end, std::function<void()> changed);

  // The seeds of an earlier run. Lines that are not URLs are left out: why, and the row without them.
  struct Restored {
    std::vector<std::string> left_out;
    std::string row;
  };
  Restored restore(const std::string& row);
  // Makes the scope from the ring's settings and the seeds so far.
  void make_scope();

  // More seeds, durable at once. Texts that are not URLs are left out: another peer has made all of them canonical.
  Result<void> add(const Step& step, const std::vector<std::string>& seeds);
  // The same, in the commit of the seeds' own records.
  void add(const std::vector<std::string>& seeds, storage::Commit& commit);
  // Admits the seeds that this peer owns, when they are new or when owners have changed. To be called once the peer is
  // confirmed (fence.h): before, the others may have ended with them.
  Result<void> admit_own(const Step& step);
  void owners_changed() { all_due_ = true; }

  void send(const Step& step, const ring::PeerId& to, const std::vector<std::string>& seeds) const;

  const std::set<std::string>& all() const { return seeds_; }
  std::size_t size() const { return seeds_.size(); }
  bool contains(const std::string& url) const { return seeds_.contains(url); }
  bool is_host(std::string_view host) const { return hosts_.contains(host); }
  std::uint64_t fingerprint() const { return fingerprint_; }
  const Scope& scope() const { return *scope_; }

  // Keeps a message well under ring::max_message_bytes.
  static constexpr std::size_t per_message = 1000;
  ring::TableSizes tables() const;

 private:
  std::string row() const;
  bool take(const std::vector<std::string>& seeds, std::string& row);
  void set_fingerprint(const std::string& row);

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  RecordWriter* writer_;
  AnnouncedEnd* end_;
  std::function<void()> changed_;
  std::set<std::string> seeds_;
  std::uint64_t fingerprint_ = 0;
  std::set<std::string, std::less<>> hosts_;
  std::unique_ptr<Scope> scope_;
  bool all_due_ = true;           // to be admitted: all, or
  std::vector<std::string> due_;  // new ones
};

}  // namespace orbweaver
