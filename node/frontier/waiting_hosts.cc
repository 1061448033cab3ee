#include "node/frontier/waiting_hosts.h"

#include <algorithm>

namespace orbweaver {

namespace {

std::size_t bytes_of(const WaitingHost& host) {
  std::size_t bytes = WaitingHosts::host_bytes;
  for (const RobotsSlot& slot : host.robots) bytes += sizeof slot + slot.origin.size() + slot.redirect.size();
  return bytes;
}

bool is_being_asked_for(const RobotsSlot& slot) { return slot.attempts > 0 || !slot.redirect.empty(); }

}  // namespace

WaitingHost WaitingHost::of(BenchHost& host, Time due) {
  WaitingHost waiting{.due = due,
                      .next_allowed = host.next_allowed,
                      .down_until = host.down_until,
                      .lent_until = host.lent_until,
                      .yields_until = host.yields_until,
                      .crawl_delay = host.crawl_delay,
                      .failures = host.failures,
                      .pacing = host.pacing};
  for (const auto& [content, times] : host.contents)
    if (times > waiting.content.second) waiting.content = {content, times};
  for (RobotsSlot& slot : host.robots)
    if (is_being_asked_for(slot)) waiting.robots.push_back(std::move(slot));
  return waiting;
}

void WaitingHost::give_to(BenchHost& host) const {
  host.next_allowed = std::max(host.next_allowed, next_allowed);
  host.down_until = down_until;
  host.yields_until = yields_until;
  host.crawl_delay = std::max(host.crawl_delay, crawl_delay);
  host.failures = failures;
  host.lent_until = std::max(host.lent_until, lent_until);
  host.pacing = pacing;
  if (content.second > 0) host.contents.push_back(content);
  host.robots = robots;
}

void WaitingHosts::add(const storage::HostKey& key, WaitingHost host) {
  const auto [at, added] = hosts_.try_emplace(key, std::move(host));
  if (!added) return;
  bytes_ += bytes_of(at->second);
  by_due_.insert(&*at);
}

const WaitingHost* WaitingHosts::find(const storage::HostKey& key) const {
  const auto found = hosts_.find(key);
  return found == hosts_.end() ? nullptr : &found->second;
}

void WaitingHosts::yield(const storage::HostKey& key, Time until) {
  if (const auto found = hosts_.find(key); found != hosts_.end()) found->second.yields_until = until;
}

void WaitingHosts::hasten(const storage::HostKey& key) {
  const auto found = hosts_.find(key);
  if (found == hosts_.end() || found->second.due <= found->second.next_allowed) return;
  by_due_.erase(&*found);
  found->second.due = found->second.next_allowed;
  by_due_.insert(&*found);
}

std::optional<Time> WaitingHosts::next_due() const {
  if (by_due_.empty()) return std::nullopt;
  return (*by_due_.begin())->second.due;
}

std::optional<std::pair<storage::HostKey, WaitingHost>> WaitingHosts::take(Time now) {
  if (by_due_.empty() || (*by_due_.begin())->second.due > now) return std::nullopt;
  const auto at = hosts_.find((*by_due_.begin())->first);
  std::pair<storage::HostKey, WaitingHost> taken(*at);
  erase(at);
  return taken;
}

WaitingHosts::Hosts::iterator WaitingHosts::erase(Hosts::iterator at) {
  bytes_ -= bytes_of(at->second);
  by_due_.erase(&*at);
  return hosts_.erase(at);
}

void WaitingHosts::forget(std::uint16_t partition) {
  for (auto at = hosts_.lower_bound({partition, {}}); at != hosts_.end() && at->first.partition == partition;)
    at = erase(at);
}

}  // namespace orbweaver
