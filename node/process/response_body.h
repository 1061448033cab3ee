// The body of a response without its codings, within bounds: unpacked bytes are charged to a lease (decode_room.h).
// Thread rule: pure apart from the lease, which has one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "node/fetch/fetcher.h"
#include "node/http/http_message.h"
#include "node/memory/decode_room.h"

namespace orbweaver {

// Runs `decode` within `max_bytes` or half of what is left in the lease, whichever is less, and charges the lease. The
// other half is for what is made from the output. Output that does not fit in a small part outgrows it. `cut`: set when
// something is left out.
template <class Decode>
std::string unpacked(DecodeLease& lease, std::uint64_t max_bytes, bool& cut, const Decode& decode) {
  const std::uint64_t limit = std::min(max_bytes, lease.left() / 2);
  Decoded decoded = decode(static_cast<std::size_t>(limit));
  if (decoded.cut && limit < max_bytes) lease.outgrow();
  cut = cut || decoded.cut;
  lease.take(decoded.bytes.capacity());
  return std::move(decoded.bytes);
}

// The body without its transfer codings (RFC 9112, 6.1: applied in the order of the list, so undone from its end).
// `buffer` stores the bytes. `cut`: set when something is left out.
std::string_view without_transfer_codings(const FetchResponse& response, std::size_t max_bytes, DecodeLease& lease,
                                          bool& cut, std::string& buffer);

// The response's content codings, as one list; empty: none.
std::string content_codings(const FetchResponse& response);

}  // namespace orbweaver
