#include "node/fetch/curl_fetcher.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "node/fetch/cares_resolver.h"
#include "node/fetch/curl_sockets.h"
#include "node/fetch/curl_transfer.h"
#include "node/http/url_place.h"
#include "node/overloaded.h"
#include "node/settings/endpoint.h"
#include "node/system/thread_start.h"

namespace orbweaver {
namespace {

constexpr std::chrono::milliseconds descriptor_pause{250};

std::string place_text(std::string_view host, std::uint16_t port) {
  return std::string(host) + ":" + std::to_string(port);
}

}  // namespace

// The thread's state. Everything except the inbox belongs to the thread.
class CurlFetcher::Loop {
 public:
  Loop(CurlFetcherConfig config, Done done) : shared_(std::move(config)), done_(std::move(done)) {}
  ~Loop();

  // A request to the fetcher for a host's address only, instead of an exchange.
  struct Lookup {
    std::string host;  // no brackets
    std::uint16_t port = 0;
    Resolved done;
  };
  using Task = std::variant<FetchRequest, Lookup>;

  Result<void> open();
  void start(Task task);
  void stop();
  Counts counts() const { return counts_; }
  std::uint64_t connections_opened() const { return connections_opened_.load(std::memory_order_relaxed); }
  std::uint64_t dns_queries() const { return dns_queries_.load(std::memory_order_relaxed); }
  std::uint64_t descriptor_waits() const { return descriptor_waits_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool take_inbox();
  // A task whose host's name is being looked up.
  struct Waiting {
    Task task;
    std::string connect_to;  // HOST:PORT of the URL, of the lookup, or of the proxy; no brackets
    Time started{};
    SteadyTime asked{};
  };
  void take(Task task);
  std::string place_to_connect_to(const Task& task) const;
  void look_up(Waiting waiting);
  bool postpone(CurlTransfer& transfer, CURLcode code);
  void take_postponed(SteadyTime now);
  void begin(Waiting waiting, const std::vector<IpAddress>& addresses);
  void take_names(SteadyTime now);
  void begin_request(FetchRequest& request, const Waiting& waiting, const std::vector<IpAddress>& addresses);
  std::string lowest(const std::vector<IpAddress>& addresses, const std::string& connect_to) const;
  void answer_unresolved(const Waiting& waiting, const std::string& words);
  void end(CurlTransfer& transfer, CURLcode code);
  void collect();
  void resume_paused();
  void end_late(SteadyTime now);
  void cancel_all();
  void answer_without_response(const Task& task, Time started, FetchError error, std::string_view words);
  void answer_unbegun(const Task& task, FetchError error, std::string_view words) {
    answer_without_response(task, shared_.config.clock(), error, words);
  }
  int wait_milliseconds() const;
  std::unique_ptr<CurlTransfer> make_transfer();
  void note_oldest();
  void allow_connections();

  static int on_socket(CURL* easy, curl_socket_t fd, int what, void* loop, void* socket_data) noexcept;
  static int on_timer(CURLM* multi, long milliseconds, void* loop) noexcept;

  TransferShared shared_;
  Done done_;
  CURLM* multi_ = nullptr;
  std::thread thread_;
  Counts counts_;
  std::atomic<std::uint64_t> connections_opened_{0};  // for other threads to read, like the next two
  std::atomic<std::uint64_t> dns_queries_{0};
  std::atomic<std::uint64_t> descriptor_waits_{0};

  std::mutex mutex_;
  std::vector<Task> inbox_;  // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_

  std::vector<Task> taken_;
  std::map<std::uint64_t, std::unique_ptr<CurlTransfer>> under_way_;  // by sequence: the first is the oldest
  std::set<std::pair<SteadyTime, CurlTransfer*>> resumed_;            // resumed after a pause: when to end them
  std::unique_ptr<CaresResolver> resolver_;
  std::map<std::uint64_t, Waiting> waiting_;      // for a name, by token: the oldest request first
  std::multimap<SteadyTime, Waiting> postponed_;  // no descriptor was free: when to try again
  std::map<std::string, IpAddress> fixed_;        // the setting resolve: "HOST:PORT" or "*:PORT" -> address
  std::string proxy_;                             // "HOST:PORT" to connect to; empty: the URL's host
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_token_ = 1;
  std::size_t most_under_way_ = 0;
  std::optional<SteadyTime> timer_;  // when libcurl wants to be called
};

CurlFetcher::Loop::~Loop() {
  stop();
  shared_.budget.share().set_tell(nullptr);
  // Order matters: handles before the multi handle, whose connections still call on_close_socket().
  under_way_.clear();
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  resolver_.reset();  // shared_ watches its sockets
}

Result<void> CurlFetcher::Loop::open() {
  const CurlFetcherConfig& config = shared_.config;
  if (Result<void> opened = shared_.sockets.open(); !opened) return opened;
  bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  ok = ok && append(shared_.headers, "Accept: text/html,application/xhtml+xml,*/*;q=0.8");
  ok = ok && append(shared_.headers, "Accept-Encoding: gzip, br, zstd, deflate");
  multi_ = ok ? curl_multi_init() : nullptr;
  if (multi_ == nullptr) return fail(ErrorCode::internal, "libcurl cannot be set up");
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  for (const std::string& text : config.resolve) {
    const auto entry = parse_resolve_entry(text);
    if (!entry) return tl::make_unexpected(entry.error());
    fixed_.emplace(place_text(entry->host, entry->port), *parse_ip(entry->address));
  }
  if (!config.proxy.empty()) {
    const Result<Endpoint> proxy = parse_proxy(config.proxy);
    if (!proxy) return tl::make_unexpected(proxy.error());
    proxy_ = place_text(proxy->host, proxy->port);
  }
  auto resolver = CaresResolver::create(config.resolver, [this](int fd, bool readable, bool writable) {
    shared_.sockets.want(
        fd, static_cast<std::uint8_t>((readable ? CurlSockets::readable : 0) | (writable ? CurlSockets::writable : 0)));
  });
  if (!resolver) return tl::make_unexpected(resolver.error());
  resolver_ = std::move(*resolver);
  shared_.budget.share().set_tell([this] { shared_.sockets.wake(); });
  return start_thread(thread_, [this] { run(); });
}

void CurlFetcher::Loop::start(Task task) {
  std::unique_lock lock(mutex_);
  if (stopping_) {
    lock.unlock();
    return answer_unbegun(task, FetchError::cancelled, "the peer is stopping");
  }
  const bool first = inbox_.empty();
  inbox_.push_back(std::move(task));
  lock.unlock();
  if (first) shared_.sockets.wake();
}

void CurlFetcher::Loop::answer_without_response(const Task& task, Time started, FetchError error,
                                                std::string_view words) {
  std::visit(Overloaded{[&](const FetchRequest& request) {
                          FetchResponse response;
                          response.id = request.id;
                          response.error = error;
                          response.error_text = words;
                          response.started = started;
                          response.ended = shared_.config.clock();
                          done_(std::move(response));
                        },
                        [](const Lookup& lookup) { lookup.done({}); }},
             task);
}

void CurlFetcher::Loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (!thread_.joinable()) return;
  shared_.sockets.wake();
  thread_.join();
}

int CurlFetcher::Loop::on_socket(CURL* easy, curl_socket_t fd, int what, void* loop, void*) noexcept {
  char* transfer = nullptr;
  if (what != CURL_POLL_REMOVE && curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer) == CURLE_OK &&
      transfer != nullptr)
    reinterpret_cast<CurlTransfer*>(transfer)->watch(fd);
  std::uint8_t wanted = 0;
  if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= CurlSockets::readable;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= CurlSockets::writable;
  static_cast<Loop*>(loop)->shared_.sockets.want(fd, wanted);
  return 0;
}

