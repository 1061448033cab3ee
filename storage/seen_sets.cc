#include "storage/seen_sets.h"

#include <algorithm>
#include <cstring>

namespace orbweaver::storage {

namespace {

// For a set in one piece: resizing it takes about 0.1 ms.
constexpr std::uint32_t max_slots_whole = 16'384;
constexpr std::uint32_t slots_min = 8;
constexpr std::size_t max_pieces = 256;
constexpr std::uint64_t slot_bytes = 10;
// The set itself and its entry in the map of hosts.
constexpr std::uint64_t set_bytes = 160;
constexpr std::uint64_t piece_bytes = 16 + 16;   // plus the allocator's overhead
constexpr std::uint64_t split_bytes = 64 << 10;  // at most, what a set in pieces takes beyond its size in one piece

// 16 bits: 2 for the URL's kind, 2 hops off-site, 3 steps, 9 depth. The largest number of a field means "this or more",
// so it cannot be compared with a link's.
enum class Kind : std::uint16_t {
  other = 0,    // a link may change it: it is excluded for now
  settled = 1,  // no link changes it: it has ended, or is on a later visit
  queued = 2,   // a shorter way changes it
  untried = 3,  // likewise, and it is as it was found
};
constexpr std::uint16_t max_depth = 511, max_steps = 7, off_site_cap = 3;

bool is_queued(Kind kind) { return kind == Kind::queued || kind == Kind::untried; }

bool as_found(const UrlRecord& record) {
  return record.attempts == 0 && record.status == 0 && record.reason == Reason::none && record.since == Time{} &&
         record.score == 0 && record.lastmod == Time{} && record.validator.empty() && record.not_before == Time{} &&
         record.sitemap_visit == 0 && !record.fetched_here;
}

std::uint16_t way_of_record(const UrlRecord& known) {
  const bool for_now =
      known.state == UrlState::excluded && (known.reason == Reason::depth || known.reason == Reason::trap);
  Kind kind = Kind::settled;
  if (known.visit == 0 && for_now) kind = Kind::other;
  if (known.visit == 0 && known.state == UrlState::queued) kind = as_found(known) ? Kind::untried : Kind::queued;
  return static_cast<std::uint16_t>(
      static_cast<std::uint16_t>(kind) << 14 | std::min<std::uint16_t>(known.off_site, off_site_cap) << 12 |
      std::min<std::uint16_t>(known.steps, max_steps) << 9 | std::min(known.depth, max_depth));
}

Kind kind_of(std::uint16_t way) { return static_cast<Kind>(way >> 14); }

// The field is the exact number, and a link with `link` there is no better.
bool no_better(std::uint16_t field, std::uint16_t max_field, std::uint16_t link) {
  return field < max_field && field <= link;
}

bool settles(std::uint16_t way, const SeenSets::Link& link) {
  if (kind_of(way) == Kind::settled) return true;
  return is_queued(kind_of(way)) && no_better(way & 511, max_depth, link.depth) &&
         no_better(way >> 9 & 7, max_steps, link.steps) && no_better(way >> 12 & 3, off_site_cap, link.off_site);
}

std::uint64_t bytes_of_piece(std::uint32_t capacity) { return piece_bytes + capacity * slot_bytes; }

std::uint32_t larger(std::uint32_t capacity) { return std::max(slots_min, (capacity + capacity / 2 + 4) / 4 * 4); }

}  // namespace

std::uint64_t SeenSets::fingerprint(const UrlDigest& url) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | url[i];
  return std::max<std::uint64_t>(value, 1);
}

std::size_t SeenSets::HostHash::operator()(const HostKey& key) const {
  std::uint64_t value = 0;
  std::memcpy(&value, key.host.data(), sizeof value);
  return static_cast<std::size_t>(value ^ std::uint64_t{key.partition} * 0x9e3779b97f4a7c15ull);
}

const SeenSets::Set* SeenSets::find(const HostKey& host) const {
  const auto found = sets_.find(host);
  return found == sets_.end() ? nullptr : &found->second;
}

std::size_t SeenSets::place(const Piece& piece, std::uint64_t fingerprint) const {
  const std::uint64_t mixed = (fingerprint ^ config_.seed) * 0x9e3779b97f4a7c15ull;
  std::size_t at = static_cast<std::size_t>((mixed >> 32) * piece.capacity >> 32);
  while (piece.slots[at] != 0 && piece.slots[at] != fingerprint)
    if (++at == piece.capacity) at = 0;
  return at;
}

// Null: the URL is not in the set.
const std::uint16_t* SeenSets::way_of(const Set& set, std::uint64_t fingerprint) const {
  const std::size_t number = set.split ? fingerprint >> 56 : 0;
  if (number >= set.pieces.size() || set.pieces[number].used == 0) return nullptr;
  const Piece& piece = set.pieces[number];
  const std::size_t at = place(piece, fingerprint);
  return piece.slots[at] == 0 ? nullptr : piece.ways() + at;
}

bool SeenSets::covers(const UrlKey& key) const {
  const Set* const set = find(key.host);
  return set != nullptr && (set->whole || fingerprint(key.url) < set->end);
}

