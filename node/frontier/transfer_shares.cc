#include "node/frontier/transfer_shares.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr std::size_t v4_network_bytes = 3;
constexpr std::size_t v6_network_bytes = 6;
constexpr std::size_t prefix_bytes = 12;  // of the two below
constexpr std::string_view nat64{"\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00", prefix_bytes};
constexpr std::string_view mapped{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff", prefix_bytes};

}  // namespace

std::string network_of(std::string_view address) {
  if (address.size() == 4) return std::string(address.substr(0, v4_network_bytes));
  if (address.size() != 16) return {};
  if (address.starts_with(nat64) || address.starts_with(mapped))
    return std::string(address.substr(prefix_bytes, v4_network_bytes));
  return std::string(address.substr(0, v6_network_bytes));
}

TransferShares::Limits TransferShares::limits(std::uint32_t slots, std::uint32_t max_domain,
                                              std::uint32_t max_network) {
  const std::uint32_t share = std::max(1u, slots / 8);
  return {.slots = slots,
          .max_domain = max_domain == 0 ? share : max_domain,
          .max_network = max_network == 0 ? share : max_network,
          .reserve = (slots + 4) / 8};
}

std::uint32_t TransferShares::under_way(const std::string& line) const {
  const auto found = lines_.find(line);
  return found == lines_.end() ? 0 : found->second.under_way;
}

bool TransferShares::beyond_reserve() const { return transfers_.size() + limits_.reserve < limits_.slots; }

bool TransferShares::may_begin(const Place& place) const {
  if (transfers_.size() >= limits_.slots) return false;
  return beyond_reserve() || (has_room(domain_line(place)) && has_room(network_line(place)));
}

void TransferShares::begin(std::uint64_t transfer, Place place) {
  count(domain_line(place), true);
  count(network_line(place), true);
  transfers_.emplace(transfer, std::move(place));
}

void TransferShares::end(std::uint64_t transfer) {
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end()) return;
  const Place place = std::move(found->second);
  transfers_.erase(found);
  count(domain_line(place), false);
  count(network_line(place), false);
}

void TransferShares::count(const std::string& line, bool begins) {
  if (line.size() == 1) return;
  Line& at = lines_[line];
  at.under_way = begins ? at.under_way + 1 : at.under_way - 1;
  note_open(line, at);
  if (at.under_way == 0 && at.waiting.empty()) lines_.erase(line);
}

void TransferShares::note_open(const std::string& line, const Line& at) {
  if (at.waiting.empty()) return;
  if (has_room(line)) {
    open_.emplace(at.waiting.begin()->first, line);
  } else {
    open_.erase(at.waiting.begin()->first);
  }
}

void TransferShares::wait(const storage::HostKey& host, const Place& place) {
  let_go(host);
  const std::string domain = domain_line(place);
  const std::string line = has_room(domain) ? network_line(place) : domain;
  const std::uint64_t number = next_ticket_++;
  Line& at = lines_[line];
  at.waiting.emplace(number, host);
  by_host_.emplace(host, Ticket{number, line});
  in_order_.emplace(number, host);
  note_open(line, at);
}

void TransferShares::let_go(const storage::HostKey& host) {
  const auto found = by_host_.find(host);
  if (found == by_host_.end()) return;
  const Ticket ticket = std::move(found->second);
  by_host_.erase(found);
  in_order_.erase(ticket.number);
  open_.erase(ticket.number);
  const auto at = lines_.find(ticket.line);
  at->second.waiting.erase(ticket.number);
  note_open(ticket.line, at->second);
  if (at->second.under_way == 0 && at->second.waiting.empty()) lines_.erase(at);
}

bool TransferShares::any_may_go() const {
  if (in_order_.empty() || transfers_.size() >= limits_.slots) return false;
  return beyond_reserve() || !open_.empty();
}

std::optional<storage::HostKey> TransferShares::next_waiting() {
  if (!any_may_go()) return std::nullopt;
  const storage::HostKey host = beyond_reserve() ? in_order_.begin()->second : in_order_.at(open_.begin()->first);
  let_go(host);
  return host;
}

}  // namespace orbweaver
