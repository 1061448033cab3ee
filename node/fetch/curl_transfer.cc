#include "node/fetch/curl_transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "node/http/http_message.h"
#include "node/http/url_place.h"

namespace orbweaver {
namespace {

constexpr long receive_buffer_bytes =
    32L << 10;  // a 25 KB page in one read; 64 KB was not cheaper in measurements, 16 KB a quarter more expensive
constexpr std::size_t first_body_bytes = 4u << 10;
constexpr std::size_t trusted_length_bytes = 256u << 10;  // a Content-Length is believed, for memory, up to here

long milliseconds(Duration duration) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

// The time of the steady clock, since its epoch.
Duration steady_now() { return std::chrono::duration_cast<Duration>(SteadyTime::clock::now().time_since_epoch()); }

bool is_tls(CURLcode code) {
  switch (code) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_CLIENTCERT:
      return true;
    default:
      return false;
  }
}

// libcurl keeps the addresses it gets for this long: it uses them at once, or when a kept connection turns out to be
// closed.
constexpr long resolved_seconds = 5;
// When the pool of connections is full, this many new ones are closed after their transfer for each one that is kept.
// To keep one, libcurl closes the oldest, and looks through all of them to find it.
constexpr std::uint64_t closed_for_one_kept = 64;

long http_version(HttpVersion version) {
  switch (version) {
    case HttpVersion::one_one:
      return CURL_HTTP_VERSION_1_1;
    case HttpVersion::two:
      return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    case HttpVersion::automatic:
      break;
  }
  return CURL_HTTP_VERSION_2TLS;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
           return lower(x) == lower(y);
         });
}

}  // namespace

bool append(Slist& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return false;
  static_cast<void>(list.release());  // it is a part of the longer one
  list.reset(longer);
  return true;
}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
  const auto name = shared_.names.find(name_);
  if (name == shared_.names.end() || --name->second > 0) return;
  shared_.names.erase(name);
  shared_.names_done.push_back(std::move(name_));
}

// Sets the options that are the same for all exchanges once: setting about thirty options per page would be waste.
bool CurlTransfer::open() {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return false;
  const CurlFetcherConfig& config = shared_.config;
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(easy_, option, value); };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_buffer_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, http_version(config.http_version));
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP09_ALLOWED, 0L);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_HTTP_TRANSFER_DECODING, 0L);
  set(CURLOPT_PATH_AS_IS, 1L);  // the request uses the canonical URL unchanged
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  // Never a proxy from the environment: the user did not allow connections to it.
  set(CURLOPT_PROXY, config.proxy.c_str());
  set(CURLOPT_NOPROXY, config.proxy.empty() ? "*" : "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_BUFFERSIZE, receive_buffer_bytes);
  set(CURLOPT_DNS_CACHE_TIMEOUT, resolved_seconds);
  set(CURLOPT_RESOLVER_START_FUNCTION, &CurlTransfer::on_resolve);
  set(CURLOPT_RESOLVER_START_DATA, this);
  set(CURLOPT_SSLVERSION,
      static_cast<long>(config.min_tls == TlsMin::tls_1_3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2));
  if (!config.ca_file.empty()) set(CURLOPT_CAINFO, config.ca_file.c_str());
  set(CURLOPT_USERAGENT, config.user_agent.c_str());
  set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(config.low_speed_bytes));
  set(CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::chrono::ceil<std::chrono::seconds>(config.low_speed_time).count()));
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  // A connection outlives its transfer, so its closing is reported to the shared state.
  set(CURLOPT_CLOSESOCKETFUNCTION, &CurlTransfer::on_close_socket);
  set(CURLOPT_CLOSESOCKETDATA, &shared_);
  set(CURLOPT_PREREQFUNCTION, &CurlTransfer::on_connected);
  set(CURLOPT_PREREQDATA, this);
  if (config.record_requests) {
    set(CURLOPT_DEBUGFUNCTION, &CurlTransfer::on_debug);
    set(CURLOPT_DEBUGDATA, this);
  }
  return true;
}

