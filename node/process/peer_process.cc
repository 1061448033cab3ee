#include "node/process/peer_process.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <unordered_map>

#include "node/control/peer_pages.h"
#include "node/crawl/outside_json.h"
#include "node/errors/storage_error.h"
#include "node/fetch/fetcher_config.h"
#include "node/http/http_message.h"
#include "node/peer/core.h"
#include "node/process/announcer.h"
#include "node/process/directory_lock.h"
#include "node/process/event_queue.h"
#include "node/process/fetch_ended.h"
#include "node/process/gap_watch.h"
#include "node/process/in_flight.h"
#include "node/process/journal_sync.h"
#include "node/process/link_recorder.h"
#include "node/process/log.h"
#include "node/process/message_intake.h"
#include "node/process/metrics.h"
#include "node/process/open_files.h"
#include "node/process/open_transport.h"
#include "node/process/peer_file.h"
#include "node/process/peer_memory.h"
#include "node/process/peer_notices.h"
#include "node/process/process_facts.h"
#include "node/process/snapshot_saver.h"
#include "node/process/workers.h"
#include "node/scope/scope_lists.h"
#include "node/sitemap/sitemap.h"
#include "node/system/clock.h"
#include "node/system/memory_available.h"
#include "node/system/out_of_memory.h"
#include "node/system/private_file.h"
#include "node/system/thread_start.h"
#include "node/terminal/say.h"
#include "ring/codec.h"
#include "ring/zmq_transport.h"
#include "storage/append_directory.h"
#include "storage/rocks_kv.h"

namespace orbweaver {

namespace {

// How often the process looks after itself, and tells its terminal what is new.
constexpr Duration look_every = std::chrono::milliseconds{250};
// How long fetches in flight may continue after a stop.
constexpr std::chrono::milliseconds stop_patience{3000};
// The approximate memory of a kept connection with TLS.
constexpr std::uint64_t connection_bytes = 32u << 10;

ring::PeerId random_id() {
  std::random_device device;
  ring::PeerId id;
  for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(device());
  return id;
}

class PeerProcess {
 public:
  explicit PeerProcess(PeerOptions options)
      : options_(std::move(options)), events_(plan_memory(options_.settings.values, memory_of_machine()).messages_in) {}

  Result<Exit> run() {
    if (Result<void> opened = open(); !opened) {
      tell_end({static_cast<int>(opened.error().code), opened.error().message, false, {}});
      end_notices(notifier_.get());
      return tl::make_unexpected(opened.error());
    }
    Exit exit = loop();
    release_rest(exit);
    tell_end(exit);
    close();
    const Result<void> written = write_ending(exit);
    end_notices(notifier_.get());
    if (!written && exit.code == 0) return tl::make_unexpected(written.error());
    return exit;
  }
  // From any thread. A second signal turns a leave into a stop.
  void stop(bool leave) {
    const bool first = !std::exchange(signalled_, true);
    // The loop itself may be waiting for a descriptor.
    if (!leave || !first) opener_->stop_in(stop_patience);
    events_.push(StopEvent{leave && first});
  }

 private:
  Result<void> open();
  // For other peers.
  std::string address() const {
    const std::string& advertised = options_.settings.values.advertise;
    return advertised.empty() ? transport_->listen_address() : advertised;
  }
  Result<void> write_peer_file();
  Result<void> write_ending(const Exit& exit);
  void tell_end(const Exit& exit);
  Result<void> start_crawling();
  bool crawls(Exit& exit);
  void fetch_done(FetchResponse response);
  Exit loop();
  bool carry_out(Command& command, Exit& exit);
  bool release(Result<Commands> held, Exit& exit);
  void release_rest(Exit& exit);
  void look(Time now);
  void publish(Time now);
  static void announce(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) complain("%s", line.c_str());
  }
  void close();

