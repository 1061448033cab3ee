// A page's links as a crawl records them, the entries of a
// link trace (link_trace.h). Pure. Thread rule: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/types.h"

namespace orbweaver::storage {

inline constexpr std::uint8_t link_trace_version = 1;
inline constexpr std::string_view link_trace_ending = ".links";
inline constexpr std::size_t trace_block_bytes = 256 * 1024;   // unpacked; a block ends with the link that reaches it
inline constexpr std::size_t max_trace_url_bytes = 64 * 1024;  // longer ones are refused, in files too
inline constexpr std::uint64_t trace_bytes_least = 4u << 20;   // minimum of max_bytes: eight files, each with a block

// Bits of a link's flags, append-only.
enum class LinkFlag : std::uint8_t {
  foreign = 1,    // another peer owned the target's partition when it was found: the cross-peer stream
  in_scope = 2,   // it passed on to the link cache
  redirect = 4,   // the target of a redirect: one link, and the page's only one
  requisite = 8,  // a sub-resource, under page_requisites
};
constexpr std::uint8_t operator|(LinkFlag a, LinkFlag b) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

struct TraceLink {
  std::string url;
  std::uint8_t flags = 0;
  bool has(LinkFlag flag) const { return (flags & static_cast<std::uint8_t>(flag)) != 0; }
  bool operator==(const TraceLink&) const = default;
};

struct TracePage {
  std::string url;
  Time at{};                     // when its links were taken in
  std::uint16_t depth = 0;       // links from a seed
  std::uint16_t worker = 0;      // the fetch worker that read it, from 0
  std::vector<TraceLink> links;  // each target once per page
  bool operator==(const TracePage&) const = default;
};

}  // namespace orbweaver::storage
