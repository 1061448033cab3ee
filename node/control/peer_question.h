// One question to one peer, at its port for the ring, and its answer. Thread rule: any thread; each call has its own
// connection.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

struct PeerQuestion {
  std::string verb;
  nlohmann::json body = nlohmann::json::object();
  bool for_ring = false;  // the peer asks all members, and answers for them
  Duration timeout = std::chrono::seconds{5};
};

// `secret`: of the ring key; empty: the ring has none. {"error": …} in the answer is returned as an error
// (invalid_input). Errors: unreachable when no answer came, io when it cannot be read.
Result<nlohmann::json> ask_at(const std::string& address, const std::string& secret, const PeerQuestion& question);

// What a peer answered, as a value of at most `max_values` parts. Errors: as above.
Result<nlohmann::json> read_answer(std::string_view text, const std::string& who, std::size_t max_values);
// {"error": …} as an error, without building the rest.
Result<void> refusal_of(std::string_view text);

// Gives an order to the ring until all peers that answer have taken it: a peer that knows of a later order tells the
// others of it, and the next order is later still. `ask`: gives it once, to the whole ring. Errors: as `ask`; a peer's
// refusal; unreachable when it has not been taken after a few tries. Blocks for some seconds at most.
Result<nlohmann::json> order_until_taken(const std::function<Result<nlohmann::json>()>& ask);

}  // namespace orbweaver
