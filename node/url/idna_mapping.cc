#include "node/url/idna_mapping.h"

#include <cstddef>
#include <cstdint>

namespace orbweaver {

namespace {

constexpr std::uint32_t ignored = 0xffffffff;

struct Mapping {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t to;  // the mapping of `first`; later ones follow in order; or `ignored`
};

// UTS #46, "Modifications", revisions 31 to 33; in order of `first`.
constexpr Mapping mappings[] = {
    {0x04c0, 0x04c0, 0x04cf},     // PALOCHKA
    {0x10a0, 0x10c5, 0x2d00},     // Georgian capitals
    {0x115f, 0x1160, ignored},    // Hangul fillers
    {0x17b4, 0x17b5, ignored},    // Khmer inherent vowels
    {0x180e, 0x180e, ignored},    // Mongolian vowel separator
    {0x1e9e, 0x1e9e, 0x00df},     // capital sharp s
    {0x2061, 0x2063, ignored},    // invisible operators
    {0x206a, 0x206f, ignored},    // deprecated format characters
    {0x2132, 0x2132, 0x214e},     // turned capital F
    {0x2183, 0x2183, 0x2184},     // reversed C
    {0x3164, 0x3164, ignored},    // Hangul filler
    {0xffa0, 0xffa0, ignored},    // half-width Hangul filler
    {0x1d173, 0x1d17a, ignored},  // musical format characters
    {0x2f868, 0x2f868, 0x36fc},   // CJK compatibility ideographs whose decomposition was corrected
    {0x2f874, 0x2f874, 0x5f53},  {0x2f91f, 0x2f91f, 0x243ab}, {0x2f95f, 0x2f95f, 0x7aee}, {0x2f9bf, 0x2f9bf, 0x45d7},
};

const Mapping* find_mapping(std::uint32_t character) {
  for (const Mapping& mapping : mappings) {
    if (character < mapping.first) return nullptr;
    if (character <= mapping.last) return &mapping;
  }
  return nullptr;
}

// The first character of well-formed, non-empty UTF-8.
struct Decoded {
  std::uint32_t character;
  std::size_t bytes;
};

Decoded decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  std::uint32_t character = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes && i < text.size(); ++i) {
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  return {character, bytes};
}

// All targets of the table are at U+0080 or above.
void append_utf8(std::string& out, std::uint32_t character) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | (character >> shift & 0x3f))); };
  if (character < 0x800) {
    out.push_back(static_cast<char>(0xc0 | character >> 6));
  } else if (character < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | character >> 12));
    tail(6);
  } else {
    out.push_back(static_cast<char>(0xf0 | character >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

}  // namespace

std::string apply_newer_idna_mappings(std::string_view domain) {
  std::string out;
  out.reserve(domain.size());
  while (!domain.empty()) {
    const Decoded next = decode(domain);
    const Mapping* const mapping = find_mapping(next.character);
    if (mapping == nullptr) {
      out.append(domain.substr(0, next.bytes));
    } else if (mapping->to != ignored) {
      append_utf8(out, mapping->to + (next.character - mapping->first));
    }
    domain.remove_prefix(next.bytes < domain.size() ? next.bytes : domain.size());
  }
  return out;
}

}  // namespace orbweaver