bool CurlTransfer::begin(FetchRequest request, std::uint64_t sequence, Time started, SteadyTime asked, SteadyTime now,
                         const std::string& connect_to, const std::vector<IpAddress>& addresses) {
  request_ = std::move(request);
  sequence_ = sequence;
  started_ = started;
  asked_ = asked;
  const Duration whole = request_->timeout > Duration{} ? std::min(request_->timeout, shared_.config.fetch_timeout)
                                                        : shared_.config.fetch_timeout;
  deadline_ = asked + whole;
  head_.reset(shared_.config.max_header_bytes);
  request_head_.clear();
  ip_.clear();
  refused_.reset();
  socket_opened_ = connected_ = cut_ = slow_ = out_of_memory_ = lacked_descriptor_ = false;
  average_ = AverageSpeed(shared_.config.average_speed_bytes, shared_.config.low_speed_time);
  error_buffer_[0] = '\0';
  shared_.budget.expect_body(request_->max_body_bytes + request_->max_body_bytes / 2);  // as it grows (make_room)
  const auto left = [&](Duration limit) {
    return std::max(1L, milliseconds(limit - std::chrono::duration_cast<Duration>(now - asked)));
  };
  curl_easy_setopt(easy_, CURLOPT_URL, request_->url.text().c_str());
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, left(whole));
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, left(shared_.config.connect_timeout));
  if (shared_.config.record_requests) curl_easy_setopt(easy_, CURLOPT_VERBOSE, 1L);
  const UrlPlace place = place_of(request_->url);
  if (place.tls) {
    tls_ = TlsCheck{std::string(place.host), shared_.config.tls_refuse, FetchError::none, {}};
    if (tls_.host.ends_with('.')) tls_.host.pop_back();
    check_certificates(easy_, tls_);
    // A resumed session is not verified again, so its fault would not be recorded.
    if (!tls_.refuse) curl_easy_setopt(easy_, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  }
  if (!addresses.empty() && !add_addresses(connect_to, addresses)) return false;
  return add_headers();
}

// At the end of each transfer libcurl goes through all its names. So the next transfer with a name removes those that
// no transfer needs any more.
bool CurlTransfer::add_addresses(const std::string& connect_to, const std::vector<IpAddress>& addresses) {
  for (const std::string& name : std::exchange(shared_.names_done, {}))
    if (!shared_.names.contains(name) && !append(resolve_, "-" + name)) return false;
  std::string line = "+" + connect_to + ":";
  for (const IpAddress& address : addresses)
    line +=
        (&address == &addresses.front() ? "" : ",") + (address.size == 4 ? address.text() : "[" + address.text() + "]");
  if (!append(resolve_, line)) return false;
  curl_easy_setopt(easy_, CURLOPT_RESOLVE, resolve_.get());
  name_ = connect_to;
  ++shared_.names[name_];
  return true;
}

// Adds the headers that all requests have, and those of this request alone.
bool CurlTransfer::add_headers() {
  const UrlPlace place = place_of(request_->url);
  std::vector<std::string> own;
  if (!request_->if_none_match.empty()) own.push_back("If-None-Match: " + request_->if_none_match);
  if (!request_->if_modified_since.empty()) own.push_back("If-Modified-Since: " + request_->if_modified_since);
  for (const SiteHeader& header : shared_.config.site_headers) {
    if (header.tls != place.tls || header.port != place.port || header.host != place.host) continue;
    own.push_back(header.name + ": " + header.value);
    secrets_ = true;
  }
  if (!request_->cookies.empty()) own.push_back("Cookie: " + request_->cookies);
  if (own.empty()) {
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, shared_.headers.get());
    return true;
  }
  for (const curl_slist* line = shared_.headers.get(); line != nullptr; line = line->next)
    if (!append(headers_, line->data)) return false;
  for (const std::string& line : own) {
    // A value that contains a line end would make another header.
    if (line.find_first_of("\r\n") != std::string::npos) continue;
    if (!append(headers_, line)) return false;
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_.get());
  return true;
}

