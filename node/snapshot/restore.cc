#include "node/snapshot/restore.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"
#include "node/frontier/crash_book.h"
#include "node/links/link_router.h"
#include "node/replication/partition_manager.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Rows read at a time, and written together.
constexpr std::size_t rows_a_write = 1024;
// A restored ring begins with these: every claim of a peer that runs is above.
constexpr std::uint64_t first_epoch = 1;
constexpr std::uint64_t first_incarnation = 1;
constexpr std::uint32_t ordinary_capacity = 100;

tl::unexpected<Error> failed(const storage::Error& error) { return tl::make_unexpected(error_of(error)); }

// As many of the numbers as the text begins with, with a space between two; 0 for others.
std::pair<std::uint64_t, std::uint64_t> numbers_in(const std::string& text) {
  std::pair<std::uint64_t, std::uint64_t> numbers{};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, numbers.first);
  if (first.ec == std::errc{} && first.ptr != end) std::from_chars(first.ptr + 1, end, numbers.second);
  return numbers;
}

}  // namespace

Result<Restore> Restore::begin(std::vector<Target> targets, const ring::RingId& ring, const ring::Settings& settings,
                               std::optional<std::uint32_t> partitions) {
  Settings values = default_settings();
  ORBWEAVER_TRY(apply_ring_wide(values, settings));
  const std::uint32_t before = values.partitions;
  if (partitions) ORBWEAVER_TRY(apply_ring_wide(values, {{"partitions", std::to_string(*partitions)}}));
  Restore restore(values.partition_by, before, values.partitions);
  restore.ring_id_ = ring;
  restore.settings_ = ring_wide_settings(values);
  std::vector<ring::Member> members;
  for (const Target& target : targets) {
    auto store = storage::Store::open(*target.kv);
    if (!store) return failed(store.error());
    const auto known = store->meta(meta_name::peer);
    if (!known) return failed(known.error());
    if (*known || store->counts().discovered() + store->counts().outbox > 0)
      return fail(ErrorCode::mismatch, "a directory to restore into is not empty; name one that does not exist yet");
    store->set_order(queue_order(values.order));
    restore.by_id_[target.id] = restore.stores_.size();
    restore.stores_.push_back(std::make_unique<storage::Store>(std::move(*store)));
    ring::Member member;
    member.id = target.id;
    member.capacity = ordinary_capacity;
    member.state = ring::MemberState::active;
    members.push_back(std::move(member));
  }
  if (restore.by_id_.size() != targets.size() || targets.empty())
    return fail(ErrorCode::invalid_input, "a ring is restored into one directory or more, each its own");
  restore.ring_ = ring::HashRing(members, values.partitions);
  restore.targets_ = std::move(targets);
  return restore;
}

storage::Store& Restore::owner_of(std::uint16_t partition) { return *stores_[by_id_.at(ring_.owner(partition))]; }

Result<void> Restore::add(storage::Store& source) {
  for (std::uint32_t i = 0; i < partitions_before_; ++i) {
    const auto partition = static_cast<std::uint16_t>(i);
    ORBWEAVER_TRY(add_records(source, partition));
    ORBWEAVER_TRY(add_hosts(source, partition));
    ORBWEAVER_TRY(add_links(source, partition));
  }
  return add_facts(source);
}

std::optional<storage::HostKey> Restore::host_of(const std::string& url) {
  const Result<CanonicalUrl> read = CanonicalUrl::of_stored(url);
  return read ? std::optional(partitioner_.host_key(*read)) : std::nullopt;
}

std::vector<storage::HostKey> Restore::places_of(std::uint16_t partition, const storage::HostRow& row) {
  if (same_partitions()) return {row.host};
  if (row.use) return {partitioner_.host_key(row.use->site, 0)};
  std::string name;
  if (row.clock) {
    name = row.clock->host;
  } else if (row.cookies) {
    name = row.cookies->site;
  } else if (const Result<CanonicalUrl> origin = CanonicalUrl::of_stored(row.origin + "/")) {
    name = origin->host();
  }
  if (partitioner_.by() != PartitionBy::url) return {partitioner_.host_key(name, 0)};
  const std::uint64_t now = ring_.partitions();
  std::vector<storage::HostKey> places;
  for (std::uint64_t at = partition * now / partitions_before_; at * partitions_before_ < (partition + 1) * now; ++at)
    places.push_back(partitioner_.host_key(name, static_cast<std::uint16_t>(at)));
  return places;
}

Result<void> Restore::add_records(storage::Store& source, std::uint16_t partition) {
  if (source.counts(partition).discovered() == 0) return {};
  std::optional<storage::UrlKey> after;
  for (bool more = true; more;) {
    auto records = source.scan(partition, after ? &*after : nullptr, rows_a_write);
    if (!records) return failed(records.error());
    more = records->size() == rows_a_write;
    if (records->empty()) break;
    after = records->back().key;
    Commits commits;
    for (storage::Merge& record : *records) {
      if (!same_partitions()) {
        const auto host = host_of(record.record.url);
        if (!host) return fail(ErrorCode::io, "a store has a record of what is not a URL: " + record.record.url);
        record.key.host = *host;
      }
      commits[&owner_of(record.key.host.partition)].merges.push_back(std::move(record));
    }
    for (const auto& [store, commit] : commits)
      if (const auto written = store->commit(commit); !written) return failed(written.error());
  }
  return {};
}