  bool signalled_ = false;  // by a signal to end; used only by the signals' thread
  PeerOptions options_;
  Clock clock_;
  std::optional<DirectoryLock> lock_;
  DescriptorPlan descriptors_;
  const std::unique_ptr<storage::OpenWaiter> opener_ = make_open_waiter([this] { return in_flight_.get(); });
  // Events return their memory to it when they are destroyed, so it is declared before them and outlives them.
  std::optional<PeerMemory> memory_;
  std::unique_ptr<InFlight> in_flight_;
  std::unique_ptr<storage::Kv> kv_;
  std::optional<storage::Store> store_;
  EventQueue events_;
  std::optional<JournalSync> journal_;  // under durability = power
  MessageIntake intake_{events_};
  std::unique_ptr<ring::ZmqTransport> transport_;
  std::unique_ptr<Core> peer_;
  std::unique_ptr<Notifier> notifier_;  // null: nobody is told; the workers tell it of files
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<CurlFetcher> fetcher_;
  LinkRecorder link_recorder_;
  SnapshotSaver snapshot_saver_{options_.directory};
  std::optional<Announcer> announcer_;
  std::mutex jobs_mutex_;
  std::unordered_map<std::uint64_t, FetchJob> jobs_;  // in flight at the fetcher
  GapWatch gaps_;
  StatusBoard board_{[this] { return clock_.now(); }, [this] { events_.push(TickEvent{}); }};
  OwnDoor own_door_{[this](ring::Message question, ring::ReplyPath reply) {
    const std::size_t bytes = ring::memory_bytes(question);
    return events_.push_message({std::move(question), std::move(reply)}, bytes);
  }};
  std::optional<HttpPort> http_;  // asks the board and the door
};

Result<void> PeerProcess::write_peer_file() {
  return orbweaver::write_peer_file(options_.directory,
                                    {peer_->id().hex(), peer_->ring_id().hex(), transport_->listen_address(),
                                     http_->address(), options_.settings.values.ring_key_file, ::getpid()},
                                    options_.settings.values.durability, opener_.get());
}

Result<void> PeerProcess::write_ending(const Exit& exit) {
  const nlohmann::json file = {{"finished", exit.finished},
                               {"code", exit.code},
                               {"reason", exit.message},
                               {"totals", exit.totals},
                               {"status", peer_->own_status()}};
  return write_whole(options_.directory + "/ended.json",
                     file.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                     options_.settings.values.durability, opener_.get());
}

Result<void> PeerProcess::open() {
  Settings& settings = options_.settings.values;
  set_data_access(settings.data_access);
  auto lock = DirectoryLock::take(options_.directory, settings.data_access);
  if (!lock) return tl::make_unexpected(lock.error());
  lock_.emplace(std::move(*lock));
  for (const char* name : {"archive", "links", "log", "store", "text"})
    if (Result<void> closed = close_directory(options_.directory + "/" + name, settings.data_access); !closed)
      return closed;
  std::error_code made;
  std::filesystem::create_directories(options_.directory + "/log", made);
  if (made) return fail(ErrorCode::io, "cannot make the directory " + options_.directory + "/log: " + made.message());
  if (Result<void> started = start_log(log_config(settings, options_.directory, options_.log_to_stderr)); !started)
    return started;
  const Result<DescriptorPlan> descriptors = plan_open_files(settings);
  if (!descriptors) return tl::make_unexpected(descriptors.error());
  descriptors_ = *descriptors;
  settings.max_fetches = descriptors_.max_fetches;
  std::error_code ignored;  // of removing an old file, or none
  std::filesystem::remove(options_.directory + "/ended.json", ignored);
  if (Result<void> room = check_room_to_open(options_.directory); !room) return room;
  if (Result<void> fits = check_large_tables(settings); !fits) return fits;
  memory_.emplace(options_.settings);
  auto in_flight =
      InFlight::open(options_.directory + "/at-work", std::size_t{settings.max_fetches} + settings.workers);
  if (!in_flight) return tl::make_unexpected(in_flight.error());
  in_flight_ = std::move(*in_flight);
  auto kv = storage::open_rocks({.directory = options_.directory + "/store",
                                 .cache_bytes = settings.max_storage_memory,
                                 .write_buffer_bytes = write_buffer_bytes(memory_->plan()),
                                 .max_open_files = static_cast<int>(descriptors_.store_files),
                                 .waiter = opener_.get()});
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  kv_ = std::move(*kv);
  if (settings.durability == Durability::power)
    if (const auto synced = storage::sync_directories_to(options_.directory); !synced)
      return tl::make_unexpected(error_of(synced.error()));
  auto store = storage::Store::open(*kv_);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  store_.emplace(std::move(*store));
  auto transport = open_transport(
      settings, options_.directory, options_.ring_secret,
      {descriptors_.unknown_connections,
       static_cast<std::size_t>(memory_->plan().messages_out / (settings.durability == Durability::power ? 4 : 2))},
      [this](const std::string& bytes, ring::ReplyPath reply) { intake_.take(bytes, std::move(reply)); });
  if (!transport) return tl::make_unexpected(transport.error());
  transport_ = std::move(*transport);
  PeerStart start;
  start.settings = options_.settings;
  start.address = address();
  if (start.address.starts_with("0.0.0.0:") || start.address.starts_with("[::]:"))
    return fail(ErrorCode::invalid_setting,
                "listen is " + start.address +
                    ", which others cannot connect to; name an address that they can reach: --advertise ADDR:PORT");
  start.fresh_id = random_id();
  start.fresh_ring = random_id();
  start.random_seed = std::random_device{}();
  start.seeds = options_.seeds;
  start.wait_for_peers = options_.wait_for_peers;
  start.recrawl = options_.recrawl;
  start.memory = memory_->plan();
  start.at_work = in_flight_->left();
  if (!start.at_work.empty())
    log(LogLevel::warning, "node", "the last process died at work; these pages are tried once more",
        {{"pages", start.at_work.size()}});
  auto peer = Core::open(std::move(start), *store_, clock_.now());
  if (!peer) return tl::make_unexpected(peer.error());
  peer_ = std::move(*peer);
  if (settings.durability == Durability::power) {
    journal_.emplace(*kv_, JournalSync::Bounds{memory_->plan().messages_out / 4, settings.max_fetches},
                     [this] { events_.push(TickEvent{}); });
    if (Result<void> started = journal_->start(); !started) return started;
    if (const auto synced = journal_->finish(); !synced) return tl::make_unexpected(synced.error());
  }
  in_flight_->clear();  // the store has recorded them by now
  auto notifier = start_notifier(
      settings, options_.directory, [this] { return clock_.now(); },
      [this] {
        return NoticeSource{peer_->ring_id().hex(), peer_->id().hex(), address()};
      },
      [this] { return peer_->own_status(); });
  if (!notifier) return tl::make_unexpected(notifier.error());
  notifier_ = std::move(*notifier);
  look(clock_.now());
  publish(clock_.now());
  if (Result<void> open = open_http_port(http_, settings, options_.directory, board_, own_door_); !open) return open;
  log(LogLevel::info, "node", "peer started",
      {{"id", peer_->id().hex()},
       {"address", transport_->listen_address()},
       {"status", http_->address()},
       {"directory", options_.directory}});
  if (options_.announce) {
    announcer_.emplace();
    announce(announcer_->start({.address = address(),
                                .status_address = http_->address(),
                                .directory = options_.directory,
                                .join = settings.join},
                               peer_->own_status(), clock_.now()));
  }
  if (options_.ring_secret.empty()) {
    log(LogLevel::warning, "node", "no ring key: every user of this machine may command this peer and join its ring");
    if (options_.announce)
      complain(
          "no ring key: every user of this machine may command this peer and join its ring. Make a key for all its "
          "peers: orbweaver ring-key FILE; and give it to each: --ring-key-file FILE");
  }
  if (const storage::SeenFilter* filter = store_->filter())
    log(LogLevel::info, "node", "seen-set behind a Bloom filter",
        {{"urls", settings.seen_urls},
         {"false_positives", settings.seen_false_positives},
         {"memory", bytes_text(filter->memory_bytes())},
         {"hashes", filter->hashes()},
         {"filled_with", filter->entries()}});
  // Repairs archives that an earlier run left open now, not at the first fetch: there may be no fetch.
  if (peer_->has_ring())
    if (Result<void> started = start_crawling(); !started) return started;
  return write_peer_file();
}

void PeerProcess::tell_end(const Exit& exit) {
  if (!notifier_) return;
  if (exit.finished) notifier_->tell("crawl_ended", {{"reason", exit.message}, {"totals", exit.totals}});
  if (exit.code != 0) notifier_->tell("peer_failed", {{"reason", exit.message}, {"code", exit.code}});
}

// The fetcher and the workers need the ring's settings. A joining peer learns them first, so it starts both with its
// first fetch.
Result<void> PeerProcess::start_crawling() {
  const Settings& settings = peer_->settings();
  WorkersConfig workers;
  workers.settings = settings;
  workers.archive_dir = options_.directory + "/archive";
  workers.text_dir = options_.directory + "/text";
  workers.name_prefix = "orbweaver-" + peer_->ring_id().brief() + "-" + peer_->id().brief();
  workers.decoded = memory_->share("decoded");
  workers.links = memory_->share("links");
  workers.in_flight = in_flight_.get();
  workers.waiter = opener_.get();
  workers.archive_finished = [this](const std::string& path, std::uint64_t bytes) {
    if (notifier_) notifier_->note_file(path, bytes);
  };
  auto started = Workers::start(workers, clock_, [this](PageDone page) { events_.push(std::move(page)); });
  if (!started) return tl::make_unexpected(started.error());
  workers_ = std::move(*started);
  if (settings.record_links)
    if (Result<void> opened = link_recorder_.open(*peer_, options_.directory + "/links", opener_.get()); !opened)
      return opened;
  Result<CurlFetcherConfig> made = fetcher_config(settings);
  if (!made) return tl::make_unexpected(made.error());
  CurlFetcherConfig config = std::move(*made);
  config.bodies = memory_->share("bodies");
  config.max_idle_connections =
      std::min<std::size_t>(descriptors_.kept_connections, memory_->plan().base / 2 / connection_bytes);
  config.record_requests = settings.archive != ArchiveKind::off;
  if (!names_contact(settings.user_agent, settings.contact)) config.guard.refuse_public();
  if (!settings.content_types_allow.empty() || !settings.content_types_deny.empty())
    config.wanted_type = [settings](std::string_view header) {
      const std::string type = media_type(header);
      return content_type_wanted(settings, type) || (settings.sitemaps != SitemapUse::off && may_be_sitemap(type));
    };
  config.clock = [this] { return clock_.now(); };
  auto fetcher =
      CurlFetcher::create(std::move(config), [this](FetchResponse response) { fetch_done(std::move(response)); });
  if (!fetcher) return tl::make_unexpected(fetcher.error());
  fetcher_ = std::move(*fetcher);
  return {};
}

// Runs on the fetcher's thread.
void PeerProcess::fetch_done(FetchResponse response) {
  std::optional<FetchJob> job;
  {
    const std::lock_guard guard(jobs_mutex_);
    if (const auto found = jobs_.find(response.id); found != jobs_.end()) {
      job.emplace(std::move(found->second));
      jobs_.erase(found);
    }
  }
  if (!job) return;
  judge_gap(gaps_, *job, response);
  FetchEnded ended = ended_of(response);
  const bool page_follows = ended.error == FetchError::none;
  events_.push(std::move(ended));
  if (page_follows) workers_->push(std::move(*job), std::move(response));
}

void PeerProcess::look(Time now) {
  link_recorder_.tell(*peer_);
  std::map<std::string_view, std::uint64_t> used = peer_->memory_use();
  used["storage"] = kv_->memory_bytes();
  used["messages_in"] = events_.message_bytes();
  used["messages_out"] += transport_->stats().waiting_bytes + (journal_ ? journal_->held_bytes() : 0);
  ProcessUse use = process_use(options_.directory, now);
  use.gaps = gaps_.seen();
  peer_->note_use(memory_->look(std::move(used)), use);
  board_.note_look(now);
}

void PeerProcess::publish(Time now) {
  const ring::TransportStats transport = transport_->stats();
  nlohmann::json status = peer_->own_status();
  status["published_us"] = now.time_since_epoch().count();  // readers may get it up to StatusBoard::fresh later
  status["counts"]["messages_malformed"] = intake_.malformed() + transport.malformed;
  status["counts"]["messages_dropped"] = events_.dropped();
  status["counts"]["message_bytes_waiting"] = events_.message_bytes();
  if (announcer_) announce(announcer_->update(status, now));
  auto values = peer_->metrics();
  values.emplace_back("messages_malformed_total", static_cast<double>(intake_.malformed() + transport.malformed));
  values.emplace_back("messages_dropped_total", static_cast<double>(events_.dropped()));
  values.emplace_back("message_bytes_waiting", static_cast<double>(events_.message_bytes()));
  values.emplace_back("connections_opened_total", static_cast<double>(fetcher_ ? fetcher_->connections_opened() : 0));
  values.emplace_back("dns_queries_total", static_cast<double>(fetcher_ ? fetcher_->dns_queries() : 0));
  values.emplace_back("descriptor_waits_total",
                      static_cast<double>(opener_->waits() + (fetcher_ ? fetcher_->descriptor_waits() : 0)));
  values.emplace_back("archive_syncs_total", static_cast<double>(workers_ ? workers_->syncs() : 0));
  values.emplace_back("archive_synced_pages_total", static_cast<double>(workers_ ? workers_->synced_pages() : 0));
  Notifier::add_metrics(notifier_.get(), values);
  add_transport(transport, values);
  add_process_metrics(process_use(options_.directory, now), values);
  board_.show(json_text(status), metrics_text(values), now);
}

// False: the crawl cannot start, and the peer ends.
bool PeerProcess::crawls(Exit& exit) {
  if (fetcher_ != nullptr) return true;
  const Result<void> started = start_crawling();
  if (!started) exit = Exit{static_cast<int>(started.error().code), started.error().message, false, {}};
  return started.has_value();
}

bool PeerProcess::carry_out(Command& command, Exit& exit) {
  if (auto* fetch = std::get_if<StartFetch>(&command)) {
    if (!crawls(exit)) return false;
    const Settings& settings = peer_->settings();
    FetchRequest request{.id = fetch->job.id, .url = fetch->job.url, .cookies = std::move(fetch->cookies)};
    if (const PageFetch* const page = fetch->job.page()) {
      const bool tag = page->validator.starts_with('"') || page->validator.starts_with("W/");
      (tag ? request.if_none_match : request.if_modified_since) = page->validator;
      request.max_body_bytes = static_cast<std::size_t>(settings.max_body_bytes);
    } else {
      request.any_type = true;
      request.timeout = settings.robots_timeout;
      request.max_body_bytes = max_robots_bytes;
    }
    {
      const std::lock_guard guard(jobs_mutex_);
      jobs_.emplace(request.id, std::move(fetch->job));
    }
    fetcher_->start(std::move(request));
  } else if (auto* stored = std::get_if<ParseRobots>(&command)) {
    if (!crawls(exit)) return false;
    FetchResponse response;
    response.body = std::move(stored->body);
    workers_->push(std::move(stored->job), std::move(response));
  } else if (auto* resolve = std::get_if<ResolveHost>(&command)) {
    if (!crawls(exit)) return false;
    fetcher_->resolve(std::move(resolve->name), resolve->port, [this, host = resolve->host](std::string address) {
      events_.push(HostResolved{host, std::move(address)});
    });
  } else if (auto* send = std::get_if<SendMessage>(&command)) {
    transport_->send(send->address, ring::encode(send->message));
  } else if (auto* anew = std::get_if<ConnectAnew>(&command)) {
    transport_->begin_anew(anew->address);
  } else if (auto* reply = std::get_if<ReplyMessage>(&command)) {
    if (!own_door_.take(reply->path, reply->message.body)) transport_->reply(reply->path, ring::encode(reply->message));
  } else if (auto* note = std::get_if<LogEntry>(&command)) {
    if (notifier_) notifier_->note(*note);
    std::vector<LogField> fields;
    for (const auto& [key, value] : note->fields) fields.emplace_back(key, std::string_view(value));
    const std::span<const LogField> view(fields);
    if (note->limited) {
      log_limited(note->level, note->channel, note->event, view);
    } else {
      log(note->level, note->channel, note->event, view);
    }
  } else if (auto* links = std::get_if<RecordLinks>(&command)) {
    if (const Result<void> recorded = link_recorder_.record(links->page); !recorded) {
      exit = Exit{static_cast<int>(recorded.error().code), recorded.error().message, false, {}};
      return false;
    }
  } else if (const auto* checkpoint = std::get_if<MakeCheckpoint>(&command)) {
    snapshot_saver_.begin(*kv_, checkpoint->snapshot, [this](Event event) { events_.push(std::move(event)); });
  } else if (auto* ending = std::get_if<Exit>(&command)) {
    exit = std::move(*ending);
    return false;
  }
  return true;
}

// False: the peer ends.
bool PeerProcess::release(Result<Commands> held, Exit& exit) {
  if (!held) {
    exit = Exit{static_cast<int>(held.error().code), held.error().message, false, {}};
    return false;
  }
  return std::all_of(held->begin(), held->end(), [&](Command& command) { return carry_out(command, exit); });
}

// What it said last. A peer whose disk failed says nothing more.
void PeerProcess::release_rest(Exit& exit) {
  if (!journal_) return;
  Result<Commands> held = journal_->finish();
  if (held) std::erase_if(*held, [](const Command& command) { return std::holds_alternative<StartFetch>(command); });
  if (Exit failed; !release(std::move(held), failed) && exit.code == 0) exit = std::move(failed);
}

Exit PeerProcess::loop() {
  Exit exit;
  Commands commands;
  Time next_look{};
  bool cancelled = false;
  std::optional<Time> stop_at;
  for (;;) {
    Time now = clock_.now();
    const Duration until = peer_->next_deadline(now) - now;
    std::deque<Event> events = events_.wait(until);
    if (events.empty() || until <= Duration{}) events.emplace_back(TickEvent{});
    for (Event& event : events) {
      commands.clear();
      now = clock_.now();
      if (auto* page = std::get_if<PageDone>(&event)) page->mark.at_work();
      const auto ended = JournalSync::ended_by(event);
      peer_->step(now, std::move(event), commands);
      if (journal_ && ended) journal_->note_ended(*ended);
      for (Command& command : commands)
        if (!(journal_ && journal_->holds(command)) && !carry_out(command, exit)) return exit;
    }
    events.clear();
    events_.handled();
    if (journal_ && !release(journal_->take(), exit)) return exit;
    // Fetches in flight may end by themselves, so a clean stop repeats no request; but one may also never end.
    if (peer_->stopping() && !stop_at) stop_at = now + stop_patience;
    if (stop_at) opener_->stop_in(stop_patience);  // counted from the first stop
    if (stop_at && now >= *stop_at && !cancelled && fetcher_ != nullptr) {
      cancelled = true;
      if (journal_ && !release(journal_->finish(), exit)) return exit;
      fetcher_->stop();  // answers with `cancelled` for all fetches in flight
      workers_->cancel();
    }
    if (now >= next_look) {
      next_look = now + look_every;
      if (!lock_->still_there())
        return Exit{static_cast<int>(ErrorCode::io),
                    "the data directory " + options_.directory +
                        " was removed; other peers have the other copies of its records",
                    false,
                    {}};
      look(now);
      if (announcer_) publish(now);
    }
    if (board_.take_asked()) publish(now);
  }
}

void PeerProcess::close() {
  own_door_.close();
  http_.reset();
  opener_->stop_in({});
  snapshot_saver_.stop();
  if (fetcher_ != nullptr) fetcher_->stop();
  if (workers_ != nullptr)
    if (const Result<void> closed = workers_->stop(); !closed)
      log(LogLevel::error, "storage", "archive not closed", {{"cause", closed.error().message}});
  link_recorder_.close();
  if (peer_ != nullptr) link_recorder_.tell(*peer_);
  if (transport_ != nullptr) transport_->stop();
  if (in_flight_ != nullptr) in_flight_->close();
}

}  // namespace

