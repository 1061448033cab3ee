#include "node/coordination/operator_orders.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "node/crawl/outside_json.h"
#include "ring/md5.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using Kind = OperatorOrder::Kind;

std::size_t bytes_of(const OperatorOrder& order) { return order.name.size() + order.value.size(); }

// Rows that say that there is no order go first, then those with the least stamp.
bool goes_before(const OperatorOrder& a, const OperatorOrder& b) {
  const bool a_counts = !a.value.empty();
  const bool b_counts = !b.value.empty();
  return a_counts != b_counts ? b_counts : a.stamp() < b.stamp();
}

}  // namespace

std::optional<Duration> read_ordered_delay(std::string_view value) {
  std::int64_t micros = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, micros);
  if (error != std::errc() || at != end || micros < 0) return std::nullopt;
  return Duration(micros);
}

Kind OperatorOrder::kind() const {
  const std::string_view word = std::string_view(name).substr(0, name.find(' '));
  if (word == "pause") return Kind::pause;
  if (word == "visit") return Kind::visit;
  if (host().empty()) return Kind::unknown;
  if (word == "block") return Kind::block;
  return word == "delay" ? Kind::delay : Kind::unknown;
}

std::string OperatorOrder::host() const {
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? std::string() : name.substr(space + 1);
}

Result<OperatorOrder> OperatorOrders::read(std::string_view text) {
  const Result<json> given = parse_outside_json(text);
  if (!given) return tl::make_unexpected(given.error());
  const auto name = text_field(*given, "name");
  const auto value = text_field(*given, "value");
  const auto number = number_field(*given, "number", 0, 1, static_cast<std::int64_t>(max_number));
  const auto peer = text_field(*given, "peer");
  const auto moment = number_field(*given, "given_us", 0, 0);
  if (!name) return tl::make_unexpected(name.error());
  if (!value) return tl::make_unexpected(value.error());
  if (!number) return tl::make_unexpected(number.error());
  if (!peer) return tl::make_unexpected(peer.error());
  if (!moment) return tl::make_unexpected(moment.error());
  const auto id = ring::PeerId::from_hex(*peer);
  if (!id) return fail(ErrorCode::invalid_input, "an order's peer is no identity: '" + *peer + "'");
  if (name->empty() || name->size() > max_name_bytes || value->size() > max_value_bytes)
    return fail(ErrorCode::invalid_input, "an order's name has 1 to " + std::to_string(max_name_bytes) +
                                              " bytes, and its value up to " + std::to_string(max_value_bytes));
  return OperatorOrder{*name, *value, static_cast<std::uint64_t>(*number), *id, Time(Duration(*moment))};
}

std::string OperatorOrders::text_of(const OperatorOrder& order) {
  return json_text({{"name", order.name},
                    {"value", order.value},
                    {"number", order.number},
                    {"peer", order.peer.hex()},
                    {"given_us", order.given.time_since_epoch().count()}});
}

std::vector<std::string> OperatorOrders::restore(const std::string& row) {
  std::vector<std::string> left_out;
  std::istringstream lines(row);
  for (std::string line; std::getline(lines, line);) {
    if (Result<OperatorOrder> order = read(line)) {
      take(std::move(*order));
    } else {
      left_out.push_back(order.error().message);
    }
  }
  settle();
  return left_out;
}

bool OperatorOrders::take(OperatorOrder order) {
  const auto [at, added] = orders_.try_emplace(order.name);
  if (!added && at->second.stamp() >= order.stamp()) return false;
  if (!added) bytes_ -= bytes_of(at->second);
  bytes_ += bytes_of(order);
  at->second = std::move(order);
  return true;
}

bool OperatorOrders::has_room_for(const OperatorOrder& order) const {
  if (holding_ < max_orders || order.value.empty() || order.kind() == Kind::visit) return true;
  const auto known = orders_.find(order.name);
  return known != orders_.end() && !known->second.value.empty();
}

std::uint64_t OperatorOrders::next_number() const {
  std::uint64_t greatest = 0;
  for (const auto& [name, order] : orders_) greatest = std::max(greatest, order.number);
  return std::min(greatest + 1, max_number);
}

std::vector<std::string> OperatorOrders::texts() const {
  std::vector<std::string> texts;
  for (const auto& [name, order] : orders_) texts.push_back(text_of(order));
  return texts;
}

std::string OperatorOrders::row() const {
  std::string lines;
  for (const auto& [name, order] : orders_) lines += text_of(order) + "\n";
  return lines;
}

void OperatorOrders::trim() {
  using Row = std::map<std::string, OperatorOrder>::iterator;
  std::vector<Row> rows;
  std::size_t visits = 0;
  for (auto at = orders_.begin(); at != orders_.end(); ++at) {
    rows.push_back(at);
    visits += at->second.kind() == Kind::visit ? 1 : 0;
  }
  std::size_t left = rows.size();
  if (visits <= max_visits && left <= max_rows && bytes_ <= max_bytes) return;
  std::sort(rows.begin(), rows.end(), [](Row a, Row b) { return goes_before(a->second, b->second); });
  const auto drop = [&](Row& row) {
    visits -= row->second.kind() == Kind::visit ? 1 : 0;
    bytes_ -= bytes_of(row->second);
    orders_.erase(row);
    row = orders_.end();
    --left;
  };
  for (Row& row : rows)
    if (visits > max_visits && row->second.kind() == Kind::visit) drop(row);
  for (Row& row : rows)
    if (row != orders_.end() && (left > max_rows || bytes_ > max_bytes)) drop(row);
}

void OperatorOrders::settle() {
  trim();
  HostOrders hosts;
  std::size_t holding = 0;
  std::string known;
  for (const auto& [name, order] : orders_) {
    known += name + "\n" + std::to_string(order.number) + order.peer.hex() + order.value + "\n";
    if (order.value.empty()) continue;
    holding += order.kind() == Kind::visit ? 0 : 1;
    const std::string host = order.host();
    const auto of_host = [&]() -> HostOrder& {
      return host.starts_with("*.") ? hosts.below[host.substr(2)] : hosts.hosts[host];
    };
    switch (order.kind()) {
      case Kind::pause:
        (host.empty() ? hosts.ring_paused : of_host().paused) = true;
        break;
      case Kind::block:
        of_host().blocked = true;
        break;
      case Kind::delay:
        if (const auto delay = read_ordered_delay(order.value)) of_host().delay = std::min(*delay, max_ordered_delay);
        break;
      case Kind::visit:
      case Kind::unknown:
        break;
    }
  }
  hosts_ = std::move(hosts);
  holding_ = holding;
  fingerprint_ = known.empty() ? 0 : ring::leading_bits(ring::md5(known));
}

}  // namespace orbweaver