// Of two waits of a host the longer one holds, of two robots.txt files or jars the later one, of two uses the larger.
Result<void> Restore::add_host(const storage::HostRow& row, const storage::HostKey& key, storage::Commit& commit) {
  storage::Store& owner = owner_of(key.partition);
  if (row.clock) {
    const auto known = owner.clock(key);
    if (!known) return failed(known.error());
    commit.clocks.emplace_back(key, *known ? storage::merge(**known, *row.clock) : *row.clock);
  }
  if (row.robots) {
    const auto known = owner.robots(key, row.origin);
    if (!known) return failed(known.error());
    commit.robots.emplace_back(key, row.origin, *known ? storage::merge(**known, *row.robots) : *row.robots);
  }
  if (row.cookies) {
    const auto known = owner.cookies(key);
    if (!known) return failed(known.error());
    commit.cookies.emplace_back(key, *known ? storage::merge(**known, *row.cookies) : *row.cookies);
  }
  if (row.use) {
    const auto known = owner.use(key);
    if (!known) return failed(known.error());
    commit.uses.emplace_back(key, *known ? storage::merge(**known, *row.use) : *row.use);
  }
  return {};
}

Result<void> Restore::add_hosts(storage::Store& source, std::uint16_t partition) {
  std::string after;
  for (bool more = true; more;) {
    const auto rows = source.hosts_of(partition, after, rows_a_write);
    if (!rows) return failed(rows.error());
    more = rows->size() == rows_a_write;
    Commits commits;
    for (const storage::HostRow& row : *rows) {
      after = row.row;
      for (const storage::HostKey& key : places_of(partition, row))
        ORBWEAVER_TRY(add_host(row, key, commits[&owner_of(key.partition)]));
    }
    for (const auto& [store, commit] : commits)
      if (const auto written = store->commit(commit); !written) return failed(written.error());
  }
  return {};
}

// A link that its owner may not have yet: its new owner finds it in its own outbox, and admits it as it admits links.
Result<void> Restore::add_links(storage::Store& source, std::uint16_t partition) {
  std::uint64_t after = 0;
  for (bool more = source.counts().outbox > 0; more;) {
    auto entries = source.outbox_of(partition, after, rows_a_write);
    if (!entries) return failed(entries.error());
    more = entries->size() == rows_a_write;
    Commits commits;
    for (storage::OutboxEntry& entry : *entries) {
      after = entry.key.sequence;
      std::uint16_t to = partition;
      if (!same_partitions()) {
        const auto link = storage::decode_record(entry.record);
        const auto host = link ? host_of(link->url) : std::nullopt;
        if (!host) return fail(ErrorCode::io, "a store has a link in its outbox that cannot be read");
        to = host->partition;
      }
      commits[&owner_of(to)].to_outbox.emplace_back(to, std::move(entry.record));
    }
    for (const auto& [store, commit] : commits)
      if (const auto written = store->commit(commit); !written) return failed(written.error());
  }
  return {};
}

// A crash is known by its page's key, which begins with the partition. There are few.
Result<void> Restore::find_crashes_again() {
  if (same_partitions()) return {};
  std::map<std::string, std::uint64_t> found;
  for (const auto& [page, ends] : crashes_) {
    std::optional<storage::UrlKey> key = CrashBook::key_of(page);
    if (!key) continue;
    for (std::uint32_t i = 0; i < ring_.partitions(); ++i) {
      key->host.partition = static_cast<std::uint16_t>(i);
      const auto record = owner_of(key->host.partition).find(*key);
      if (!record) return failed(record.error());
      if (!*record) continue;
      found[CrashBook::text_of(*key)] = ends;
      break;
    }
  }
  crashes_ = std::move(found);
  return {};
}

void Restore::add_seeds(const std::string& row) {
  for (std::size_t at = 0; at < row.size();) {
    const std::size_t end = std::min(row.find('\n', at), row.size());
    std::string seed = row.substr(at, end - at);
    if (!seed.empty() && known_seeds_.insert(seed).second) seeds_.push_back(std::move(seed));
    at = end + 1;
  }
}

// Peers walk on their own. The orders that some of them still carry out are begun anew: what was visited again since is
// not visited once more.
void Restore::add_walk(const std::string& row) {
  Result<json> walk = parse_outside_json(row);
  if (!walk || !walk->is_object()) return;
  const json next = walk->contains("next") ? walk->at("next") : json::array();
  for (const char* name : {"next", "after", "queued"}) walk->erase(name);
  const auto add = [this](const json& order) {
    if (order.is_object()) walks_[{number_field(order, "before_us", 0).value_or(0), json_text(order)}] = order;
  };
  add(*walk);
  for (const json& order : next) add(order);
}