std::uint64_t SeenSets::entries(const HostKey& host) const {
  const Set* const set = find(host);
  std::uint64_t sum = 0;
  if (set != nullptr)
    for (const Piece& piece : set->pieces) sum += piece.used;
  return sum;
}

SeenSets::Verdict SeenSets::judge(const UrlKey& key, const Link& link) const {
  const Set* const set = find(key.host);
  if (set == nullptr) return Verdict::ask;
  const std::uint64_t at = fingerprint(key.url);
  if (const std::uint16_t* const way = way_of(*set, at)) return settles(*way, link) ? Verdict::known : Verdict::ask;
  return set->whole || at < set->end ? Verdict::fresh : Verdict::ask;
}

// Follows the order of storage/record.h.
SeenSets::Verdict SeenSets::judge(const UrlKey& key, const UrlRecord& record) const {
  const Set* const set = find(key.host);
  if (set == nullptr) return Verdict::ask;
  const std::uint64_t at = fingerprint(key.url);
  const std::uint16_t* const way = way_of(*set, at);
  if (way == nullptr) return set->whole || at < set->end ? Verdict::fresh : Verdict::ask;
  if (record.visit > 0) return Verdict::ask;
  if (record.state == UrlState::excluded && (record.reason == Reason::depth || record.reason == Reason::trap))
    return kind_of(*way) == Kind::other ? Verdict::ask : Verdict::known;
  if (record.state != UrlState::queued) return Verdict::ask;
  if (kind_of(*way) == Kind::settled) return Verdict::known;
  if (!as_found(record)) return Verdict::ask;
  return settles(*way, {record.depth, record.steps, record.off_site}) ? Verdict::known : Verdict::ask;
}

bool SeenSets::untried(const UrlKey& key, const Link& way) const {
  const Set* const set = find(key.host);
  const std::uint16_t* const known = set == nullptr ? nullptr : way_of(*set, fingerprint(key.url));
  const bool exact = way.depth < max_depth && way.steps < max_steps && way.off_site < off_site_cap;
  return known != nullptr && exact && kind_of(*known) == Kind::untried && (*known & 511) == way.depth &&
         (*known >> 9 & 7) == way.steps && (*known >> 12 & 3) == way.off_site;
}

// One that was narrowed may once there is room for the table that it lacked: else rows would be read for nothing.
bool SeenSets::may_be_filled(const Set& set) const {
  if (set.whole || full()) return false;
  if (!set.narrowed) return true;
  if (set.split) return false;
  const std::uint32_t capacity = set.pieces.front().capacity;
  const std::uint64_t more = capacity >= max_slots_whole
                                 ? split_bytes
                                 : bytes_of_piece(larger(capacity)) - (capacity == 0 ? 0 : bytes_of_piece(capacity));
  return bytes_ + more <= max_begin();
}

std::optional<std::uint64_t> SeenSets::wanted_from(const HostKey& host) {
  if (const auto found = sets_.find(host); found != sets_.end()) {
    Set& set = found->second;
    if (!may_be_filled(set)) return std::nullopt;
    set.narrowed = false;
    return set.end;
  }
  if (full() || bytes_ + set_bytes + bytes_of_piece(slots_min) > config_.bytes) return std::nullopt;
  sets_.try_emplace(host);
  bytes_ += set_bytes;
  return 0;
}

void SeenSets::loaded_to(const HostKey& host, std::optional<std::uint64_t> end) {
  const auto found = sets_.find(host);
  if (found == sets_.end()) return;
  Set& set = found->second;
  if (set.narrowed) return;  // meanwhile: it lacks some of the rows
  set.whole = !end;
  set.end = end.value_or(UINT64_MAX);
}

bool SeenSets::put(const UrlKey& key, const UrlRecord& known) {
  const auto found = sets_.find(key.host);
  if (found == sets_.end()) return false;
  Set& set = found->second;
  const std::uint64_t at = fingerprint(key.url);
  const std::uint16_t way = way_of_record(known);
  if (const std::uint16_t* const old = way_of(set, at)) {
    *const_cast<std::uint16_t*>(old) = way;
    return true;
  }
  if (!make_room(set, at)) return false;
  Piece& piece = set.pieces[set.split ? at >> 56 : 0];
  const std::size_t slot = place(piece, at);
  piece.slots[slot] = at;
  piece.ways()[slot] = way;
  ++piece.used;
  ++entries_;
  return true;
}

// Makes room for one more. False: there is none. Then the set covers less of its host, without the fingerprint.
bool SeenSets::make_room(Set& set, std::uint64_t fingerprint) {
  for (;;) {
    if (set.narrowed && fingerprint >= set.end) return false;
    const std::size_t number = set.split ? fingerprint >> 56 : 0;
    if (number >= set.pieces.size()) return false;
    Piece& piece = set.pieces[number];
    if (piece.capacity > 0 && piece.used < std::uint64_t{piece.capacity} * 4 / 5) return true;
    if (!set.split && piece.capacity >= max_slots_whole) {
      if (bytes_ + split_bytes > config_.bytes) {
        if (!narrow(set)) return false;
        continue;
      }
      split(set);
      continue;
    }
    const std::uint32_t capacity = larger(piece.capacity);
    const std::uint64_t before = piece.capacity == 0 ? 0 : bytes_of_piece(piece.capacity);
    if (bytes_ - before + bytes_of_piece(capacity) <= config_.bytes) {
      resize(piece, capacity);
      return true;
    }
    if (!narrow(set)) return false;
  }
}

