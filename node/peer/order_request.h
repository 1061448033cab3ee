// An operator's order as a command gives it, made complete: with a canonical host, a stamp and a moment. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/coordination/operator_orders.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

struct OrderSource {
  const Canonicaliser& canonicaliser;  // of the ring's settings
  const OperatorOrders& known;
  ring::PeerId peer;  // that was asked
  Time now{};         // by its clock
};

// Verb "order": {"kind": "pause", "block" or "delay", "host": h (pause: "" is the ring), "value": v}. Verbs "recrawl"
// and "retry": what to visit again (RecrawlWalk::read), with "older_than_us". Errors name the field.
Result<OperatorOrder> read_order_request(const std::string& verb, const nlohmann::json& body,
                                         const OrderSource& source);

}  // namespace orbweaver