std::string Restore::walks_row() const {
  if (walks_.empty()) return {};
  json row = walks_.begin()->second;
  row["after"] = "";
  row["queued"] = 0;
  for (auto at = std::next(walks_.begin()); at != walks_.end(); ++at) row["next"].push_back(at->second);
  return json_text(row);
}

void Restore::add_orders(const std::string& row) {
  OperatorOrders known;
  known.restore(row);
  ++sources_;
  for (const auto& [name, order] : known.all()) {
    if (order.kind() == OperatorOrder::Kind::visit) ++knew_visit_[name];
    orders_.take(order);
  }
  orders_.settle();
}

// A visit that a peer had not heard of is begun anew too.
void Restore::begin_visits() {
  for (const auto& [name, knew] : knew_visit_)
    if (const auto visit = orders_.all().find(name); knew < sources_ && visit != orders_.all().end())
      add_walk(visit->second.value);
}

Result<void> Restore::add_facts(storage::Store& source) {
  const auto seeds = source.meta(meta_name::seeds);
  const auto bytes = source.meta(meta_name::bytes);
  const auto walk = source.meta(meta_name::recrawl);
  const auto orders = source.meta(meta_name::orders);
  const auto redirects = source.meta(meta_name::redirects_out);
  for (const auto* read : {&seeds, &bytes, &walk, &orders, &redirects})
    if (!*read) return failed(read->error());
  add_seeds(seeds->value_or(""));
  add_orders(orders->value_or(""));
  bytes_ += numbers_in(bytes->value_or("")).first;
  if (*walk && !(*walk)->empty()) add_walk(**walk);
  if (const Result<json> targets = parse_outside_json(redirects->value_or("{}")))
    for (const auto& [seed, target] : targets->items())
      if (target.is_string()) redirects_[seed] = target.get<std::string>();
  const auto mirrors = source.meta_rows(std::string(meta_name::mirror));
  const auto crashes = source.meta_rows(std::string(meta_name::crashed));
  for (const auto* read : {&mirrors, &crashes})
    if (!*read) return failed(read->error());
  // Empty: a user has lifted the verdict, which a rule does not overrule.
  for (const auto& [host, other] : *mirrors)
    if (const auto [at, added] = mirrors_.try_emplace(host, other); !added && other.empty()) at->second.clear();
  for (const auto& [page, ends] : *crashes) crashes_[page] = std::max(crashes_[page], numbers_in(ends).first);
  return {};
}

storage::Commit Restore::facts_of(std::size_t target) const {
  const ring::PeerId& id = targets_[target].id;
  storage::Commit commit;
  std::string seeds;
  for (const std::string& seed : seeds_) seeds += seed + "\n";
  commit.meta.emplace_back(meta_name::seeds, std::move(seeds));
  commit.meta.emplace_back(meta_name::settings, json(settings_).dump());
  if (orders_.size() > 0) commit.meta.emplace_back(meta_name::orders, orders_.row());
  if (!walks_.empty()) commit.meta.emplace_back(meta_name::recrawl, walks_row());
  if (target == 0) {
    commit.meta.emplace_back(meta_name::bytes, std::to_string(bytes_));
    commit.meta.emplace_back(meta_name::redirects_out, json(redirects_).dump());
  }
  for (const auto& [host, other] : mirrors_) commit.meta.emplace_back(std::string(meta_name::mirror) + host, other);
  for (const auto& [page, ends] : crashes_)
    if (const auto key = CrashBook::key_of(page); key && key->host.partition < ring_.partitions())
      if (ends > 0 && ring_.owner(key->host.partition) == id)
        commit.meta.emplace_back(std::string(meta_name::crashed) + page, std::to_string(ends));
  for (std::uint32_t i = 0; i < ring_.partitions(); ++i) {
    const auto partition = static_cast<std::uint16_t>(i);
    commit.meta.push_back(tenure_row({partition, {first_epoch, ring_.owner(partition)}}));
  }
  ring::Sync view;
  for (const Target& other : targets_) {
    if (other.id == id) continue;
    ring::Member member;
    member.id = other.id;
    member.address = other.address;
    member.capacity = ordinary_capacity;
    member.incarnation = first_incarnation;
    member.state = ring::MemberState::active;
    member.protocol = ring::protocol_version_min;
    view.members.push_back(std::move(member));
  }
  commit.meta.emplace_back(meta_name::members,
                           ring::encode({ring::protocol_version_min, ring_id_, id, 0, std::move(view)}));
  commit.meta.emplace_back(meta_name::ring, ring_id_.hex());
  commit.meta.emplace_back(meta_name::peer, id.hex());
  commit.synced = true;
  return commit;
}

Result<Restore::Counts> Restore::finish() {
  begin_visits();
  ORBWEAVER_TRY(find_crashes_again());
  Counts counts;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (const auto written = stores_[i]->commit(facts_of(i)); !written) return failed(written.error());
    const storage::Counts& made = stores_[i]->counts();
    counts.records += made.discovered();
    counts.fetched += made.fetched;
    counts.queued += made.queued;
    counts.links += made.outbox;
  }
  return counts;
}

}  // namespace orbweaver