void SeenSets::resize(Piece& piece, std::uint32_t capacity) {
  Piece larger;
  larger.capacity = capacity;
  larger.used = piece.used;
  larger.slots = std::make_unique<std::uint64_t[]>(capacity + (capacity + 3) / 4);
  for (std::uint32_t i = 0; i < piece.capacity; ++i) {
    if (piece.slots[i] == 0) continue;
    const std::size_t at = place(larger, piece.slots[i]);
    larger.slots[at] = piece.slots[i];
    larger.ways()[at] = piece.ways()[i];
  }
  if (piece.capacity > 0) bytes_ -= bytes_of_piece(piece.capacity);
  bytes_ += bytes_of_piece(capacity);
  piece = std::move(larger);
}

// Splits by the first byte, so that each piece grows alone. The piece that is split provides the memory.
void SeenSets::split(Set& set) {
  const Piece whole = std::move(set.pieces.front());
  bytes_ -= bytes_of_piece(whole.capacity);
  set.pieces.clear();
  set.pieces.resize(max_pieces);
  set.split = true;
  std::vector<std::uint32_t> counts(max_pieces, 0);
  for (std::uint32_t i = 0; i < whole.capacity; ++i)
    if (whole.slots[i] != 0) ++counts[whole.slots[i] >> 56];
  for (std::size_t i = 0; i < max_pieces; ++i)
    resize(set.pieces[i], std::max(slots_min, (counts[i] + counts[i] / 4 + 8) / 4 * 4));
  for (std::uint32_t i = 0; i < whole.capacity; ++i) {
    if (whole.slots[i] == 0) continue;
    Piece& piece = set.pieces[whole.slots[i] >> 56];
    const std::size_t at = place(piece, whole.slots[i]);
    piece.slots[at] = whole.slots[i];
    piece.ways()[at] = whole.ways()[i];
    ++piece.used;
  }
}

// Gives up the last piece, or a part of the only one. False: nothing is left.
bool SeenSets::narrow(Set& set) {
  set.narrowed = true;
  if (!set.split) {
    narrow_only_piece(set);
    return set.end > 0;
  }
  if (set.pieces.size() <= 1) {
    set.whole = false;
    set.end = 0;
    return false;
  }
  Piece& last = set.pieces.back();
  entries_ -= last.used;
  if (last.capacity > 0) bytes_ -= bytes_of_piece(last.capacity);
  set.pieces.pop_back();
  set.whole = false;
  const std::uint64_t bound = std::uint64_t{set.pieces.size()} << 56;
  set.end = std::min(set.end, bound);
  return true;
}

// Keeps the first seven eighths of its range.
void SeenSets::narrow_only_piece(Set& set) {
  const std::uint64_t range = set.whole ? UINT64_MAX : set.end;
  set.whole = false;
  Piece& piece = set.pieces.front();
  set.end = piece.capacity == 0 ? 0 : range / 8 * 7;
  Piece kept;
  if (set.end > 0) {
    kept.capacity = piece.capacity;
    kept.slots = std::make_unique<std::uint64_t[]>(piece.capacity + (piece.capacity + 3) / 4);
    for (std::uint32_t i = 0; i < piece.capacity; ++i) {
      if (piece.slots[i] == 0 || piece.slots[i] >= set.end) continue;
      const std::size_t at = place(kept, piece.slots[i]);
      kept.slots[at] = piece.slots[i];
      kept.ways()[at] = piece.ways()[i];
      ++kept.used;
    }
  } else if (piece.capacity > 0) {
    bytes_ -= bytes_of_piece(piece.capacity);
  }
  entries_ -= piece.used - kept.used;
  piece = std::move(kept);
}

void SeenSets::erase(Sets::iterator at) {
  for (const Piece& piece : at->second.pieces) {
    entries_ -= piece.used;
    if (piece.capacity > 0) bytes_ -= bytes_of_piece(piece.capacity);
  }
  bytes_ -= set_bytes;
  sets_.erase(at);
}

void SeenSets::close(const HostKey& host) {
  if (const auto found = sets_.find(host); found != sets_.end()) erase(found);
}

void SeenSets::forget(std::uint16_t partition) {
  for (auto at = sets_.begin(); at != sets_.end();) {
    const auto next = std::next(at);
    if (at->first.partition == partition) erase(at);
    at = next;
  }
}

bool SeenSets::room_for(std::size_t hosts) const {
  return sets_.empty() ? !full() : bytes_ / sets_.size() * hosts < max_begin();
}

}  // namespace orbweaver::storage
