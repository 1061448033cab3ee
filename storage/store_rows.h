// The bytes of the store's keys and rows (docs/reference/formats.md), shared by store.cc and store_partition.cc.
// Private to storage/. Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/bytes.h"
#include "storage/store.h"

namespace orbweaver::storage {

inline constexpr std::string_view counts_name = "counts";
inline constexpr std::string_view format_name = "format";
inline constexpr std::string_view tally_prefix = "tally/";
inline constexpr std::string_view missed_name = "seen_missed";  // SeenCounts::missed, an IEEE 754 double, big-endian
inline constexpr std::size_t tally_bytes = 48;
inline constexpr std::size_t host_key_bytes = 10;
inline constexpr std::size_t position_bytes = 13;
// The rest of a key of the table of hosts, after the host.
inline constexpr char clock_row = 0;
inline constexpr char robots_row = 1;
inline constexpr char cookies_row = 2;
inline constexpr char use_row = 3;

inline void append(std::string& out, const HostKey& key) {
  put_be(out, key.partition);
  out.append(reinterpret_cast<const char*>(key.host.data()), key.host.size());
}

inline std::string bytes_of(const HostKey& key) {
  std::string out;
  append(out, key);
  return out;
}

inline std::string bytes_of(const UrlKey& key) {
  std::string out;
  append(out, key.host);
  out.append(reinterpret_cast<const char*>(key.url.data()), key.url.size());
  return out;
}

// The key after every key that begins with `prefix`; empty when there is none.
inline std::string after_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<std::uint8_t>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<std::uint8_t>(prefix.back()) + 1);
  return prefix;
}

// A position: 13 bytes that sort as it does, then its URL's digest. The u8 band says what follows. 0: u32 priority, u64
// number of a URL that was never tried. 1: u32 0, u64 not_before (us since the epoch) of one that waits for another
// try.
inline constexpr std::uint8_t untried_band = 0;
inline constexpr std::uint8_t retry_band = 1;

inline std::uint64_t micros(Time time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }
inline Time time_of(std::uint64_t value) { return Time(Duration(static_cast<std::int64_t>(value))); }

inline void append(std::string& out, const Position& position) {
  if (const UntriedPlace* const untried = position.untried()) {
    put_be(out, untried_band);
    put_be(out, untried->priority);
    put_be(out, untried->number);
  } else {
    put_be(out, retry_band);
    put_be(out, std::uint32_t{0});
    put_be(out, micros(position.not_before()));
  }
}

// The caller has checked that there are enough bytes. Nothing: the band is unknown.
inline std::optional<Position> position_at(std::string_view bytes, std::size_t at, const UrlDigest& url) {
  const auto band = get_be<std::uint8_t>(bytes, at);
  if (band == untried_band)
    return Position{UntriedPlace{get_be<std::uint32_t>(bytes, at + 1), get_be<std::uint64_t>(bytes, at + 5)}, url};
  if (band == retry_band) return Position{RetryPlace{time_of(get_be<std::uint64_t>(bytes, at + 5))}, url};
  return std::nullopt;
}

inline std::string frontier_key(const HostKey& host, const Position& position) {
  std::string out;
  append(out, host);
  append(out, position);
  out.append(reinterpret_cast<const char*>(position.url.data()), position.url.size());
  return out;
}

inline HostKey host_key_at(std::string_view bytes) {
  HostKey key;
  key.partition = get_be<std::uint16_t>(bytes, 0);
  std::copy_n(bytes.data() + 2, 8, reinterpret_cast<char*>(key.host.data()));
  return key;
}

inline UrlDigest digest_at(std::string_view bytes, std::size_t at) {
  UrlDigest digest;
  std::copy_n(bytes.data() + at, 16, reinterpret_cast<char*>(digest.data()));
  return digest;
}

inline std::string outbox_key(const OutboxKey& key) {
  std::string out;
  put_be(out, key.partition);
  put_be(out, key.sequence);
  return out;
}

// Neither a number of hops off-site nor a letter.
inline constexpr std::uint8_t score_mark = 16;
inline constexpr std::uint8_t visit_mark = 17;

// queued.depth, steps, attempts, hops off-site (only when there are any: a URL begins with a letter), score_mark and
// score (only when there is one), visit_mark and visit (only from the second), URL
inline std::string frontier_value(const UrlRecord& record) {
  std::string out;
  put_be(out, record.depth);
  put_be(out, record.steps);
  put_be(out, record.attempts);
  if (record.off_site > 0) put_be(out, record.off_site);
  if (record.score > 0) {
    put_be(out, score_mark);
    put_be(out, record.score);
  }
  if (record.visit > 0) {
    put_be(out, visit_mark);
    put_be(out, record.visit);
  }
  out.append(record.url);
  return out;
}

// The part of such a row after the first four bytes.
struct FrontierUrl {
  std::string_view url;
  std::uint8_t off_site = 0;
  std::uint16_t visit = 0;
  std::uint16_t score = 0;
};
inline FrontierUrl frontier_url(std::string_view value) {
  FrontierUrl found{value.substr(4)};
  const auto first = [&] { return found.url.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(found.url.front()); };
  if (first() >= 1 && first() <= max_off_site) {
    found.off_site = first();
    found.url.remove_prefix(1);
  }
  if (first() == score_mark && found.url.size() > 3) {
    found.score = get_be<std::uint16_t>(found.url, 1);
    found.url.remove_prefix(3);
  }
  if (first() == visit_mark && found.url.size() > 3) {
    found.visit = get_be<std::uint16_t>(found.url, 1);
    found.url.remove_prefix(3);
  }
  return found;
}

inline std::string missed_row(double missed) {
  std::string row;
  put_be(row, std::bit_cast<std::uint64_t>(missed));
  return row;
}

inline std::string tally_name(std::uint16_t partition) {
  std::string name(tally_prefix);
  put_be(name, partition);
  return name;
}

// A key that a commit names twice must count once.
template <class Key>
std::vector<Key> each_once(std::vector<Key> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Part of the first byte of a row of the table of URLs.
inline constexpr std::uint8_t fetched_here_mark = 128;

// A row of the urls table: the record, for a queued one without its URL (the frontier's row has it) and with its
// position in the frontier.
//   u8 state, plus 128 when this peer fetched it; then encode_record()'s bytes, and for a queued one 13 bytes of
//   position before the (empty) URL.
struct Store::Stored {
  UrlRecord record;
  Position position;

  static std::string encode(const UrlRecord& record, const Position& position) {
    std::string out;
    if (record.state == UrlState::queued) {
      append(out, position);
      UrlRecord bare = record;
      bare.url.assign(1, '-');
      encode_record(bare, out);
    } else {
      encode_record(record, out);
    }
    const int here = record.fetched_here ? fetched_here_mark : 0;
    out.insert(out.begin(), static_cast<char>(static_cast<int>(record.state) | here));
    return out;
  }
};

}  // namespace orbweaver::storage
