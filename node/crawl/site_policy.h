// How a host may be asked: as an operator has ordered, or by its entry in `sites`, or else by the ring's own settings.
// Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "node/crawl/host_orders.h"
#include "node/crawl/host_pacing.h"
#include "node/scope/site_rules.h"
#include "node/settings/settings.h"

namespace orbweaver {

class SitePolicy {
 public:
  // `settings` outlives it.
  explicit SitePolicy(const Settings& settings) : settings_(&settings), rules_(settings.sites) {}

  // From now on hosts are asked as `orders` says; it outlives this.
  void obey(const HostOrders& orders) { orders_ = &orders; }
  // Under join_www a host is known without "www.".
  HostOrder order_of(std::string_view host) const { return orders_ == nullptr ? HostOrder{} : orders_->of(host); }

  PacingRules pacing(std::string_view host) const {
    PacingRules pacing{settings_->delay, settings_->delay_factor, settings_->max_delay};
    if (const SiteRule* const rule = find(host)) {
      pacing.delay = rule->delay.value_or(pacing.delay);
      pacing.delay_factor = rule->delay_factor.value_or(pacing.delay_factor);
    }
    pacing.delay = order_of(host).delay.value_or(pacing.delay);
    return pacing;
  }
  // The first moment not before `at` in the hours in which the host may be asked.
  Time first_allowed(std::string_view host, Time at) const {
    const SiteRule* const rule = find(host);
    return rule != nullptr && rule->hours ? rule->hours->first_from(at) : at;
  }
  // A robots.txt may ask for a longer wait than the crawl's own, up to a bound: else one file could stop a host.
  Duration crawl_delay(Duration asked) const { return std::min(asked, settings_->max_crawl_delay); }
  // How long a request to the host reserves its address: never longer than the host's own delay.
  Duration address_delay(std::string_view host, Duration crawl_delay) const {
    const Duration delay = pacing(host).delay;
    return delay == Duration{} ? Duration{} : std::min(settings_->address_delay, std::max(delay, crawl_delay));
  }

 private:
  // Under join_www a host is known without "www.", whichever form its entry has.
  const SiteRule* find(std::string_view host) const {
    const SiteRule* rule = rules_.find(host);
    return rule == nullptr && settings_->join_www ? rules_.find("www." + std::string(host)) : rule;
  }

  const Settings* settings_;
  const HostOrders* orders_ = nullptr;
  SiteRules rules_;
};

}  // namespace orbweaver
