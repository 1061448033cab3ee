// Link traces in memory, for experiments that read them many times: each URL a number, each link four bytes and its
// flags. Thread rule: values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/base.h"
#include "ring/md5.h"
#include "storage/link_trace.h"

namespace orbweaver {

struct StreamPage {
  std::uint32_t url = 0;
  std::uint16_t worker = 0;
  std::uint64_t links_begin = 0;  // in the peer's links, up to that of the next page
  Time at{};
};

// The pages and links that one peer extracted, in its order.
struct PeerStream {
  std::string peer;  // 32 hex digits; "?" when the trace does not give it
  std::map<std::string, std::string> facts;
  std::vector<StreamPage> pages;
  std::vector<std::uint32_t> targets;  // by link
  std::vector<std::uint8_t> flags;     // storage::LinkFlag
};

struct LinkStreams {
  std::vector<ring::Md5> digests;      // by URL
  std::vector<std::uint32_t> host_of;  // by URL
  std::vector<std::string> hosts;
  std::vector<PeerStream> peers;
  std::size_t files = 0;

  std::uint64_t pages() const;
  std::uint64_t links() const;
};

struct StreamLimits {
  std::uint64_t max_links = 0;     // 0: all; up to this many from each peer
  std::uint64_t memory_bytes = 0;  // for the traces; 0: three quarters of the machine's memory
  bool in_scope_only = false;      // leave out links that are out of scope and so did not reach the link cache
};

// Reads the files and directories. Errors name the file and offset; a trace without a link, and one that needs more
// memory than there is, are errors too.
Result<LinkStreams> read_streams(const std::vector<std::string>& paths, const StreamLimits& limits);

// The machine's memory in bytes.
std::uint64_t machine_memory();

}  // namespace orbweaver
