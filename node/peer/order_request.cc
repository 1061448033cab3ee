#include "node/peer/order_request.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "node/crawl/outside_json.h"
#include "node/links/recrawl_walk.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Clocks of peers are not further ahead.
constexpr std::chrono::hours clocks_ahead{24 * 3650};

Result<OperatorOrder> visit(const json& body, const OrderSource& source) {
  const auto age = number_field(body, "older_than_us", 0, 0, source.now.time_since_epoch().count());
  if (!age) return tl::make_unexpected(age.error());
  // What a block excluded is lifted whole: also what peers whose clocks are ahead have excluded.
  const bool lifts = text_field(body, "reason").value_or("") == storage::reason_name(storage::Reason::operator_block);
  const auto wanted = RecrawlWalk::read(body, lifts ? source.now + clocks_ahead : source.now - Duration(*age));
  if (!wanted) return tl::make_unexpected(wanted.error());
  return RecrawlWalk::order_of(*wanted, source.known, source.peer, source.now);
}

// Empty: none is.
std::string wrong_value(const std::string& kind, const std::string& value) {
  if (value.empty()) return {};
  if (kind != "delay") return value == "yes" ? "" : "the value of a " + kind + " is yes, or empty";
  const std::optional<Duration> delay = read_ordered_delay(value);
  if (!delay || *delay > max_ordered_delay) return "a delay has 0 to 24 hours";
  return {};
}

// "*." stays before it.
Result<std::string> canonical_host(const std::string& given, const Canonicaliser& canonicaliser) {
  const std::string below = given.starts_with("*.") ? "*." : "";
  const std::string text = given.substr(below.size());
  const bool plain = text.starts_with('[') ? text.ends_with(']') : text.find_first_of(":/?#@ \\*") == std::string::npos;
  const Result<CanonicalUrl> url = canonicaliser.parse("http://" + text + "/");
  if (!url || !plain || url->path_and_query() != "/")
    return fail(ErrorCode::invalid_input, "'" + given.substr(0, 255) + "' is not the name of a host");
  return below + std::string(url->host());
}

}  // namespace

Result<OperatorOrder> read_order_request(const std::string& verb, const json& body, const OrderSource& source) {
  if (verb != "order") return visit(body, source);
  const auto kind = text_field(body, "kind");
  const auto host = text_field(body, "host");
  const auto value = text_field(body, "value");
  for (const auto* field : {&kind, &host, &value})
    if (!*field) return tl::make_unexpected(field->error());
  if (*kind != "pause" && *kind != "block" && *kind != "delay")
    return fail(ErrorCode::invalid_input, "there is no order '" + kind->substr(0, 32) + "'");
  if (host->empty() && *kind != "pause") return fail(ErrorCode::invalid_input, "the order needs a host");
  if (const std::string wrong = wrong_value(*kind, *value); !wrong.empty())
    return fail(ErrorCode::invalid_input, wrong);
  OperatorOrder order{*kind, *value, source.known.next_number(), source.peer, source.now};
  if (host->empty()) return order;
  const Result<std::string> name = canonical_host(*host, source.canonicaliser);
  if (!name) return tl::make_unexpected(name.error());
  order.name += " " + *name;
  return order;
}

}  // namespace orbweaver
