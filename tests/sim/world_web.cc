// Fetches: what the web's servers see, and what the peer learns of it.
#include "node/crawl/robots_reader.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

// The list of a page, or of a sitemap: links, and their dates. A sitemap gives the dates of its pages' last
// changes. The dates are chosen so that some pages changed after their first visit and some before; some pages
// have no date.
Listed World::listed(const Request& request, std::vector<CanonicalUrl> links, std::vector<std::uint8_t> scores) const {
  if (!path_in(request.url).starts_with("/map"))
    return LinkList{.links = std::move(links), .scores = std::move(scores), .requisites = {}};
  SitemapList list{.pages = std::move(links), .scores = std::move(scores), .lastmods = {}};
  for (const CanonicalUrl& link : list.pages) {
    const std::uint64_t hash = hash_of(parameters_.seed, link.text());
    const Time changed = start_ + Duration{std::chrono::seconds{hash % 60}};
    list.lastmods.push_back(hash % 3 == 0 || changed > now_ ? Time{} : changed);
  }
  return list;
}

void World::start_fetch(std::size_t number, const StartFetch& fetch) {
  SimPeer& peer = peers_[number];
  crawling_ = true;
  for (const SimPeer& other : peers_)
    if (other.status == Status::up && other.ring != peer.ring) views_differed_ = true;
  ++stats_.requests;
  Request request;
  request.peer = number;
  request.job = fetch.job.id;
  const PageFetch* const page = fetch.job.page();
  request.kind = page != nullptr ? RequestKind::page : RequestKind::robots;
  request.url = fetch.job.url.text();
  request.host = host_in(request.url);
  request.elsewhere = page == nullptr && host_in(fetch.job.robots()->origin + "/") != request.host;
  ++stats_.requests_to[request.host];
  request.begun = now_;
  request.answer = web_.answer(request.url, tries_[request.url]++);
  if (page != nullptr && !page->validator.empty() && page->validator == request.answer.validator) {
    request.answer.status = 304;
    request.answer.links.clear();
    ++stats_.faults["an answer 304"];
  }
  request.ended = now_ + request.answer.takes;
  note("  p" + std::to_string(number) + " fetches " + request.url + " job " + std::to_string(request.job));
  const auto [at, added] = peer.requests.emplace(request.job, request);
  if (!added) return fail("world", "job " + std::to_string(request.job) + " was started twice");
  tell([&](Checker& checker) { checker.request_begun(*this, at->second); });
  schedule(request.ended, [this, number, generation = peer.generation, job = request.job] {
    end_fetch(number, generation, job, false);
  });
}

void World::parse_robots(std::size_t number, const ParseRobots& stored) {
  note("  p" + std::to_string(number) + " parses the stored robots.txt of " +
       std::get<RobotsParse>(stored.job.what).origin);
  const Duration takes = random_.between(Duration{}, parameters_.max_parse);
  schedule(now_ + takes, [this, number, generation = peers_[number].generation, stored] {
    const SimPeer& peer = peers_[number];
    if (peer.generation != generation || peer.status != Status::up) return;
    const auto deliver = [this, number, stored] {
      PageDone done;
      done.id = stored.job.id;
      RobotsRead read;
      read.parsed = orbweaver::parse_robots(stored.body, parameters_.settings.user_agent);
      done.what = std::move(read);
      step(number, std::move(done));
    };
    if (!wait_until_it_goes_on(number, deliver)) deliver();
  });
}

void World::resolve_host(std::size_t number, const ResolveHost& resolve) {
  const Duration takes =
      random_.between(Duration{std::chrono::microseconds{50}}, Duration{std::chrono::milliseconds{20}});
  schedule(now_ + takes, [this, number, generation = peers_[number].generation, resolve] {
    const SimPeer& peer = peers_[number];
    if (peer.generation != generation || peer.status != Status::up) return;
    const auto deliver = [this, number, resolve] {
      step(number, HostResolved{resolve.host, web_.address_of(resolve.name)});
    };
    if (!wait_until_it_goes_on(number, deliver)) deliver();
  });
}

// The server's view of the end.
void World::end_fetch(std::size_t number, std::uint64_t generation, std::uint64_t job, bool cancelled) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  if (peer.generation != generation || found == peer.requests.end() || found->second.over) return;
  Request& request = found->second;
  request.over = true;
  request.ended = now_;
  tell([&](Checker& checker) { checker.request_ended(*this, request, cancelled); });
  if (wait_until_it_goes_on(
          number, [this, number, generation, job, cancelled] { tell_fetch_ended(number, generation, job, cancelled); }))
    return;
  tell_fetch_ended(number, generation, job, cancelled);
}

