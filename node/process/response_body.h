// The body of a response without its codings, within bounds: what is unpacked is charged to a lease (decode_room.h).
// Thread rule: pure but for the lease, which has one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "node/fetch/fetcher.h"
#include "node/http/content_decoder.h"
#include "node/memory/decode_room.h"

namespace orbweaver {

// What `decode` makes within this many bytes, charged to the lease: as many as the setting says, or half of what is
// left there, so that the other half is for what comes of it. What does not fit in the small part is unpacked again in
// the large one. `cut`: set when something is left out.
template <class Decode>
std::string unpacked(DecodeLease& lease, std::uint64_t bytes_max, bool& cut, const Decode& decode) {
  const auto limit = [&] { return static_cast<std::size_t>(std::min(bytes_max, lease.left() / 2)); };
  Decoded decoded = decode(limit());
  if (decoded.cut && !lease.large() && limit() < bytes_max) {
    decoded = Decoded();
    lease.grow();
    decoded = decode(limit());
  }
  cut = cut || decoded.cut;
  lease.take(decoded.bytes.capacity());
  return std::move(decoded.bytes);
}

// The body without its transfer codings (RFC 9112, 6.1: applied in the order of the list, so undone from its end).
// `held` keeps the bytes. `cut`: set when something is left out.
std::string_view without_transfer_codings(const FetchResponse& response, std::size_t bytes_max, DecodeLease& lease,
                                          bool& cut, std::string& held);

// The response's content codings, as one list; empty: none.
std::string content_codings(const FetchResponse& response);

}  // namespace orbweaver
