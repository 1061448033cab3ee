#include "node/fetch/cares_resolver.h"

#include <ares.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace orbweaver {
namespace {

constexpr Duration resolution_delay = std::chrono::milliseconds{50};  // RFC 8305, 8
constexpr int tries = 2;
constexpr int class_internet = 1;

bool is_localhost(std::string_view host) { return host == "localhost" || host.ends_with(".localhost"); }

}  // namespace

class CaresResolver::Impl {
 public:
  Impl(ResolverConfig config, Watch watch)
      : config_(std::move(config)), watch_(std::move(watch)), cache_(config_.max_entries) {}
  ~Impl() {
    closing_ = true;
    if (channel_ != nullptr) ares_destroy(channel_);
    if (library_) ares_library_cleanup();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> open();
  const DnsEntry* resolve(const std::string& host, std::uint64_t token, DnsTime now);
  std::optional<DnsTime> next_deadline(DnsTime now) const;
  void tick(DnsTime now);
  void process(int read_fd, int write_fd, DnsTime now);

  std::set<int> sockets_;
  std::vector<Finished> finished_;
  std::uint64_t queries_ = 0;
  std::size_t under_way_ = 0;  // queries in flight
  std::size_t most_ = 0;

 private:
  struct Lookup {
    std::string host;
    std::vector<std::uint64_t> tokens;
    std::optional<DnsAnswer> v4;
    std::optional<DnsAnswer> v6;
    bool reported = false;
    int left = 2;  // queries that have not ended
  };
  // How a query finds its lookup: by number, since the lookup may no longer exist.
  struct Query {
    Impl* self;
    std::uint64_t lookup;
    DnsType type;
  };

  static void on_state(void* self, ares_socket_t fd, int readable, int writable);
  static void on_answer(void* query, int status, int timeouts, unsigned char* bytes, int size);
  void start_waiting();
  void ask(std::uint64_t number, const std::string& host, DnsType type);
  void take(std::uint64_t number, DnsType type, DnsAnswer answer);
  void tell(Lookup& lookup);

  ResolverConfig config_;
  Watch watch_;
  ares_channel channel_ = nullptr;
  bool library_ = false;
  bool closing_ = false;
  DnsCache cache_;
  std::unordered_map<std::string, std::vector<IpAddress>> hosts_file_;
  DnsEntry from_file_;
  std::map<std::uint64_t, Lookup> lookups_;
  std::unordered_map<std::string, std::uint64_t> by_host_;  // lookups without a reported result
  std::deque<std::uint64_t> waiting_;
  std::multimap<DnsTime, std::uint64_t> delays_;  // until when a lookup waits for its IPv6 answer
  std::uint64_t next_number_ = 1;
  DnsTime now_{};  // from the current call
};

Result<void> CaresResolver::Impl::open() {
  if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) return fail(ErrorCode::internal, "c-ares cannot be set up");
  library_ = true;
  ares_options options{};
  options.timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(config_.timeout).count());
  options.tries = tries;
  options.sock_state_cb = &Impl::on_state;
  options.sock_state_cb_data = this;
  const int opened =
      ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
  if (opened != ARES_SUCCESS) {
    channel_ = nullptr;
    return fail(ErrorCode::internal, std::string("the resolver cannot be set up: ") + ares_strerror(opened));
  }
  std::string servers;
  for (const std::string& server : config_.servers) servers += (servers.empty() ? "" : ",") + server;
  if (!servers.empty() && ares_set_servers_ports_csv(channel_, servers.c_str()) != ARES_SUCCESS)
    return fail(ErrorCode::invalid_setting, "dns_servers '" + servers + "' cannot be used");
  if (std::ifstream in("/etc/hosts"); in) hosts_file_ = parse_hosts_file(std::string(std::istreambuf_iterator(in), {}));
  return {};
}

void CaresResolver::Impl::on_state(void* self, ares_socket_t fd, int readable, int writable) {
  auto& impl = *static_cast<Impl*>(self);
  if (readable != 0 || writable != 0) {
    impl.sockets_.insert(fd);
  } else {
    impl.sockets_.erase(fd);
  }
  impl.watch_(fd, readable != 0, writable != 0);
}

const DnsEntry* CaresResolver::Impl::resolve(const std::string& host, std::uint64_t token, DnsTime now) {
  now_ = now;
  std::string name = host;
  if (name.ends_with('.')) name.pop_back();
  if (is_localhost(name)) {
    from_file_.addresses = {*parse_ip("::1"), *parse_ip("127.0.0.1")};
    return &from_file_;
  }
  if (const auto found = hosts_file_.find(name); found != hosts_file_.end()) {
    from_file_.addresses = found->second;
    return &from_file_;
  }
  if (const DnsEntry* known = cache_.find(name, now)) return known;
  if (const auto found = by_host_.find(name); found != by_host_.end()) {
    lookups_.at(found->second).tokens.push_back(token);
    return nullptr;
  }
  const std::uint64_t number = next_number_++;
  lookups_.emplace(number, Lookup{name, {token}, {}, {}, false, 2});
  by_host_.emplace(name, number);
  waiting_.push_back(number);
  start_waiting();
  return nullptr;
}

