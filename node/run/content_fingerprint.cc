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

constexpr std::size_t cut_bytes_min = 4;

// The next place in the body where something is cut out.
struct Cut {
  std::string_view text;
  std::size_t at = 0;

  void look(std::string_view body, std::size_t from) {
    if (at != std::string_view::npos && (at < from || from == 0))
      at = text.size() < cut_bytes_min ? std::string_view::npos : body.find(text, from);
  }
};

}  // namespace

std::uint64_t content_fingerprint(std::string_view body, std::string_view path_and_query, std::string_view host) {
  std::uint64_t hash = 1;
  Cut path{path_and_query}, name{host};
  std::size_t from = 0;
  while (true) {
    path.look(body, from);
    name.look(body, from);
    const Cut& next = path.at <= name.at ? path : name;
    if (next.at == std::string_view::npos) break;
    hash = add(hash, body.substr(from, next.at - from));
    from = next.at + next.text.size();
  }
  hash = add(hash, body.substr(from));
  return hash == 0 ? 1 : hash;
}

}  // namespace orbweaver
