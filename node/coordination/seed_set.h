// The ring's seeds, which every peer knows, and the scope that follows from them. Whichever peer owns a seed admits it,
// even if the peer that it was given to is gone with its disk. Thread rule: one owner (the peer's loop).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "node/coordination/crawl_end.h"
#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"
#include "node/scope/scope.h"

namespace orbweaver {

class SeedSet {
 public:
  // All outlive it.
  SeedSet(const PeerState& state, Members& members, const Messenger& messenger, RecordWriter& writer, CrawlEnd& end);

  // The seeds of an earlier run. What is not a URL is left out: why, and the row as it is without.
  struct Restored {
    std::vector<std::string> left_out;
    std::string row;
  };
  Restored restore(const std::string& row);
  // The scope, of the ring's settings and the seeds so far.
  void make_scope();

  // More seeds, durable at once. What is not a URL is left out: only what was canonical at another peer comes here.
  Result<void> add(const Step& step, const std::vector<std::string>& seeds);
  // The same, with the seeds' own records.
  void add(const std::vector<std::string>& seeds, storage::Commit& commit);
  // Those that this peer owns are admitted, when they are new or when owners have changed.
  Result<void> admit_own(const Step& step);
  void owners_changed() { all_due_ = true; }

  // The other peer may have other seeds: then it is sent these, and sends its own for the same reason.
  void compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint);
  void send(const Step& step, const ring::PeerId& to, const std::vector<std::string>& seeds) const;
  // Members whose last message told of other seeds than these. No page is read meanwhile: a link would be judged by a
  // part of the scope.
  const std::set<ring::PeerId>& differing() const { return differing_; }
  void forget_peer(const ring::PeerId& peer) { differing_.erase(peer); }

  const std::set<std::string>& all() const { return seeds_; }
  std::size_t size() const { return seeds_.size(); }
  bool contains(const std::string& url) const { return seeds_.contains(url); }
  bool is_host(std::string_view host) const { return hosts_.contains(host); }
  std::uint64_t fingerprint() const { return fingerprint_; }
  const Scope& scope() const { return *scope_; }

  // So that a message stays well under ring::message_bytes_max.
  static constexpr std::size_t per_message = 1000;

 private:
  std::string row() const;
  bool take(const std::vector<std::string>& seeds, std::string& row);
  void set_fingerprint(const std::string& row);

  const PeerState* state_;
  Members* members_;
  const Messenger* messenger_;
  RecordWriter* writer_;
  CrawlEnd* end_;
  std::set<std::string> seeds_;
  std::uint64_t fingerprint_ = 0;
  std::set<std::string, std::less<>> hosts_;
  std::unique_ptr<Scope> scope_;
  std::set<ring::PeerId> differing_;
  bool all_due_ = true;           // to be admitted: all, or
  std::vector<std::string> due_;  // new ones
  Time next_compare_{};
};

}  // namespace orbweaver
