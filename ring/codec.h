// Messages to bytes and back: msgpack, and the only place that knows it.
// decode() reads outside input: every length is checked against the limits of messages.h before anything is allocated
// for it, every text is UTF-8, every member's address HOST:PORT. A bad message gives an error, never a crash. The error
// says what was wrong and, if it could be read, which peer sent it. The receivers (Membership and Tenures) judge
// whether a number is near enough to the known one (messages.h). Unknown trailing array elements are skipped (they are
// a later version's).
// encode() does not check the limits: the code that fills a message keeps to them. Cost: a batch of 1,000 records of 90
// bytes takes about 0.2 ms, both ways together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ring/messages.h"

namespace orbweaver::ring {

std::string encode(const Message& message);
Result<Message> decode(std::string_view bytes);

// The members of an encoded Sync as it was stored, one by one. A member that cannot be read, or is beyond max_members,
// goes into `dropped`, with the reason. An error: the bytes are not an encoded Sync at all.
Result<std::vector<Member>> decode_stored_members(std::string_view bytes, std::vector<std::string>& dropped);

// The memory that a decoded message takes, in bytes: its own size, and its lists and texts.
std::size_t memory_bytes(const Message& message);

}  // namespace orbweaver::ring