int CurlFetcher::Loop::on_timer(CURLM*, long milliseconds, void* loop) noexcept {
  std::optional<SteadyTime>& timer = static_cast<Loop*>(loop)->timer_;
  if (milliseconds < 0) {
    timer.reset();
  } else {
    timer = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  }
  return 0;
}

int CurlFetcher::Loop::wait_milliseconds() const {
  std::optional<SteadyTime> until = timer_;
  const auto sooner = [&](SteadyTime time) {
    if (!until || time < *until) until = time;
  };
  const SteadyTime now = std::chrono::steady_clock::now();
  if (!resumed_.empty()) sooner(resumed_.begin()->first);
  if (!waiting_.empty()) sooner(waiting_.begin()->second.asked + shared_.config.connect_timeout);
  if (!postponed_.empty()) sooner(postponed_.begin()->first);
  if (const auto names = resolver_->next_deadline(now)) sooner(*names);
  if (!until) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

void CurlFetcher::Loop::run() {
  int running = 0;
  while (take_inbox()) {
    for (const CurlSockets::Event& event : shared_.sockets.wait(wait_milliseconds())) {
      if (resolver_->owns(event.fd)) {
        const bool broken = (event.what & CurlSockets::broken) != 0;
        resolver_->on_socket(event.fd, broken || (event.what & CurlSockets::readable) != 0,
                             broken || (event.what & CurlSockets::writable) != 0, std::chrono::steady_clock::now());
        continue;
      }
      int mask = 0;
      if ((event.what & CurlSockets::readable) != 0) mask |= CURL_CSELECT_IN;
      if ((event.what & CurlSockets::writable) != 0) mask |= CURL_CSELECT_OUT;
      if ((event.what & CurlSockets::broken) != 0) mask |= CURL_CSELECT_ERR;
      curl_multi_socket_action(multi_, event.fd, mask, &running);
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    if (timer_ && *timer_ <= now) {
      timer_.reset();  // libcurl sets it again when it needs it
      curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    take_names(now);
    take_postponed(now);
    dns_queries_.store(resolver_->queries(), std::memory_order_relaxed);
    collect();
    end_late(now);
    resume_paused();
  }
  cancel_all();
  counts_.body_memory_peak = shared_.budget.share().peak();
  counts_.dns_queries = resolver_->queries();
  counts_.dns_queries_most = resolver_->queries_most();
}

// False when the thread must stop.
bool CurlFetcher::Loop::take_inbox() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    taken_.swap(inbox_);
  }
  for (Task& task : taken_) take(std::move(task));
  taken_.clear();
  return true;
}

// Makes an easy handle per transfer: libcurl 7.88 uses freed memory when a handle is reused and the next answer's first
// header line begins with white space (curl issue 11101). Connections are kept by the multi handle anyway.
std::unique_ptr<CurlTransfer> CurlFetcher::Loop::make_transfer() {
  auto transfer = std::make_unique<CurlTransfer>(shared_);
  return transfer->open() ? std::move(transfer) : nullptr;
}

void CurlFetcher::Loop::note_oldest() { shared_.oldest = under_way_.empty() ? 0 : under_way_.begin()->first; }

// Looks up the name first, unless it is an address, the setting resolve has it, or its answer is still valid.
void CurlFetcher::Loop::take(Task task) {
  look_up({std::move(task), {}, shared_.config.clock(), std::chrono::steady_clock::now()});
}

std::string CurlFetcher::Loop::place_to_connect_to(const Task& task) const {
  if (!proxy_.empty()) return proxy_;
  return std::visit(Overloaded{[](const FetchRequest& request) {
                                 const UrlPlace place = place_of(request.url);
                                 return place_text(place.host, place.port);
                               },
                               [](const Lookup& lookup) { return place_text(lookup.host, lookup.port); }},
                    task);
}

void CurlFetcher::Loop::look_up(Waiting waiting) {
  const SteadyTime now = std::chrono::steady_clock::now();
  waiting.connect_to = place_to_connect_to(waiting.task);
  const std::size_t colon = waiting.connect_to.rfind(':');
  const std::string host = waiting.connect_to.substr(0, colon);
  auto fixed = fixed_.find(waiting.connect_to);
  const bool is_ip = parse_ip(host).has_value();
  if (fixed == fixed_.end() && !fixed_.empty() && !is_ip) fixed = fixed_.find("*" + waiting.connect_to.substr(colon));
  if (fixed != fixed_.end()) return begin(std::move(waiting), {fixed->second});
  if (is_ip) return begin(std::move(waiting), {});
  const std::uint64_t token = next_token_++;
  if (const DnsEntry* known = resolver_->resolve(host, token, now)) {
    if (known->addresses.empty()) return answer_unresolved(waiting, known->failure);
    return begin(std::move(waiting), known->addresses);
  }
  waiting_.emplace(token, std::move(waiting));
}

// A lack of descriptors is not the host's fault: the request is tried again, for as long as a fetch may take.
bool CurlFetcher::Loop::postpone(CurlTransfer& transfer, CURLcode code) {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (!transfer.lacked_descriptor(code) || transfer.asked() + shared_.config.fetch_timeout <= now) return false;
  descriptor_waits_.fetch_add(1, std::memory_order_relaxed);
  postponed_.emplace(now + descriptor_pause,
                     Waiting{transfer.take_request(), {}, transfer.started(), transfer.asked()});
  return true;
}

void CurlFetcher::Loop::take_postponed(SteadyTime now) {
  while (!postponed_.empty() && postponed_.begin()->first <= now) {
    auto due = postponed_.extract(postponed_.begin());
    look_up(std::move(due.mapped()));
  }
}

void CurlFetcher::Loop::answer_unresolved(const Waiting& waiting, const std::string& words) {
  answer_without_response(waiting.task, waiting.started, FetchError::dns, words);
}

// Begins tasks whose names were looked up, and ends tasks whose look-ups took too long.
void CurlFetcher::Loop::take_names(SteadyTime now) {
  resolver_->tick(now);  // also when no task waits: the second family's answer may still be due
  if (waiting_.empty()) return;
  for (const CaresResolver::Finished& finished : resolver_->take_finished()) {
    auto found = waiting_.extract(finished.token);
    if (found.empty()) continue;
    if (finished.entry.addresses.empty()) {
      answer_unresolved(found.mapped(), finished.entry.failure);
    } else {
      begin(std::move(found.mapped()), finished.entry.addresses);
    }
  }
  while (!waiting_.empty() && waiting_.begin()->second.asked + shared_.config.connect_timeout <= now) {
    const auto late = waiting_.extract(waiting_.begin());
    answer_unresolved(late.mapped(), "no name server answered in time");
  }
}

std::string CurlFetcher::Loop::lowest(const std::vector<IpAddress>& addresses, const std::string& connect_to) const {
  if (!proxy_.empty()) return {};
  const auto bytes = [](const IpAddress& address) { return std::string(address.view().begin(), address.view().end()); };
  std::string lowest;
  if (addresses.empty())  // the host is an address
    if (const auto ip = parse_ip(connect_to.substr(0, connect_to.rfind(':')))) lowest = bytes(*ip);
  // The lowest address, so that the order in which a name server lists them makes no difference.
  for (const IpAddress& address : addresses)
    if (lowest.empty() || bytes(address) < lowest) lowest = bytes(address);
  return lowest;
}

void CurlFetcher::Loop::begin(Waiting waiting, const std::vector<IpAddress>& addresses) {
  std::visit(Overloaded{[&](FetchRequest& request) { begin_request(request, waiting, addresses); },
                        [&](const Lookup& lookup) { lookup.done(lowest(addresses, waiting.connect_to)); }},
             waiting.task);
}

void CurlFetcher::Loop::begin_request(FetchRequest& request, const Waiting& waiting,
                                      const std::vector<IpAddress>& addresses) {
  const std::uint64_t sequence = next_sequence_++;
  std::unique_ptr<CurlTransfer> transfer = make_transfer();
  if (!transfer || !transfer->begin(request, sequence, waiting.started, waiting.asked, std::chrono::steady_clock::now(),
                                    waiting.connect_to, addresses))
    return answer_unbegun(request, FetchError::internal, "libcurl has no memory for a handle");
  CURL* easy = transfer->easy();
  CurlTransfer& placed = *under_way_.emplace(sequence, std::move(transfer)).first->second;
  note_oldest();
  allow_connections();
  if (curl_multi_add_handle(multi_, easy) != CURLM_OK) end(placed, CURLE_FAILED_INIT);
}

// libcurl's limit includes connections in use, so it grows with the transfers. If they exceeded it, no connection would
// be kept.
void CurlFetcher::Loop::allow_connections() {
  if (under_way_.size() <= most_under_way_) return;
  most_under_way_ = std::max(under_way_.size(), 2 * most_under_way_);
  shared_.max_connections = most_under_way_ + shared_.config.max_idle_connections;
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(shared_.max_connections));
}