// libcurl wants to look up a name itself: never allowed, it would take a thread. An address needs no look-up.
int CurlTransfer::on_resolve(void*, void*, void* self) noexcept {
  const auto& transfer = *static_cast<CurlTransfer*>(self);
  return transfer.resolve_ ? 1 : 0;
}

// Removes secrets from the recorded request.
void CurlTransfer::redact() {
  if (!secrets_ && shared_.config.proxy.empty()) return;
  std::string kept;
  std::string_view rest = request_head_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\r\n"), rest.size() - std::min<std::size_t>(rest.size(), 2));
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const std::string_view name = line.substr(0, line.find(':'));
    bool secret = same_name(name, "Proxy-Authorization");
    for (const SiteHeader& header : shared_.config.site_headers) secret = secret || same_name(name, header.name);
    kept.append(secret ? name : line).append(secret ? ": [redacted]\r\n" : "\r\n");
  }
  request_head_ = std::move(kept);
}

// The fault of a kept connection was found by the transfer that opened it.
void CurlTransfer::note_connection() {
  if (tls_.refuse) return;
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &fd);
  connection_fault_ = tls_.fault;
  if (fd == CURL_SOCKET_BAD) return;  // already closed, so it is not used again
  if (tls_.fault != FetchError::none) {
    shared_.tls_faults[fd] = tls_.fault;
  } else if (const auto found = shared_.tls_faults.find(fd); found != shared_.tls_faults.end()) {
    connection_fault_ = found->second;
  }
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    transfer.average_.came(size * count, steady_now());
    return transfer.head_.take({data, size * count}) == ResponseHead::Verdict::ok ? size * count : 0;
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
    return 0;
  }
}

std::size_t CurlTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    return transfer.take_body(data, size * count);
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
    return 0;
  }
}

bool CurlTransfer::wants_body() const {
  if (request_->any_type || !shared_.config.wanted_type) return true;
  const int status = head_.status();
  return status < 200 || status >= 300 || shared_.config.wanted_type(content_type_of(head_.text()));
}

std::size_t CurlTransfer::take_body(const char* data, std::size_t size) {
  if (body_.empty() && !wants_body()) {
    cut_ = true;
    return 0;
  }
  const std::size_t room = request_->max_body_bytes - std::min(request_->max_body_bytes, body_.size());
  const std::size_t taken = std::min(size, room);
  if (!make_room(body_.size() + taken)) {
    pause();
    return CURL_WRITEFUNC_PAUSE;
  }
  body_.append(data, taken);
  const Duration now = steady_now();
  average_.came(size, now);
  slow_ = head_.content_length() != body_.size() && average_.too_slow(now);
  if (slow_) return 0;
  cut_ = taken < size;
  if (head_.content_length() == body_.size()) refuse_leftovers();
  return taken == size ? size : 0;
}

// Bytes after a body of known length were not requested. libcurl 7.88 leaves them in the socket, and the next request
// on the connection would read them as its answer, so the connection is not reused. (Over TLS a byte may belong to the
// protocol; there libcurl sees the excess itself.)
void CurlTransfer::refuse_leftovers() {
  if (socket_ == CURL_SOCKET_BAD || request_->url.is_https()) return;
  if (head_.text().starts_with("HTTP/2")) return;  // its frames show which response bytes belong to
  char byte = 0;
  if (::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
}

// The budget counts capacity, not length, because the process uses that much. Bodies grow by doubling.
bool CurlTransfer::make_room(std::size_t size) {
  if (size <= charged_) return true;
  std::size_t wanted = std::max({size, 2 * charged_, first_body_bytes});
  if (charged_ == 0) {
    wanted = std::max<std::size_t>(
        size, std::min<std::uint64_t>(head_.content_length().value_or(wanted), trusted_length_bytes));
  }
  wanted = std::max(size, std::min(wanted, request_->max_body_bytes));
  // Asks for room for the whole new size, not the difference: while the bytes are moved, both buffers exist.
  if (!shared_.budget.may_take(wanted, sequence_ == shared_.oldest)) return false;
  body_.reserve(wanted);
  shared_.budget.take(wanted - charged_);
  charged_ = wanted;
  return true;
}

void CurlTransfer::pause() {
  shared_.paused.emplace(sequence_, this);
  left_ = deadline_ - std::chrono::steady_clock::now();
  average_.pause(steady_now());
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, 0L);
}

