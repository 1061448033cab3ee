// What is known in memory about the URLs of hosts that are being crawled. Each such host has an open-addressing set of
// its URLs' fingerprints, each with the way by which the URL was found. Most of a page's links lead to its own host;
// they are judged here without reading the disk (docs/inside/seen-set.md).
//
// A set is a cache of the host's rows in the table of URLs. It is filled from them, in slices. After each write,
// whatever caused it, the store alone (Store::commit) updates it. So it never knows more than the disk. Rows come in
// the order of their digests, and a set that is not complete yet answers for the range that it has.
//
// Exactness: 64 bits of MD5(URL) within a host. A new URL is treated as a known one with probability n / 2^64, n being
// the host's URLs: for a host of 10^6 that is 5e-14 per URL. A site can forge a collision only against itself.
//
// Bounded: `bytes` for all sets, 10 per slot, about 13 to 18 per URL. When there is no room, a set covers less of its
// host from then on; the disk answers what no set answers. No step takes long: a set beyond max_slots_whole is in 256
// pieces, which grow one by one. Pure. Deterministic. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/record.h"
#include "storage/url_key.h"

namespace orbweaver::storage {

class SeenSets {
 public:
  struct Config {
    std::uint64_t bytes = 0;  // of all sets
    std::uint64_t seed = 0;   // of the places in a table: no outsider can choose URLs that collide
  };
  explicit SeenSets(const Config& config) : config_(config) {}

  // known: the link changes nothing in the store. fresh: the store has no record of it. ask: only the disk knows.
  enum class Verdict : std::uint8_t { known, fresh, ask };
  // A link as found on a page, of an ordinary visit, without a score.
  struct Link {
    std::uint16_t depth = 0;
    std::uint8_t steps = 0;
    std::uint8_t off_site = 0;
  };
  Verdict judge(const UrlKey& key, const Link& link) const;
  // For any record that is to be merged.
  Verdict judge(const UrlKey& key, const UrlRecord& record) const;
  // The stored record is queued as it was found, in this way, and was never tried.
  bool untried(const UrlKey& key, const Link& way) const;

  // For a host that is being crawled: where in its digests to continue reading; its set is made if there is room.
  // Nothing: the set is complete, or there is no room.
  std::optional<std::uint64_t> wanted_from(const HostKey& host);
  // Adds a row that was read. False: there is no room for it.
  bool load(const UrlKey& key, const UrlRecord& known) { return put(key, known); }
  // All rows whose digests begin with less than `end` were loaded; nothing: all rows.
  void loaded_to(const HostKey& host, std::optional<std::uint64_t> end);
  // The record after a write. Call it only once the write is done.
  void note(const UrlKey& key, const UrlRecord& known) { put(key, known); }
  void close(const HostKey& host);
  void forget(std::uint16_t partition);

  bool covers(const UrlKey& key) const;  // judge() knows without the disk whether there is a record
  bool open(const HostKey& host) const { return sets_.contains(host); }
  // No further set is begun or filled; the existing ones grow into the rest.
  bool full() const { return bytes_ >= max_begin(); }
  // Whether this many hosts find room, judging by the size of the open sets.
  bool room_for(std::size_t hosts) const;

  const Config& config() const { return config_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t entries() const { return entries_; }
  std::uint64_t entries(const HostKey& host) const;
  std::size_t hosts() const { return sets_.size(); }

  // The first 64 bits of a URL's digest, which also give the order of the rows.
  static std::uint64_t fingerprint(const UrlDigest& url);

 private:
  // One table: `capacity` fingerprints (0: free), then the same number of ways.
  struct Piece {
    std::unique_ptr<std::uint64_t[]> slots;
    std::uint32_t capacity = 0;
    std::uint32_t used = 0;
    std::uint16_t* ways() const { return reinterpret_cast<std::uint16_t*>(slots.get() + capacity); }
  };
  struct Set {
    std::vector<Piece> pieces{1};  // one; or up to 256, by the first byte of the fingerprint
    bool split = false;
    bool whole = false;     // has all of the host's URLs,
    std::uint64_t end = 0;  // or those with a smaller fingerprint,
    bool narrowed = false;  // and no more of them: there was no room
  };
  struct HostHash {
    std::size_t operator()(const HostKey& key) const;
  };
  using Sets = std::unordered_map<HostKey, Set, HostHash>;

  std::uint64_t max_begin() const { return config_.bytes - config_.bytes / 8; }
  const Set* find(const HostKey& host) const;
  bool put(const UrlKey& key, const UrlRecord& known);
  std::size_t place(const Piece& piece, std::uint64_t fingerprint) const;
  const std::uint16_t* way_of(const Set& set, std::uint64_t fingerprint) const;
  bool make_room(Set& set, std::uint64_t fingerprint);
  void resize(Piece& piece, std::uint32_t capacity);
  void split(Set& set);
  bool narrow(Set& set);
  void narrow_only_piece(Set& set);
  bool may_be_filled(const Set& set) const;
  void erase(Sets::iterator at);

  Config config_;
  Sets sets_;
  std::uint64_t bytes_ = 0;
  std::uint64_t entries_ = 0;
};

}  // namespace orbweaver::storage