int run_peer(PeerOptions options) {
  end_when_out_of_memory();
  // One thread waits for signals; all other threads block them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR2);  // ends that thread
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const bool announces = options.announce;
  PeerProcess process(std::move(options));
  std::thread waiter;
  const Result<void> waits = start_thread(waiter, [&process, signals] {
    int signal = 0;
    while (sigwait(&signals, &signal) == 0 && signal != SIGUSR2) process.stop(signal == SIGTERM);
  });
  if (!waits) {
    complain("%s", waits.error().message.c_str());
    return static_cast<int>(waits.error().code);
  }
  const Result<Exit> ended = process.run();
  pthread_kill(waiter.native_handle(), SIGUSR2);
  waiter.join();
  int code = 0;
  if (!ended) {
    code = static_cast<int>(ended.error().code);
    complain("%s", ended.error().message.c_str());
    log(LogLevel::error, "node", "peer could not run", {{"cause", ended.error().message}});
  } else {
    code = ended->code;
    if (announces) {
      complain("%s", Announcer::end(code, ended->message).c_str());
    } else if (code != 0) {
      complain("%s", ended->message.c_str());
    }
    log(code == 0 ? LogLevel::info : LogLevel::error, "node", "peer ended",
        {{"code", code}, {"reason", ended->message}, {"finished", ended->finished ? "yes" : "no"}});
  }
  stop_log();
  // RocksDB aborts when it closes on a full disk or without its directory. As after a kill, nothing is lost.
  if (code == static_cast<int>(ErrorCode::disk_full) || code == static_cast<int>(ErrorCode::io)) {
    std::fflush(nullptr);
    ::_exit(code);
  }
  return code;
}

}  // namespace orbweaver
