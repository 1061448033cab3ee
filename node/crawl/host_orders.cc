#include "node/crawl/host_orders.h"

namespace orbweaver {

HostOrder HostOrders::of(std::string_view host) const {
  HostOrder all;
  const auto add = [&all](const Orders& orders, std::string_view name) {
    const auto found = orders.find(name);
    if (found == orders.end()) return;
    all.paused |= found->second.paused;
    all.blocked |= found->second.blocked;
    if (!all.delay) all.delay = found->second.delay;
  };
  if (!hosts.empty()) add(hosts, host);
  if (below.empty()) return all;
  for (std::string_view name = host; !name.empty();) {
    add(below, name);
    const std::size_t dot = name.find('.');
    name = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  }
  return all;
}

}  // namespace orbweaver
