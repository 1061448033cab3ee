// Fills the store of a stopped peer with records, as a crawl would have left them: for tests/bench/ring and restart.
//
//   fill_store DIRECTORY RECORDS PARTITIONS [PORT [HOSTS]]   RECORDS URLs on HOSTS hosts (RECORDS/100), at this port
//                                                            (80); nine in ten are fetched, the others queued
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "node/crawl/partitioner.h"
#include "node/url/canonical_url.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"

int main(int count, char** arguments) {
  using namespace orbweaver;
  if (count < 4 || count > 6) {
    std::fprintf(stderr, "usage: fill_store DIRECTORY RECORDS PARTITIONS [PORT [HOSTS]]\n");
    return 2;
  }
  const std::size_t records = std::strtoull(arguments[2], nullptr, 10);
  const auto partitions = static_cast<std::uint32_t>(std::strtoul(arguments[3], nullptr, 10));
  const std::string port = count > 4 ? ":" + std::string(arguments[4]) : "";
  const std::size_t hosts = count > 5 ? std::strtoull(arguments[5], nullptr, 10) : records / 100;
  const std::size_t a_host = std::max<std::size_t>(1, records / std::max<std::size_t>(1, hosts));
  storage::RocksConfig config;
  config.directory = std::string(arguments[1]) + "/store";
  auto kv = storage::open_rocks(config);
  if (!kv) {
    std::fprintf(stderr, "fill_store: %s\n", kv.error().message.c_str());
    return 1;
  }
  auto store = storage::Store::open(**kv);
  if (!store) {
    std::fprintf(stderr, "fill_store: %s\n", store.error().message.c_str());
    return 1;
  }
  Partitioner partitioner(PartitionBy::host, partitions);
  storage::Commit commit;
  for (std::size_t i = 0; i < records; ++i) {
    const auto url = CanonicalUrl::parse("http://host" + std::to_string(i / a_host) + ".example" + port +
                                         "/articles/2026/page-" + std::to_string(i) + ".html");
    storage::UrlRecord record;
    record.url = url->text();
    record.depth = 3;
    record.state = i % 10 == 0 ? storage::UrlState::queued : storage::UrlState::fetched;
    record.status = i % 10 == 0 ? 0 : 200;
    commit.merges.push_back({{partitioner.host_key(*url), url->digest()}, std::move(record)});
    if (commit.merges.size() < 1000 && i + 1 < records) continue;
    if (const auto done = store->commit(commit); !done) {
      std::fprintf(stderr, "fill_store: %s\n", done.error().message.c_str());
      return 1;
    }
    commit.merges.clear();
  }
  return 0;
}