CURLcode CurlTransfer::resume(SteadyTime now) {
  deadline_ = now + left_;
  average_.go_on(std::chrono::duration_cast<Duration>(now.time_since_epoch()));
  return curl_easy_pause(easy_, CURLPAUSE_CONT);  // delivers the delayed bytes, and may pause again
}

// Verbose mode makes libcurl format a text for every step. It is only needed until the request is sent, so it is then
// switched off until the next begin(): recording then costs next to nothing.
int CurlTransfer::on_debug(CURL* easy, curl_infotype type, char* data, std::size_t size, void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (type != CURLINFO_HEADER_OUT) return 0;
  if (std::string_view(data, size).starts_with("CONNECT ")) return 0;  // to a proxy; the request follows
  try {
    transfer.request_head_.append(data, size);
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
  }
  if (transfer.request_head_.ends_with("\r\n\r\n")) curl_easy_setopt(easy, CURLOPT_VERBOSE, 0L);
  return 0;
}

curl_socket_t CurlTransfer::on_open_socket(void* self, curlsocktype, curl_sockaddr* address) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
    if (std::optional<AddressRefusal> refusal = transfer.shared_.config.guard.refusal(&address->addr)) {
      if (!transfer.refused_) transfer.refused_ = std::move(*refusal);
      return CURL_SOCKET_BAD;
    }
    transfer.socket_opened_ = true;
    const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    transfer.lacked_descriptor_ = fd < 0 && (errno == EMFILE || errno == ENFILE);
    if (fd < 0) return CURL_SOCKET_BAD;
    transfer.shared_.sockets.opened(fd);
    return fd;
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
    return CURL_SOCKET_BAD;
  }
}

int CurlTransfer::on_close_socket(void* shared, curl_socket_t fd) noexcept {
  auto& all = *static_cast<TransferShared*>(shared);
  if (!all.tls_faults.empty()) all.tls_faults.erase(fd);
  return all.sockets.close_socket(fd);
}

int CurlTransfer::on_connected(void* self, char* ip, char*, int, int) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  transfer.connected_ = true;
  TransferShared& shared = transfer.shared_;
  if (transfer.socket_opened_ && shared.sockets.count() > shared.max_connections &&
      ++shared.connections_beyond % (closed_for_one_kept + 1) != 0)
    curl_easy_setopt(transfer.easy_, CURLOPT_FORBID_REUSE, 1L);
  try {
    if (transfer.shared_.config.proxy.empty()) transfer.ip_.assign(ip);
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
    return CURL_PREREQFUNC_ABORT;
  }
  return CURL_PREREQFUNC_OK;
}

FetchError CurlTransfer::judge_timeout(Truncated& truncated) const {
  if (!connected_) return socket_opened_ ? FetchError::connect : FetchError::dns;
  if (!head_.whole() || body_.empty()) return FetchError::timeout;
  truncated = Truncated::time;
  return FetchError::none;
}

// The connection ended before the response did.
FetchError CurlTransfer::judge_lost(CURLcode code, Truncated& truncated) const {
  if (!connected_) return FetchError::connect;
  if (head_.bytes() == 0) return FetchError::empty_reply;
  // Only libcurl's words separate a malformed chunk from a reset (both are CURLE_RECV_ERROR); a test pins them.
  const std::string_view text = error_buffer_.data();
  const bool bad_chunk = code == CURLE_RECV_ERROR && text.find("chunked-encoding") != std::string_view::npos;
  if (!head_.whole() || bad_chunk) return FetchError::broken;
  truncated = Truncated::disconnect;
  return FetchError::none;
}

