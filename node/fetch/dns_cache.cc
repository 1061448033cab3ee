#include "node/fetch/dns_cache.h"

#include <algorithm>

namespace orbweaver {

DnsEntry join_answers(const DnsAnswer& v6, const DnsAnswer& v4, const DnsLifetimes& lifetimes, DnsTime now) {
  DnsEntry entry;
  Duration ttl = lifetimes.max_ttl;
  for (const DnsAnswer* answer : {&v6, &v4}) {
    if (answer->kind != DnsAnswer::Kind::addresses) continue;
    entry.addresses.insert(entry.addresses.end(), answer->addresses.begin(), answer->addresses.end());
    ttl = std::min<Duration>(ttl, answer->ttl);
  }
  if (!entry.addresses.empty()) {
    entry.expires = now + std::max(ttl, lifetimes.ttl_min);
    return entry;
  }
  using Kind = DnsAnswer::Kind;
  if (v6.kind == Kind::no_name || v4.kind == Kind::no_name) {
    entry.failure = "the name does not exist (NXDOMAIN)";
  } else if (v6.kind == Kind::no_data && v4.kind == Kind::no_data) {
    entry.failure = "the name has no address";
  } else {
    entry.failure = v4.kind == Kind::failed ? v4.problem : v6.problem;
    entry.expires = now + lifetimes.failure;
    return entry;
  }
  // Both answers' SOA records are for the same zone; a failed answer has none.
  const Duration longest = std::max<Duration>(v6.ttl, v4.ttl);
  entry.expires =
      now + std::clamp(longest, std::min(lifetimes.failure, lifetimes.max_negative), lifetimes.max_negative);
  return entry;
}

const DnsEntry* DnsCache::find(const std::string& host, DnsTime now) {
  const auto found = index_.find(host);
  if (found == index_.end()) return nullptr;
  const Order::iterator at = found->second;
  if (at->second.expires <= now) {
    index_.erase(found);
    order_.erase(at);
    return nullptr;
  }
  order_.splice(order_.begin(), order_, at);
  return &at->second;
}

void DnsCache::put(const std::string& host, DnsEntry entry) {
  if (const auto found = index_.find(host); found != index_.end()) {
    const Order::iterator at = found->second;
    index_.erase(found);
    order_.erase(at);
  }
  order_.emplace_front(host, std::move(entry));
  index_.emplace(order_.front().first, order_.begin());
  if (index_.size() <= max_entries_) return;
  index_.erase(order_.back().first);
  order_.pop_back();
}

std::unordered_map<std::string, std::vector<IpAddress>> parse_hosts_file(std::string_view text) {
  std::unordered_map<std::string, std::vector<IpAddress>> hosts;
  constexpr std::string_view blanks = " \t\r\f\v";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto next_word = [&] {
      line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
      const std::string_view word = line.substr(0, line.find_first_of(blanks));
      line.remove_prefix(word.size());
      return word;
    };
    const auto address = parse_ip(next_word());
    if (!address) continue;
    for (std::string_view word = next_word(); !word.empty(); word = next_word()) {
      std::string name(word);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      std::vector<IpAddress>& addresses = hosts[name];
      if (addresses.size() >= max_dns_addresses || std::count(addresses.begin(), addresses.end(), *address) > 0)
        continue;
      addresses.push_back(*address);
    }
  }
  return hosts;
}

}  // namespace orbweaver
