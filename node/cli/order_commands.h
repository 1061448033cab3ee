// orbweaver pause, resume, block, unblock, delay, orders: what an operator tells the whole ring, running or stopped.
// And how each command gives its order, also recrawl and retry.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/cli/ask.h"
#include "node/crawl/host_orders.h"

namespace orbweaver {

// An order (node/peer/order_request.h) for the whole ring: the ring's answer, or {"peers_stopped": n} when it does not
// run. Errors: of the peers; unreachable while they keep telling each other of later orders.
Result<nlohmann::json> give_order(const PeerTarget& target, const std::string& verb, const nlohmann::json& body);
// What operators have ordered of hosts, as a peer that runs or the stopped ones' directories know it.
Result<HostOrders> host_orders(const PeerTarget& target);
// "3 peers know it", of its answer.
std::string known_words(const nlohmann::json& answer);
// Says what was ordered, how many know it, and who does not yet; or the answer as JSON. Returns the exit code.
int tell_order(const Result<nlohmann::json>& answer, const std::string& done, bool as_json);

// Each command sets `code` when it ran.
void add_order_commands(CLI::App& app, int& code);

}  // namespace orbweaver