void CurlFetcher::Loop::end(CurlTransfer& transfer, CURLcode code) {
  long connections = 0;
  curl_easy_getinfo(transfer.easy(), CURLINFO_NUM_CONNECTS, &connections);
  counts_.connections_opened += static_cast<std::uint64_t>(std::max(0L, connections));
  connections_opened_.store(counts_.connections_opened, std::memory_order_relaxed);
  transfer.note_connection();
  curl_multi_remove_handle(multi_, transfer.easy());
  shared_.paused.erase(transfer.sequence());
  std::erase_if(resumed_, [&](const auto& entry) { return entry.second == &transfer; });
  const auto found = under_way_.find(transfer.sequence());
  std::unique_ptr<CurlTransfer> owned = std::move(found->second);
  under_way_.erase(found);
  note_oldest();
  if (postpone(*owned, code)) return;
  FetchResponse response = owned->finish(code, shared_.config.clock());
  done_(std::move(response));
}

void CurlFetcher::Loop::collect() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;  // the message dies with the handle's removal
    char* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    end(*reinterpret_cast<CurlTransfer*>(transfer), code);
  }
}

// Oldest first, until a transfer must wait again: for an older transfer, or for memory that was handed on. This thread
// is woken when that memory is given back.
void CurlFetcher::Loop::resume_paused() {
  if (!shared_.paused.empty()) shared_.budget.share().want_room();  // before may_take(), so that no room is missed
  while (!shared_.paused.empty()) {
    const auto first = shared_.paused.begin();
    CurlTransfer& transfer = *first->second;
    if (!shared_.budget.may_take(1, first->first == shared_.oldest)) return;
    ++counts_.pauses;
    shared_.paused.erase(first);
    const CURLcode code = transfer.resume(std::chrono::steady_clock::now());
    if (code != CURLE_OK) {  // libcurl does not end a transfer that refuses its delayed bytes
      end(transfer, code);
      continue;
    }
    if (shared_.paused.contains(transfer.sequence())) return;
    resumed_.emplace(transfer.deadline(), &transfer);
  }
}

