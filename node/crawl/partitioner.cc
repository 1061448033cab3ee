#include "node/crawl/partitioner.h"

#include <algorithm>

#include "node/url/registrable_domain.h"
#include "ring/hash_ring.h"

namespace orbweaver {

ring::Partition Partitioner::of_host(std::string_view host, const ring::Md5& digest) {
  if (by_ != PartitionBy::domain) return ring::partition_of(digest, partitions_);
  if (host != host_) {
    host_.assign(host);
    domain_partition_ = ring::partition_of(ring::md5(registrable_domain(host)), partitions_);
  }
  return domain_partition_;
}

ring::Partition Partitioner::partition(const CanonicalUrl& url) {
  if (by_ == PartitionBy::url) return ring::partition_of(url.digest(), partitions_);
  return of_host(url.host(), url.host_digest());
}

storage::HostKey Partitioner::host_key(const CanonicalUrl& url) {
  storage::HostKey key;
  key.partition = partition(url);
  std::copy_n(url.host_digest().begin(), key.host.size(), key.host.begin());
  return key;
}

storage::HostKey Partitioner::host_key(std::string_view host, ring::Partition told_for) {
  const ring::Md5 digest = ring::md5(host);
  storage::HostKey key;
  key.partition = by_ == PartitionBy::url ? told_for : of_host(host, digest);
  std::copy_n(digest.begin(), key.host.size(), key.host.begin());
  return key;
}

}  // namespace orbweaver
