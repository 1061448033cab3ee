// Which partition a URL falls into, by the ring's `partition_by`: the leading bits of MD5(host), of MD5(registrable
// domain), or of MD5(URL). By host or domain, all of a host is in one partition, whose holder asks the host. By URL a
// host is in many, and leases decide which of their holders asks it (host_leases.h). Pure. Thread rule: one owner (it
// remembers the last host, because a page's links are mostly of one).
#pragma once

#include <string>
#include <string_view>

#include "node/settings/settings.h"
#include "node/url/canonical_url.h"
#include "ring/types.h"
#include "storage/store.h"

namespace orbweaver {

class Partitioner {
 public:
  Partitioner(PartitionBy by, std::uint32_t partitions) : by_(by), partitions_(partitions) {}

  ring::Partition partition(const CanonicalUrl& url);
  // The key of a URL's host in the store: that partition, and the first bytes of MD5(host).
  storage::HostKey host_key(const CanonicalUrl& url);
  // Of a host that comes without a URL (with its wait); by URL the partition comes with it.
  storage::HostKey host_key(std::string_view host, ring::Partition url_partition);
  // The partition that looks after what concerns a whole host: its own; by URL that of MD5(host).
  ring::Partition home(std::string_view host);
  PartitionBy by() const { return by_; }

 private:
  void look_at(std::string_view host);

  PartitionBy by_;
  std::uint32_t partitions_;
  std::string host_;    // the last one; empty: none yet
  ring::Md5 digest_{};  // of it
  ring::Partition home_ = 0;
};

}  // namespace orbweaver
