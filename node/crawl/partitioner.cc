#include "node/crawl/partitioner.h"

#include <algorithm>

#include "node/url/registrable_domain.h"
#include "ring/hash_ring.h"

namespace orbweaver {

void Partitioner::look_at(std::string_view host) {
  if (host == host_ && !host_.empty()) return;
  digest_ = ring::md5(host);
  home_ = ring::partition_of(by_ == PartitionBy::domain ? ring::md5(registrable_domain(host)) : digest_, partitions_);
  host_.assign(host);
}

ring::Partition Partitioner::home(std::string_view host) {
  look_at(host);
  return home_;
}

ring::Partition Partitioner::partition(const CanonicalUrl& url) {
  return by_ == PartitionBy::url ? ring::partition_of(url.digest(), partitions_) : home(url.host());
}

storage::HostKey Partitioner::host_key(const CanonicalUrl& url) {
  return host_key(url.host(), by_ == PartitionBy::url ? ring::partition_of(url.digest(), partitions_) : 0);
}

storage::HostKey Partitioner::host_key(std::string_view host, ring::Partition url_partition) {
  look_at(host);
  storage::HostKey key;
  key.partition = by_ == PartitionBy::url ? url_partition : home_;
  std::copy_n(digest_.begin(), key.host.size(), key.host.begin());
  return key;
}

}  // namespace orbweaver
