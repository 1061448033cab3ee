// Mirrors (mirrors.h): a host's first pages are told to the owners of their sightings, who tell the owners of both
// hosts. Messages are not repeated: a lost one is a page that was not compared.
#include <algorithm>
#include <cstring>

#include "node/crawl/peer.h"
#include "ring/md5.h"

namespace orbweaver {

namespace {

// Sightings wait so long for more; so many go in a message.
constexpr Duration sightings_wait = std::chrono::milliseconds{200};
constexpr std::size_t sightings_step = 512;
// Outside input: a peer's message may name no longer a host.
constexpr std::size_t host_bytes_max = 255;

ring::Partition partition_of_sighting(std::uint64_t sighting, std::uint32_t partitions) {
  return ring::partition_of(ring::md5("sighting " + std::to_string(sighting)), partitions);
}

}  // namespace

// The verdict on a host, as the last run wrote it.
MirrorBook::Load Peer::stored_mirror(const std::string& host) const {
  return [this, host]() -> std::optional<std::string> {
    const auto stored = store_->meta(std::string(meta_name::mirror) + host);
    return stored ? *stored : std::nullopt;  // a failure is met, and told, by the next commit
  };
}

// Whose mirror the host is; "": nobody's.
std::string Peer::mirror_of(std::string_view host) {
  if (!trap_rules_.on(TrapRule::mirror)) return {};
  const std::string name(host);
  return mirrors_.mirror_of(name, stored_mirror(name));
}

void Peer::tell_sighting(Time now, const CanonicalUrl& url, std::uint64_t content) {
  if (content == 0 || !trap_rules_.on(TrapRule::mirror)) return;
  const std::string host(url.host());
  if (!mirrors_.tell(host, stored_mirror(host))) return;
  if (sightings_.empty()) next_sightings_ = now + sightings_wait;
  const ring::Md5 path = ring::md5(url.path_and_query());
  sightings_.push_back({ring::leading_bits(path) ^ content, host});
}

void Peer::sightings_tick(Time now, Commands& out) {
  if (sightings_.empty() || view_.empty() || (now < next_sightings_ && sightings_.size() < sightings_step)) return;
  std::map<ring::PeerId, ring::Sightings> messages;
  for (ring::Sighting& sighting : std::exchange(sightings_, {}))
    messages[view_.owner(partition_of_sighting(sighting.page, view_.partitions()))].sightings.push_back(
        std::move(sighting));
  for (auto& [owner, message] : messages) {
    if (owner == id()) {
      on_sightings(now, message, out);
    } else {
      messenger_.send(owner, std::move(message), out);
    }
  }
}

void Peer::on_sightings(Time now, const ring::Sightings& sightings, Commands& out) {
  std::map<ring::PeerId, ring::SamePages> told;
  for (const ring::Sighting& sighting : sightings.sightings) {
    if (sighting.host.empty() || sighting.host.size() > host_bytes_max || view_.empty()) continue;
    const std::optional<std::string> other = sighting_index_.see(sighting.page, sighting.host);
    if (!other) continue;
    const auto owner = [&](const std::string& host) { return view_.owner(partitioner_.home(host)); };
    told[owner(sighting.host)].pages.push_back({sighting.host, *other});
    told[owner(*other)].pages.push_back({*other, sighting.host});
  }
  for (auto& [owner, message] : told) {
    if (owner == id()) {
      on_same_pages(now, message, out);
    } else {
      messenger_.send(owner, std::move(message), out);
    }
  }
}

// The user named a seed's host: it is no mirror of another.
void Peer::on_same_pages(Time now, const ring::SamePages& same, Commands& out) {
  if (!trap_rules_.on(TrapRule::mirror)) return;
  for (const ring::SamePage& page : same.pages) {
    if (page.host.size() > host_bytes_max || page.other.size() > host_bytes_max) continue;
    if (seeds_.is_host(page.host) || (!seeds_.is_host(page.other) && !better_name(page.other, page.host))) continue;
    if (!view_.owns(partitioner_.home(page.host))) continue;
    if (!mirrors_.matched(page.host, page.other, stored_mirror(page.host))) continue;
    note(out, LogLevel::info, "crawl", "mirror", {{"host", page.host}, {"of", page.other}}, true);
    storage::Commit commit;
    commit.meta.emplace_back(std::string(meta_name::mirror) + page.host, page.other);
    if (!apply(now, commit, out)) return;
  }
}

// The user says that it is none.
bool Peer::lift_mirror(Time now, const std::string& host, Commands& out) {
  mirrors_.lift(host, stored_mirror(host));
  storage::Commit commit;
  commit.meta.emplace_back(std::string(meta_name::mirror) + host, "");
  return apply(now, commit, out);
}

}  // namespace orbweaver
