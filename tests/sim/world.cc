#include "tests/sim/world.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ring/codec.h"
#include "ring/md5.h"

namespace orbweaver::sim {

namespace {

// A loop that asks to be called at once is called after this.
constexpr Duration busy_step{std::chrono::microseconds{100}};
// So many calls in a row that did nothing and ask for another at once are a loop that eats a processor.
constexpr std::uint32_t idle_ticks_max = 300;
constexpr std::string_view ask_route = "ask";

ring::PeerId id_from(const std::string& text) {
  ring::PeerId id;
  id.bytes = ring::md5(text);
  return id;
}

std::uint64_t ring_of(const Peer& core) { return core.own_status()["ring_fingerprint"].get<std::uint64_t>(); }

std::string describe(const Event& event) {
  if (const auto* in = std::get_if<MessageEvent>(&event))
    return std::string(ring::type_name(in->message.body)) + " from " + in->message.from.brief();
  if (const auto* ended = std::get_if<FetchEnded>(&event))
    return "fetch_ended " + std::to_string(ended->id) + " status " + std::to_string(ended->status) + " error " +
           std::to_string(static_cast<int>(ended->error));
  if (const auto* page = std::get_if<PageDone>(&event)) return "page_done " + std::to_string(page->id);
  if (const auto* stop = std::get_if<StopEvent>(&event)) return stop->leave ? "leave" : "stop";
  return "tick";
}

}  // namespace

World::World(Parameters parameters, bool keep_trace)
    : parameters_(std::move(parameters)),
      web_(parameters_.web),
      random_(parameters_.seed ^ 0x5eed),
      checkers_(all_checkers()),
      seeds_(parameters_.seeds(web_)),
      trace_(keep_trace) {
  for (std::size_t i = 0; i < parameters_.peers; ++i) {
    // The first makes the ring; the others join through any earlier one.
    const Duration starts = i == 0 ? Duration{} : random_.between(Duration{}, Duration{std::chrono::seconds{1}});
    const std::size_t peer = add_peer(starts, i == 0 ? std::nullopt : std::optional<std::size_t>(random_.below(i)));
    if (peer == 0 || parameters_.seeds_at_all) peers_[peer].seeds = seeds_;
  }
  for (const Deed& deed : parameters_.deeds) at(deed.at, [this, deed] { deal(deed); });
}

std::size_t World::add_peer(Duration starts, std::optional<std::size_t> join,
                            const std::function<void(LoadedSettings&)>& tweak) {
  const std::size_t number = peers_.size();
  SimPeer peer;
  peer.number = number;
  peer.address = "10.0.0." + std::to_string(number + 1) + ":7400";
  peer.settings.values = parameters_.settings;
  const auto ring_wide = ring_wide_settings(parameters_.settings);
  if (join && random_.chance(500)) {
    // Knows nothing of the crawl and takes the ring's values.
    if (!apply_ring_wide(peer.settings.values, ring_wide_settings(default_settings())))
      fail("world", "default settings");
  } else {
    for (const auto& [name, value] : ring_wide) peer.settings.given[name] = "flag --" + name;
  }
  if (join) peer.settings.values.join = {peers_[*join].address};
  if (tweak) tweak(peer.settings);
  peer.kv = std::make_unique<storage::MemoryKv>();
  by_address_[peer.address] = number;
  peers_.push_back(std::move(peer));
  at(starts, [this, number] { start(number); });
  return number;
}

void World::at(Duration since, std::function<void()> what) { schedule(start_ + since, std::move(what)); }

void World::deal(const Deed& deed) {
  if (ending_ || !failures_.empty()) return;
  switch (deed.kind) {
    case Deed::Kind::crash:
      return crash(deed.peer, deed.down);
    case Deed::Kind::crash_all:
      for (SimPeer& peer : peers_) crash(peer.number, deed.down + busy_step * static_cast<int>(peer.number));
      return;
    case Deed::Kind::stop:
      return stop(deed.peer, deed.down);
    case Deed::Kind::leave:
      return leave(deed.peer);
    case Deed::Kind::join:
      return start(deed.peer);
  }
}

// ---- peers ----

void World::start(std::size_t number) {
  SimPeer& peer = peers_[number];
  if (peer.standing == Standing::up || peer.standing == Standing::gone) return;
  if (peer.standing == Standing::absent && ending_) {
    peer.standing = Standing::gone;  // too late to join
    return;
  }
  auto store = storage::Store::open(*peer.kv);
  if (!store)
    return fail("world", "peer " + std::to_string(number) + " cannot open its store: " + store.error().message);
  peer.store = std::make_unique<storage::Store>(std::move(*store));
  ++peer.life;
  PeerStart begin;
  begin.settings = peer.settings;
  begin.address = peer.address;
  const std::string salt = std::to_string(parameters_.seed) + "/" + std::to_string(number);
  begin.fresh_id = id_from("peer" + salt);
  begin.fresh_ring = id_from("ring" + salt);
  begin.random_seed = random_.next();
  begin.seeds = peer.seeds;
  begin.wait_for_peers = parameters_.peers;
  auto core = Peer::open(std::move(begin), *peer.store, now_);
  if (!core) return fail("world", "peer " + std::to_string(number) + " cannot start: " + core.error().message);
  peer.core = std::move(*core);
  peer.standing = Standing::up;
  peer.cancelled = false;
  peer.wake.reset();
  peer.idle_ticks = 0;
  note("peer " + std::to_string(number) + " starts as " + peer.core->id().brief() + ", life " +
       std::to_string(peer.life));
  peer.ring = ring_of(*peer.core);
  step(number, TickEvent{});
}

// Everything in memory is gone; servers see their connections close.
void World::take_down(std::size_t number) {
  SimPeer& peer = peers_[number];
  std::vector<Request> open;
  for (auto& [job, request] : peer.requests) {
    if (!request.over) {
      request.ended = now_;
      tell([&](Checker& checker) { checker.request_ended(*this, request, true); });
    }
    open.push_back(request);
  }
  peer.requests.clear();
  peer.core.reset();
  peer.store.reset();
  peer.standing = Standing::down;
  peer.wake.reset();
  if (!open.empty()) tell([&](Checker& checker) { checker.crashed(*this, number, open); });
}

void World::crash(std::size_t number, std::optional<Duration> restart_after) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up) return;
  note("peer " + std::to_string(number) + " crashes with " + std::to_string(peer.requests.size()) + " in flight");
  ++stats_.crashes;
  take_down(number);
  if (restart_after) schedule(now_ + *restart_after, [this, number] { start(number); });
}

