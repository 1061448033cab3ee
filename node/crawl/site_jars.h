// The cookies of sites (`cookies = crawl`): what a request brings along, what an answer sets. A site is what
// `partition_by` keeps together: a host, or a registered domain. Its jar is a row of its partition, so it survives a
// restart, has copies, and goes with the partition (docs/decisions/0028-ring-wide-shares.md).
//
// What an answer sets counts from the next request to the site on. It is written with the answer's outcome; a crash
// before that loses both. In memory are only jars that changed and are not written yet: one for each fetch in flight at
// most. Pure except for reads of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/crawl/events.h"
#include "node/crawl/peer_state.h"
#include "node/http/cookie_jar.h"

namespace orbweaver {

class SiteJars {
 public:
  // `state` outlives it.
  explicit SiteJars(const PeerState& state) : state_(&state) {}

  // The Cookie field's value for the request; empty: none. An error of the store is noted there.
  std::string header_for(Time now, const FetchJob& fetch);
  // The answer to the request set these.
  void take(Time now, const FetchJob& fetch, const std::vector<std::string>& set_cookies);
  // The request's outcome is about to be written: its site's row goes into `commit`, if it has changed.
  void write(Time now, const FetchJob& fetch, storage::Commit& commit);
  std::size_t unwritten() const { return changed_.size(); }

 private:
  struct Site {
    storage::HostKey key;
    std::string name;
  };
  // Nothing: the request is a robots.txt of another host, where the answer of one led. It is asked without cookies.
  std::optional<Site> site_of(const FetchJob& fetch) const;
  CookieJar jar_of(const storage::HostKey& site) const;

  const PeerState* state_;
  std::map<storage::HostKey, CookieJar> changed_;
};

// Whether a row that another peer sent can be one.
bool believable(const storage::SiteCookies& cookies, Time now);

}  // namespace orbweaver