void CurlFetcher::Loop::end_late(SteadyTime now) {
  while (!resumed_.empty() && resumed_.begin()->first <= now) {
    CurlTransfer& transfer = *resumed_.begin()->second;
    resumed_.erase(resumed_.begin());
    // A transfer that waits again, or waited in between, has a later deadline.
    if (!shared_.paused.contains(transfer.sequence()) && transfer.deadline() <= now)
      end(transfer, CURLE_OPERATION_TIMEDOUT);
  }
}

void CurlFetcher::Loop::cancel_all() {
  while (!under_way_.empty()) end(*under_way_.begin()->second, CURLE_ABORTED_BY_CALLBACK);
  for (const auto& [token, waiting] : waiting_)
    answer_unbegun(waiting.task, FetchError::cancelled, "the peer is stopping");
  waiting_.clear();
  for (const auto& [time, waiting] : postponed_)
    answer_unbegun(waiting.task, FetchError::cancelled, "the peer is stopping");
  postponed_.clear();
  std::vector<Task> never_begun;
  {
    const std::lock_guard lock(mutex_);
    never_begun.swap(inbox_);
  }
  for (const Task& task : never_begun) answer_unbegun(task, FetchError::cancelled, "the peer is stopping");
}

CurlFetcher::CurlFetcher(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
CurlFetcher::~CurlFetcher() = default;

Result<std::unique_ptr<CurlFetcher>> CurlFetcher::create(CurlFetcherConfig config, Done done) {
  auto loop = std::make_unique<Loop>(std::move(config), std::move(done));
  if (Result<void> opened = loop->open(); !opened) return tl::make_unexpected(opened.error());
  return std::unique_ptr<CurlFetcher>(new CurlFetcher(std::move(loop)));
}

void CurlFetcher::start(FetchRequest request) { loop_->start(std::move(request)); }
void CurlFetcher::resolve(std::string host, std::uint16_t port, Resolved done) {
  loop_->start(Loop::Lookup{std::move(host), port, std::move(done)});
}
void CurlFetcher::stop() { loop_->stop(); }
CurlFetcher::Counts CurlFetcher::counts() const { return loop_->counts(); }
std::uint64_t CurlFetcher::connections_opened() const { return loop_->connections_opened(); }
std::uint64_t CurlFetcher::dns_queries() const { return loop_->dns_queries(); }
std::uint64_t CurlFetcher::descriptor_waits() const { return loop_->descriptor_waits(); }

}  // namespace orbweaver