void World::stop(std::size_t number, std::optional<Duration> restart_after) {
  if (peers_[number].standing != Standing::up) return;
  peers_[number].restart_after = restart_after;
  step(number, StopEvent{false});
}

void World::leave(std::size_t number) {
  if (peers_[number].standing != Standing::up) return;
  peers_[number].leaving = true;
  step(number, StopEvent{true});
}

void World::ask(std::size_t number, const std::string& verb, const std::string& body) {
  if (peers_[number].standing != Standing::up) return fail("world", "asked a peer that is not up");
  ring::Message message;
  message.body = ring::Ask{1, verb, body, true};
  step(number, MessageEvent{std::move(message), {std::string(ask_route)}});
}

void World::exited(std::size_t number, const Exit& exit) {
  SimPeer& peer = peers_[number];
  note("peer " + std::to_string(number) + " exits with " + std::to_string(exit.code) + ": " + exit.message);
  peer.exit = exit;
  tell([&](Checker& checker) { checker.exited(*this, number, exit); });
  take_down(number);
  peer.standing = Standing::gone;
  if (peer.restart_after && exit.code == 0 && !exit.finished) {
    peer.standing = Standing::down;
    schedule(now_ + *peer.restart_after, [this, number] { start(number); });
  }
  peer.restart_after.reset();
}

// ---- one step ----

void World::step(std::size_t number, Event event) {
  SimPeer& peer = peers_[number];
  if (peer.standing != Standing::up || !failures_.empty()) return;
  ++stats_.steps;
  const bool tick = std::holds_alternative<TickEvent>(event);
  std::string line = "p" + std::to_string(number) + " " + describe(event);
  Commands commands;
  peer.core->step(now_, std::move(event), commands);
  note(line + " -> " + std::to_string(commands.size()));
  peer.counts = peer.store->held();
  for (Command& command : commands) {
    if (const auto* exit = std::get_if<Exit>(&command)) return exited(number, *exit);
    carry_out(number, command);
  }
  if (peer.core->stopping() && !peer.cancelled) {
    peer.cancelled = true;
    for (const auto& [job, request] : peer.requests)
      if (!request.over)
        schedule(now_, [this, number, life = peer.life, id = job] { end_fetch(number, life, id, true); });
  }
  const bool again_at_once = tick && commands.empty() && peer.core->next_deadline(now_) <= now_;
  peer.idle_ticks = again_at_once ? peer.idle_ticks + 1 : 0;
  if (peer.idle_ticks > idle_ticks_max)
    fail("busy", "peer " + std::to_string(number) + " asks to be called again and again and does nothing");
  set_wake(number);
  tell([&](Checker& checker) { checker.stepped(*this, number); });
}

