// Messages to bytes and back: msgpack, and the only place that knows it.
// decode() reads outside input: every length is checked against the limits of messages.h before anything is allocated
// for it, every text is UTF-8, every member's address HOST:PORT, and a bad message is an error that says what was wrong
// and, as far as it could be read, who sent it; never a crash. Whether a number is near enough to what is known
// (messages.h) its receivers judge: Membership and Tenures. Unknown trailing array elements are skipped (a later
// version's).
// encode() does not check the limits: who fills a message keeps to them. Cost: a batch of 1,000 records of 90 bytes
// takes about 0.2 ms, both ways together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ring/messages.h"

namespace orbweaver::ring {

std::string encode(const Message& message);
Result<Message> decode(std::string_view bytes);

// The members of an encoded Sync as it was stored, one by one: one that cannot be read, or is beyond members_max, goes
// into `dropped`, with why. An error: it is not an encoded Sync at all.
Result<std::vector<Member>> decode_stored_members(std::string_view bytes, std::vector<std::string>& dropped);

// What a decoded message holds of memory, in bytes: its own size, and what its lists and texts take.
std::size_t memory_bytes(const Message& message);

}  // namespace orbweaver::ring