void CaresResolver::Impl::start_waiting() {
  while (!waiting_.empty() && under_way_ + 2 <= std::max<std::size_t>(config_.max_queries, 2)) {
    const std::uint64_t number = waiting_.front();
    waiting_.pop_front();
    under_way_ += 2;
    most_ = std::max(most_, under_way_);
    queries_ += 2;
    const std::string host = lookups_.at(number).host;  // the lookup may end within ask()
    ask(number, host, DnsType::aaaa);
    ask(number, host, DnsType::a);
  }
}

void CaresResolver::Impl::ask(std::uint64_t number, const std::string& host, DnsType type) {
  auto query = std::make_unique<Query>(Query{this, number, type});
  const auto send = host.find('.') == std::string::npos ? &ares_search : &ares_query;
  send(channel_, host.c_str(), class_internet, static_cast<int>(type), &Impl::on_answer, query.release());
}

// c-ares calls this exactly once for each query, at its destruction at the latest.
void CaresResolver::Impl::on_answer(void* argument, int status, int, unsigned char* bytes, int size) {
  const std::unique_ptr<Query> query(static_cast<Query*>(argument));
  Impl& self = *query->self;
  if (self.closing_) return;
  DnsAnswer answer;
  if (bytes != nullptr && size > 0) {
    answer = parse_dns_answer({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)}, query->type);
  } else if (status == ARES_ENOTFOUND) {
    answer.kind = DnsAnswer::Kind::no_name;
  } else {
    answer.problem = status == ARES_ETIMEOUT ? "no name server answered in time" : ares_strerror(status);
  }
  self.take(query->lookup, query->type, std::move(answer));
}

void CaresResolver::Impl::take(std::uint64_t number, DnsType type, DnsAnswer answer) {
  --under_way_;
  const auto found = lookups_.find(number);
  if (found == lookups_.end()) return;
  Lookup& lookup = found->second;
  (type == DnsType::a ? lookup.v4 : lookup.v6) = std::move(answer);
  --lookup.left;
  if (lookup.v4 && lookup.v6) {
    tell(lookup);
  } else if (lookup.v4 && lookup.v4->kind == DnsAnswer::Kind::addresses) {
    delays_.emplace(now_ + resolution_delay, number);
  }
  if (lookup.left == 0) lookups_.erase(found);
}

void CaresResolver::Impl::tell(Lookup& lookup) {
  if (lookup.reported) return;
  lookup.reported = true;
  by_host_.erase(lookup.host);
  const DnsAnswer none;
  DnsEntry entry = join_answers(lookup.v6.value_or(none), lookup.v4.value_or(none), config_.lifetimes, now_);
  for (const std::uint64_t token : lookup.tokens) finished_.push_back({token, entry});
  cache_.put(lookup.host, std::move(entry));
}

std::optional<DnsTime> CaresResolver::Impl::next_deadline(DnsTime now) const {
  if (!finished_.empty()) return now;
  if (lookups_.empty()) return std::nullopt;
  std::optional<DnsTime> next;
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) != nullptr)
    next = now + std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec);
  if (!delays_.empty() && (!next || delays_.begin()->first < *next)) next = delays_.begin()->first;
  return next;
}

void CaresResolver::Impl::process(int read_fd, int write_fd, DnsTime now) {
  now_ = now;
  ares_process_fd(channel_, read_fd, write_fd);
  start_waiting();
}

void CaresResolver::Impl::tick(DnsTime now) {
  if (lookups_.empty()) {
    delays_.clear();
    return;
  }
  process(ARES_SOCKET_BAD, ARES_SOCKET_BAD, now);
  while (!delays_.empty() && delays_.begin()->first <= now) {
    if (const auto found = lookups_.find(delays_.begin()->second); found != lookups_.end()) tell(found->second);
    delays_.erase(delays_.begin());
  }
}

CaresResolver::CaresResolver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CaresResolver::~CaresResolver() = default;

Result<std::unique_ptr<CaresResolver>> CaresResolver::create(ResolverConfig config, Watch watch) {
  auto impl = std::make_unique<Impl>(std::move(config), std::move(watch));
  if (Result<void> opened = impl->open(); !opened) return tl::make_unexpected(opened.error());
  return std::unique_ptr<CaresResolver>(new CaresResolver(std::move(impl)));
}

const DnsEntry* CaresResolver::resolve(const std::string& host, std::uint64_t token, DnsTime now) {
  return impl_->resolve(host, token, now);
}
bool CaresResolver::owns(int fd) const { return impl_->sockets_.contains(fd); }
void CaresResolver::on_socket(int fd, bool readable, bool writable, DnsTime now) {
  impl_->process(readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD, now);
}
std::optional<DnsTime> CaresResolver::next_deadline(DnsTime now) const { return impl_->next_deadline(now); }
void CaresResolver::tick(DnsTime now) { impl_->tick(now); }
std::vector<CaresResolver::Finished> CaresResolver::take_finished() { return std::exchange(impl_->finished_, {}); }
std::uint64_t CaresResolver::queries() const { return impl_->queries_; }
std::size_t CaresResolver::queries_most() const { return impl_->most_; }

}  // namespace orbweaver