void World::set_wake(std::size_t number) {
  SimPeer& peer = peers_[number];
  const Time deadline = std::max(peer.core->next_deadline(now_), now_ + busy_step);
  if (peer.wake == deadline) return;
  peer.wake = deadline;
  schedule(deadline, [this, number, life = peer.life, deadline] {
    SimPeer& woken = peers_[number];
    if (woken.life != life || woken.wake != deadline) return;
    woken.wake.reset();
    step(number, TickEvent{});
  });
}

void World::carry_out(std::size_t number, Command& command) {
  if (const auto* fetch = std::get_if<StartFetch>(&command)) {
    start_fetch(number, *fetch);
  } else if (const auto* sent = std::get_if<SendMessage>(&command)) {
    const auto to = by_address_.find(sent->address);
    if (to != by_address_.end()) post(number, to->second, std::nullopt, sent->message);
  } else if (const auto* reply = std::get_if<ReplyMessage>(&command)) {
    if (reply->path.route == ask_route) {
      if (const auto* answer = std::get_if<ring::Answer>(&reply->message.body)) answers_.push_back(answer->body);
      return;
    }
    const std::size_t colon = reply->path.route.find(':');
    post(number, std::stoul(reply->path.route.substr(0, colon)), std::stoull(reply->path.route.substr(colon + 1)),
         reply->message);
  } else if (const auto* said = std::get_if<Note>(&command)) {
    std::string text = "  p" + std::to_string(number) + " says: " + std::string(said->event);
    for (const auto& [key, value] : said->fields) text += " " + std::string(key) + "=" + value;
    note(text);
    if (said->event == "owners changed") {
      peers_[number].ring = ring_of(*peers_[number].core);
      if (crawling_) ++stats_.owners_changed;
      tell([&](Checker& checker) { checker.owners_changed(*this, number); });
    }
    if (said->event == "message refused" || said->event == "join refused") ++stats_.messages_refused;
  }
}

// ---- fetches ----

void World::start_fetch(std::size_t number, const StartFetch& fetch) {
  SimPeer& peer = peers_[number];
  crawling_ = true;
  for (const SimPeer& other : peers_)
    if (other.standing == Standing::up && other.ring != peer.ring) views_differed_ = true;
  ++stats_.requests;
  Request request;
  request.peer = number;
  request.job = fetch.job.id;
  request.kind = fetch.job.kind;
  request.url = fetch.job.url.text();
  request.host = host_in(request.url);
  request.begun = now_;
  request.answer = web_.answer(request.url, tries_[request.url]++);
  request.ended = now_ + request.answer.takes;
  note("  p" + std::to_string(number) + " fetches " + request.url + " job " + std::to_string(request.job));
  const auto [at, added] = peer.requests.emplace(request.job, request);
  if (!added) return fail("world", "job " + std::to_string(request.job) + " was started twice");
  tell([&](Checker& checker) { checker.request_begun(*this, at->second); });
  schedule(request.ended, [this, number, life = peer.life, job = request.job] { end_fetch(number, life, job, false); });
}

void World::end_fetch(std::size_t number, std::uint64_t life, std::uint64_t job, bool cancelled) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  if (peer.life != life || found == peer.requests.end() || found->second.over) return;
  Request& request = found->second;
  request.over = true;
  request.ended = now_;
  FetchEnded ended;
  ended.id = job;
  ended.error = cancelled ? FetchError::cancelled : request.answer.error;
  ended.status = cancelled ? 0 : request.answer.status;
  ended.ended = now_;
  if (!cancelled) ended.retry_after = request.answer.retry_after;
  ended.bytes = 1000;
  tell([&](Checker& checker) { checker.request_ended(*this, request, cancelled); });
  const bool page_follows = ended.error == FetchError::none;
  if (page_follows) {
    const Duration parse = random_.between(Duration{}, parameters_.parse_max);
    schedule(now_ + parse, [this, number, life, job] { end_page(number, life, job); });
    return step(number, std::move(ended));
  }
  Request done = request;
  peer.requests.erase(found);
  if (cancelled) {
    done.over = false;
    tell([&](Checker& checker) { checker.crashed(*this, number, {done}); });
  } else {
    tell([&](Checker& checker) { checker.committed(*this, done); });
  }
  step(number, std::move(ended));
}

