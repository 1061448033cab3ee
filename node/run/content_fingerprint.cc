#include "node/run/content_fingerprint.h"

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

constexpr std::size_t path_bytes_min = 4;

}  // namespace

std::uint64_t content_fingerprint(std::string_view body, std::string_view path_and_query) {
  std::uint64_t hash = 1;
  if (path_and_query.size() >= path_bytes_min) {
    for (std::size_t at = body.find(path_and_query); at != std::string_view::npos; at = body.find(path_and_query)) {
      hash = add(hash, body.substr(0, at));
      body.remove_prefix(at + path_and_query.size());
    }
  }
  hash = add(hash, body);
  return hash == 0 ? 1 : hash;
}

}  // namespace orbweaver
