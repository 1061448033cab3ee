// The question "explain": what this peer knows of a URL, and why it is so. Only reads. Lifetime: the peer's. Thread
// rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "node/links/link_router.h"
#include "node/links/seed_redirects.h"

namespace orbweaver {

class Explanation {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const Settings& settings;
    const Canonicaliser& canonicaliser;
    Partitioner& partitioner;
    storage::Store& store;
    const SeedSet& seeds;
    Workbench& bench;
    const LinkRouter& router;
    const SeedRedirects& redirects;
    TrapJudge& traps;
    MirrorTable& mirrors;
    const ring::Membership& membership;
  };
  explicit Explanation(Around around) : around_(around) {}

  // {"url": text} is answered with its state and why; or with "error".
  nlohmann::json answer(const nlohmann::json& body) const;

 private:
  void add_unknown(nlohmann::json& answer, const CanonicalUrl& url) const;
  void add_known(nlohmann::json& answer, const CanonicalUrl& url, const storage::UrlKey& key,
                 const storage::UrlRecord& known) const;

  Around around_;
};

}  // namespace orbweaver