// The peer's view of the end: its fetcher notes the time when it sees the end.
void World::tell_fetch_ended(std::size_t number, std::uint64_t generation, std::uint64_t job, bool cancelled) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  if (peer.generation != generation || found == peer.requests.end()) return;
  Request& request = found->second;
  FetchEnded ended;
  ended.id = job;
  ended.error = cancelled ? FetchError::cancelled : request.answer.error;
  ended.status = cancelled ? 0 : request.answer.status;
  // The fetcher notes it while the loop is busy, but not while the process is stopped.
  ended.ended = peer.skew + (parameters_.max_step > Duration{} ? std::max(request.ended, peer.went_on) : now_);
  if (!cancelled) ended.retry_after = request.answer.retry_after;
  ended.bytes = answer_bytes;
  const bool page_follows = ended.error == FetchError::none;
  if (page_follows) {
    const Duration parse = random_.between(Duration{}, parameters_.max_parse);
    schedule(now_ + parse, [this, number, generation, job] { end_page(number, generation, job); });
    return step(number, std::move(ended));
  }
  Request done = request;
  peer.requests.erase(found);
  if (cancelled) {
    done.over = false;
    tell([&](Checker& checker) { checker.crashed(*this, number, {done}); });
  } else {
    tell([&](Checker& checker) { checker.committed(*this, done); });
    peer.uncommitted = done;
  }
  step(number, std::move(ended));
  peer.uncommitted.reset();
}

PageRead World::page_of(const Request& request) {
  PageRead page;
  std::set<std::string> once;
  std::vector<CanonicalUrl> links;
  for (const std::string& link : request.answer.links) {
    Result<CanonicalUrl> url = CanonicalUrl::parse(link);
    if (url && once.insert(url->text()).second) links.push_back(std::move(*url));
  }
  if (request.answer.redirect)
    if (Result<CanonicalUrl> url = CanonicalUrl::parse(*request.answer.redirect)) page.redirect = std::move(*url);
  if (request.answer.canonical_redirect)
    if (Result<CanonicalUrl> url = CanonicalUrl::parse(*request.answer.canonical_redirect))
      page.canonical_redirect = std::move(*url);
  page.content = request.answer.content;
  page.validator = request.answer.validator;
  if (page.canonical_redirect) ++stats_.faults["a detour"];
  if (links.size() > many_links) ++stats_.faults["a page in pieces"];
  // Any scores will do, as long as a page gives its links the same ones each time.
  std::vector<std::uint8_t> scores;
  if (parameters_.settings.order == CrawlOrder::best && parameters_.settings.best_by == BestBy::topic)
    for (const CanonicalUrl& link : links)
      scores.push_back(static_cast<std::uint8_t>(link.digest()[0] ^ request.url.size()));
  page.listed = listed(request, std::move(links), std::move(scores));
  return page;
}

RobotsRead World::robots_of(const Request& request) const {
  RobotsRead read;
  if (request.answer.status == 200)
    read = read_robots(request.answer.robots_body, "http://" + std::string(request.host), parameters_.settings,
                       Canonicaliser(parameters_.settings));
  if (request.answer.redirect)
    if (Result<CanonicalUrl> url = CanonicalUrl::parse(*request.answer.redirect)) read.redirect = std::move(*url);
  return read;
}

void World::end_page(std::size_t number, std::uint64_t generation, std::uint64_t job) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  if (peer.generation != generation || found == peer.requests.end()) return;
  if (wait_until_it_goes_on(number, [this, number, generation, job] { end_page(number, generation, job); })) return;
  if (found->second.kind == RequestKind::page && found->second.answer.status == 200 && web_.kills(found->second.url))
    return die_of(number, Request(found->second));
  const Request& request = found->second;
  PageDone done;
  done.id = job;
  if (request.kind == RequestKind::page) {
    done.what = page_of(request);
  } else {
    done.what = robots_of(request);
  }
  if (peer.archive_left && (*peer.archive_left)-- == 0) {
    peer.archive_left.reset();
    ++stats_.faults["an answer that could not be archived"];
    done.what = NotWritten{{ErrorCode::io, "an archive that fails"}};
    return count_page(number, job, std::move(done));
  }
  if (parameters_.settings.durability == Durability::power) return archive_page(number, job, std::move(done));
  count_page(number, job, std::move(done));
}

}  // namespace orbweaver::sim