void World::end_page(std::size_t number, std::uint64_t life, std::uint64_t job) {
  SimPeer& peer = peers_[number];
  const auto found = peer.requests.find(job);
  if (peer.life != life || found == peer.requests.end()) return;
  const Request request = std::move(found->second);
  peer.requests.erase(found);
  PageDone page;
  page.id = job;
  std::set<std::string> once;
  for (const std::string& link : request.answer.links) {
    Result<CanonicalUrl> url = CanonicalUrl::parse(link);
    if (url && once.insert(url->text()).second) page.links.push_back(std::move(*url));
  }
  if (request.answer.redirect)
    if (Result<CanonicalUrl> url = CanonicalUrl::parse(*request.answer.redirect)) page.redirect = std::move(*url);
  page.robots_body = request.answer.robots_body;
  tell([&](Checker& checker) { checker.committed(*this, request); });
  step(number, std::move(page));
}

// ---- network ----

void World::post(std::size_t from, std::size_t to, std::optional<std::uint64_t> only_life,
                 const ring::Message& message) {
  const std::string bytes = ring::encode(message);
  if (std::holds_alternative<ring::Finish>(message.body)) ending_ = true;
  tell([&](Checker& checker) { checker.message_sent(*this, from, to, message); });
  ++stats_.messages;
  stats_.message_bytes += bytes.size();
  const NetworkConfig& network = faults_over() ? parameters_.healed : parameters_.network;
  if (random_.chance(network.loss)) {
    ++stats_.messages_lost;
    return note("  lost: " + std::string(ring::type_name(message.body)) + " from p" + std::to_string(from) + " to p" +
                std::to_string(to));
  }
  const int copies = random_.chance(network.doubled) ? 2 : 1;
  for (int copy = 0; copy < copies; ++copy) {
    Time arrives = now_ + random_.between(network.delay_min, network.delay_max);
    if (random_.chance(network.reordered)) {
      arrives += random_.between(Duration{}, network.late_max);
    } else {
      Time& last = link_[{from, to}];
      arrives = last = std::max(arrives, last);
    }
    schedule(arrives, [this, from, life = peers_[from].life, to, only_life, bytes] {
      deliver(from, life, to, only_life, bytes);
    });
  }
}

void World::deliver(std::size_t from, std::uint64_t from_life, std::size_t to, std::optional<std::uint64_t> only_life,
                    const std::string& bytes) {
  SimPeer& peer = peers_[to];
  if (peer.standing != Standing::up || (only_life && *only_life != peer.life)) return;
  ring::Result<ring::Message> message = ring::decode(bytes);
  if (!message) return fail("wire", "a peer's own message cannot be decoded: " + message.error().message);
  tell([&](Checker& checker) { checker.message_arrived(*this, from, to, *message); });
  step(to, MessageEvent{std::move(*message), {std::to_string(from) + ":" + std::to_string(from_life)}});
}

// ---- the run ----

void World::fail(std::string_view checker, const std::string& what) {
  failures_.push_back(std::string(checker) + ": " + what);
  note("FAILED " + failures_.back());
}

bool World::run(Duration until) {
  while (failures_.empty() && !events_.empty() && events_.begin()->first.first <= start_ + until) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
  }
  if (failures_.empty()) now_ = std::max(now_, start_ + until);
  return failures_.empty();
}

bool World::run_to_end() {
  const auto over = [&] {
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const SimPeer& peer) { return peer.standing == Standing::gone; });
  };
  while (failures_.empty() && !events_.empty() && since_start() < parameters_.time_max && !over()) {
    auto next = events_.extract(events_.begin());
    now_ = next.key().first;
    next.mapped()();
  }
  if (failures_.empty() && !over()) {
    std::string standing;
    for (const SimPeer& peer : peers_) {
      standing += "\n  peer " + std::to_string(peer.number) + ": ";
      standing += peer.core == nullptr ? "not up" : peer.core->own_status().dump();
    }
    fail("ends", "the crawl has not ended after " + duration_text(since_start()) + standing);
  }
  if (failures_.empty()) tell([&](Checker& checker) { checker.ended(*this); });
  return failures_.empty();
}

}  // namespace orbweaver::sim
