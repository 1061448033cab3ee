// Archives under durability = power: a page is written, waits for a sync with others, and then counts.
#include <utility>

#include "node/errors/storage_error.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

void World::archive_page(std::size_t number, std::uint64_t job, PageDone page) {
  SimPeer& peer = peers_[number];
  Request& request = peer.requests.at(job);
  request.record = peer.archive->write(request.url);
  if (peer.sync_group->add(std::move(page), {peer.archive})) begin_sync(number);
  cut_power_after_record(peer);
}

void World::cut_power_after_record(SimPeer& peer) {
  if (!peer.power_fails || ending_ || since_start() >= parameters_.faults_end) return;
  if (peer.power_fails->writes > 1) {
    --peer.power_fails->writes;
    return;
  }
  const Fault fault = *std::exchange(peer.power_fails, std::nullopt);
  schedule(now_ + random_.between(Duration{}, parameters_.max_sync / 2), [this, fault] {
    if (!ending_ && since_start() < parameters_.faults_end) cut_power(fault.peer, fault.writes, fault.down);
  });
}

void World::begin_sync(std::size_t number) {
  SimPeer& peer = peers_[number];
  if (peer.sync_group->begin().empty()) return;
  peer.archive->begin_sync();
  const Duration takes = random_.between(Duration{}, parameters_.max_sync);
  schedule(now_ + takes, [this, number, generation = peer.generation] { end_sync(number, generation); });
}

void World::end_sync(std::size_t number, std::uint64_t generation) {
  SimPeer& peer = peers_[number];
  if (peer.generation != generation || peer.status != Status::up) return;
  if (wait_until_it_goes_on(number, [this, number, generation] { end_sync(number, generation); })) return;
  Result<void> synced;
  if (const storage::Result<void> done = peer.archive->sync(); !done)
    synced = tl::make_unexpected(error_of({peer.disk_fault.value_or(done.error().kind), done.error().message}));
  std::vector<PageDone> pages = peer.sync_group->end({synced});
  if (pages.size() > 1) ++stats_.faults["pages that share a sync"];
  for (PageDone& page : pages) {
    const std::uint64_t job = page.id;
    count_page(number, job, std::move(page));
    if (peer.generation != generation || peer.status != Status::up) return;
  }
  begin_sync(number);
}

// The peer gets the page, and commits its outcome.
void World::count_page(std::size_t number, std::uint64_t job, PageDone page) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  const Request request = std::move(found->second);
  peer.requests.erase(found);
  if (!std::holds_alternative<NotWritten>(page.what))
    tell([&](Checker& checker) { checker.committed(*this, request); });
  peer.uncommitted = request;
  step(number, std::move(page));
  peer.uncommitted.reset();
  if (peer.status == Status::up && request.answer.links.size() > many_links) peer.in_pieces.push_back(request);
}

}  // namespace orbweaver::sim
