// URLs whose server redirects the fetch to another form of the same URL (docs/reference/canonical-form.md). Such a
// redirect would be lost among the seen URLs, and the page with it. Instead, the form that the server names is asked
// for, in another turn of the host. In memory only, and bounded: the form that was noted first makes room, and its URL,
// if it is asked for at all, is redirected there again. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "node/crawl/events.h"
#include "node/settings/settings.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class CanonicalRedirects {
 public:
  // `settings` outlives it.
  explicit CanonicalRedirects(const Settings& settings) : settings_(&settings) {}

  // What is asked for in place of the URL; null: the URL itself.
  const CanonicalUrl* form_of(const storage::UrlKey& url) const;
  // A fetch of the URL has ended. `page`: null without a response. True: it led to another form, which is asked for
  // next. False: it did not, or there were too many; then, unless it is tried `again`, it is forgotten.
  bool follow(const storage::UrlKey& url, const PageRead* page, bool again);
  void forget(const storage::UrlKey& url);
  // Another peer fetches them now.
  void forget(ring::Partition partition);
  // At least as many as URLs can be next at their hosts or in flight, so only forms of other URLs make room.
  std::size_t max_forms() const;
  ring::TableSizes tables() const;

 private:
  struct Form {
    CanonicalUrl url;  // CanonicalUrl's own form, no rule of the crawl applied
    std::uint8_t hops = 1;
    std::uint64_t number = 0;
  };
  const Settings* settings_;
  std::map<storage::UrlKey, Form> forms_;
  std::map<std::uint64_t, storage::UrlKey> in_order_;  // by number
  std::uint64_t next_number_ = 0;
};

}  // namespace orbweaver