FetchError CurlTransfer::judge(CURLcode code, Truncated& truncated) const {
  if (out_of_memory_) return FetchError::internal;
  switch (head_.verdict()) {
    case ResponseHead::Verdict::too_large:
      return FetchError::headers_too_large;
    case ResponseHead::Verdict::bad_status:
      return FetchError::bad_response;
    case ResponseHead::Verdict::bad_length:
      return FetchError::broken;
    case ResponseHead::Verdict::ok:
      break;
  }
  if (cut_) {
    truncated = Truncated::length;
    return FetchError::none;
  }
  if (slow_) return judge_timeout(truncated);
  if (code != CURLE_OK && refused_ && !socket_opened_ && !connected_) return refused_->error;
  if (is_tls(code)) return tls_.fault == FetchError::none ? FetchError::tls : tls_.fault;
  switch (code) {
    case CURLE_OK:
      return head_.whole() ? FetchError::none : head_.bytes() == 0 ? FetchError::empty_reply : FetchError::broken;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return FetchError::dns;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return FetchError::connect;
    case CURLE_OPERATION_TIMEDOUT:
      return judge_timeout(truncated);
    case CURLE_GOT_NOTHING:
      return FetchError::empty_reply;
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return judge_lost(code, truncated);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return FetchError::broken;
    case CURLE_UNSUPPORTED_PROTOCOL:   // HTTP/0.9 or an HTTP version that does not exist; or a URL of another scheme
    case CURLE_BAD_FUNCTION_ARGUMENT:  // for a first header line that begins with white space
      return connected_ ? FetchError::bad_response : FetchError::internal;
    case CURLE_OUT_OF_MEMORY:  // from libcurl 7.88 for one header line longer than its own limit of 100 KB
      return connected_ && !head_.whole() ? FetchError::headers_too_large : FetchError::internal;
    case CURLE_ABORTED_BY_CALLBACK:
      return FetchError::cancelled;
    default:
      return FetchError::internal;
  }
}

std::string CurlTransfer::words(FetchError error, CURLcode code) const {
  switch (error) {
    case FetchError::none:
      return {};
    case FetchError::address_refused:
    case FetchError::address_denied:
    case FetchError::no_contact:
      return refused_ ? refused_->words : std::string();
    case FetchError::cancelled:
      return "the peer is stopping";
    case FetchError::headers_too_large:
      return "more than " + std::to_string(shared_.config.max_header_bytes) + " bytes of header lines";
    default:
      break;
  }
  if (head_.verdict() == ResponseHead::Verdict::bad_status) return "no status from 100 to 599 in the status line";
  if (head_.verdict() == ResponseHead::Verdict::bad_length) return "Content-Length is not a number, or two differ";
  if (out_of_memory_) return "out of memory";
  if (slow_)
    return "slower than " + std::to_string(shared_.config.average_speed_bytes) + " bytes per second on average";
  if (error == tls_.fault && !tls_.words.empty()) return tls_.words;
  if (code == CURLE_OK) return "the connection closed in the middle of the header lines";
  return error_buffer_[0] != '\0' ? error_buffer_.data() : curl_easy_strerror(code);
}

FetchResponse CurlTransfer::finish(CURLcode code, Time ended) {
  FetchResponse response;
  response.id = request_->id;
  response.error = judge(code, response.truncated);
  response.error_text = words(response.error, code);
  response.started = started_;
  response.ended = ended;
  response.ip = std::move(ip_);
  redact();
  response.request_head = std::move(request_head_);
  response.tls_fault = connection_fault_;
  if (head_.whole() && head_.verdict() == ResponseHead::Verdict::ok) {
    response.status = head_.status();
    response.response_head = head_.release_text();
    response.body = std::move(body_);
  }
  if (body_.capacity() > 0 && response.body.empty()) {
    body_ = std::string();
    shared_.budget.give_back(charged_);
    charged_ = 0;
  }
  const std::size_t heads = response.request_head.capacity() + response.response_head.capacity();
  shared_.budget.take(heads);
  response.charge = shared_.budget.hand_on(charged_ + heads);
  charged_ = 0;
  return response;
}

}  // namespace orbweaver
