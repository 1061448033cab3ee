#include "node/text/content_fingerprint.h"

#include <array>
#include <cstring>

namespace orbweaver {

namespace {

// The finaliser of MurmurHash3 (Appleby, public domain), word by word.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdull;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return value ^ (value >> 33);
}

std::uint64_t add(std::uint64_t hash, std::string_view piece) {
  // Four lanes, so that a multiplication need not wait for the previous one.
  constexpr std::size_t lanes = 4;
  if (piece.size() >= 2 * lanes * sizeof(std::uint64_t)) {
    std::array<std::uint64_t, lanes> lane = {hash, hash + 1, hash + 2, hash + 3};
    for (; piece.size() >= sizeof lane; piece.remove_prefix(sizeof lane)) {
      std::array<std::uint64_t, lanes> words;
      std::memcpy(words.data(), piece.data(), sizeof words);
      for (std::size_t i = 0; i < lanes; ++i) {
        lane[i] = (lane[i] ^ words[i]) * 0x9e3779b97f4a7c15ull;
        lane[i] ^= lane[i] >> 29;
      }
    }
    for (const std::uint64_t one : lane) hash = mix(hash ^ one);
  }
  while (piece.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, piece.data(), sizeof word);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
    piece.remove_prefix(sizeof word);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, piece.data(), piece.size());
  return mix(hash ^ word ^ (std::uint64_t{piece.size()} << 56));
}

constexpr std::size_t cut_bytes_min = 4;

// Whether the text is at this place. Its second byte is compared before the rest:
// there are many places, and few match.
bool stands_at(std::string_view body, std::size_t at, std::string_view text) {
  return at + text.size() <= body.size() && body[at + 1] == text[1] &&
         std::memcmp(body.data() + at, text.data(), text.size()) == 0;
}

}  // namespace

std::uint64_t content_fingerprint(std::string_view body, std::string_view path_and_query, std::string_view host) {
  const bool cut_path = path_and_query.size() >= cut_bytes_min && path_and_query.front() == '/';
  const bool cut_host = host.size() >= cut_bytes_min;
  std::uint64_t hash = 1;
  std::size_t from = 0;  // the start of the part that is not hashed yet
  // Both follow a slash, the path its own: one check at each slash is enough.
  for (std::size_t at = body.find('/'); at != std::string_view::npos; at = body.find('/', at)) {
    std::size_t cut = 0;
    if (cut_path && stands_at(body, at, path_and_query)) {
      cut = path_and_query.size();
    } else if (++at; cut_host && stands_at(body, at, host)) {
      cut = host.size();
    }
    if (cut == 0) continue;
    hash = add(hash, body.substr(from, at - from));
    from = at += cut;
  }
  hash = add(hash, body.substr(from));
  return hash == 0 ? 1 : hash;
}

}  // namespace orbweaver
