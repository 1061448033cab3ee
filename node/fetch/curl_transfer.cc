#include "node/fetch/curl_transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace orbweaver {
namespace {

constexpr long receive_buffer_bytes =
    32L << 10;  // a 25 KB page in one read; 64 KB measured no cheaper, 16 KB a quarter dearer
constexpr std::size_t first_body_bytes = 4u << 10;
constexpr std::size_t trusted_length_bytes = 256u << 10;  // a Content-Length is believed, for memory, up to here

long milliseconds(Duration duration) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

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

}  // namespace

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
}

// What stays the same for every exchange is set once: resetting and setting some thirty options a page would be waste.
bool CurlTransfer::open() {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return false;
  const CurlFetcherConfig& config = shared_.config;
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(easy_, option, value); };
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_buffer_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP09_ALLOWED, 0L);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_HTTP_TRANSFER_DECODING, 0L);
  set(CURLOPT_PATH_AS_IS, 1L);  // the canonical URL is what is asked for
  set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_PROXY, "");  // not even one from the environment: it would connect where the guard cannot look
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_BUFFERSIZE, receive_buffer_bytes);
  set(CURLOPT_DNS_CACHE_TIMEOUT, 60L);
  // A resolver thread that hangs in getaddrinfo() is left to end by itself; else its transfer's end would stop all
  // others.
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!config.ca_file.empty()) set(CURLOPT_CAINFO, config.ca_file.c_str());
  set(CURLOPT_USERAGENT, config.user_agent.c_str());
  set(CURLOPT_HTTPHEADER, shared_.headers.get());
  // Read once by each handle, on its first exchange, and then kept in the multi handle's DNS cache for good.
  if (shared_.resolve) set(CURLOPT_RESOLVE, shared_.resolve.get());
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(config.connect_timeout));
  set(CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(config.low_speed_bytes));
  set(CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::chrono::ceil<std::chrono::seconds>(config.low_speed_time).count()));
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open_socket);
  set(CURLOPT_OPENSOCKETDATA, this);
  // A connection outlives its transfer, so its closing is told to what all share.
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

void CurlTransfer::begin(FetchRequest request, std::uint64_t sequence, Time started, SteadyTime now) {
  request_ = std::move(request);
  sequence_ = sequence;
  started_ = started;
  deadline_ = now + shared_.config.fetch_timeout;
  head_.reset(shared_.config.header_bytes_max);
  request_head_.clear();
  ip_.clear();
  refused_.clear();
  socket_opened_ = connected_ = cut_ = out_of_memory_ = false;
  error_buffer_[0] = '\0';
  shared_.budget.expect_body(request_.body_bytes_max);
  curl_easy_setopt(easy_, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, std::max(1L, milliseconds(shared_.config.fetch_timeout)));
  if (shared_.config.record_requests) curl_easy_setopt(easy_, CURLOPT_VERBOSE, 1L);
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  try {
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

std::size_t CurlTransfer::take_body(const char* data, std::size_t size) {
  const std::size_t room = request_.body_bytes_max - std::min(request_.body_bytes_max, body_.size());
  const std::size_t taken = std::min(size, room);
  if (!make_room(body_.size() + taken)) {
    pause();
    return CURL_WRITEFUNC_PAUSE;
  }
  body_.append(data, taken);
  cut_ = taken < size;
  if (head_.content_length() == body_.size()) refuse_leftovers();
  return taken == size ? size : 0;
}

// Bytes behind a body of known length were not asked for. libcurl 7.88 leaves them in the socket, and the next request
// on the connection would take them for its answer, so the connection is not used again. (Over TLS a byte may be the
// protocol's own; there libcurl sees the excess itself.)
void CurlTransfer::refuse_leftovers() {
  if (socket_ == CURL_SOCKET_BAD || !request_.url.starts_with("http://")) return;
  char byte = 0;
  if (::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
}

// The budget counts capacity, not length: that is what the process holds. Bodies grow by doubling.
bool CurlTransfer::make_room(std::size_t size) {
  if (size <= charged_) return true;
  std::size_t wanted = std::max({size, 2 * charged_, first_body_bytes});
  if (charged_ == 0) {
    wanted = std::max<std::size_t>(
        size, std::min<std::uint64_t>(head_.content_length().value_or(wanted), trusted_length_bytes));
  }
  wanted = std::max(size, std::min(wanted, request_.body_bytes_max));
  if (!shared_.budget.may_take(wanted - charged_, sequence_ == shared_.oldest)) return false;
  body_.reserve(wanted);
  shared_.budget.take(wanted - charged_);
  charged_ = wanted;
  return true;
}

void CurlTransfer::pause() {
  shared_.paused.emplace(sequence_, this);
  left_ = deadline_ - std::chrono::steady_clock::now();
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, 0L);
}

CURLcode CurlTransfer::resume(SteadyTime now) {
  deadline_ = now + left_;
  return curl_easy_pause(easy_, CURLPAUSE_CONT);  // hands over what was held back: may pause again
}

// Verbose mode makes libcurl format every step's story. Once the request is out, nobody listens, so it is switched off
// until the next begin(): recording then costs next to nothing.
int CurlTransfer::on_debug(CURL* easy, curl_infotype type, char* data, std::size_t size, void* self) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  if (type != CURLINFO_HEADER_OUT) return 0;
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
    if (std::optional<std::string> refusal = transfer.shared_.config.guard.refusal(&address->addr)) {
      if (transfer.refused_.empty()) transfer.refused_ = std::move(*refusal);
      return CURL_SOCKET_BAD;
    }
    transfer.socket_opened_ = true;
    const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    transfer.shared_.sockets.opened(fd);
    return fd;
  } catch (const std::exception&) {
    transfer.out_of_memory_ = true;
    return CURL_SOCKET_BAD;
  }
}

int CurlTransfer::on_close_socket(void* shared, curl_socket_t fd) noexcept {
  return static_cast<TransferShared*>(shared)->sockets.close_socket(fd);
}

int CurlTransfer::on_connected(void* self, char* ip, char*, int, int) noexcept {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  transfer.connected_ = true;
  try {
    transfer.ip_.assign(ip);
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
  // libcurl tells a malformed chunk from a reset only in words (its CURLE_RECV_ERROR is both); a test pins them.
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
  if (code != CURLE_OK && !refused_.empty() && !socket_opened_ && !connected_) return FetchError::address_refused;
  if (is_tls(code)) return FetchError::tls;
  switch (code) {
    case CURLE_OK:
      return head_.whole() ? FetchError::none : head_.bytes() == 0 ? FetchError::empty_reply : FetchError::broken;
    case CURLE_COULDNT_RESOLVE_HOST:
      return FetchError::dns;
    case CURLE_COULDNT_CONNECT:
      return FetchError::connect;
    case CURLE_OPERATION_TIMEDOUT:
      return judge_timeout(truncated);
    case CURLE_GOT_NOTHING:
      return FetchError::empty_reply;
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return judge_lost(code, truncated);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return FetchError::broken;
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9 or an HTTP version that does not exist; or a URL of another scheme
      return connected_ ? FetchError::bad_response : FetchError::internal;
    case CURLE_BAD_FUNCTION_ARGUMENT:  // what it says of a first header line that begins with white space
      return connected_ ? FetchError::bad_response : FetchError::internal;
    case CURLE_OUT_OF_MEMORY:  // what libcurl 7.88 says of one header line longer than its own 100 KB
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
      return refused_;
    case FetchError::cancelled:
      return "the peer is stopping";
    case FetchError::headers_too_large:
      return "more than " + std::to_string(shared_.config.header_bytes_max) + " bytes of header lines";
    default:
      break;
  }
  if (head_.verdict() == ResponseHead::Verdict::bad_status) return "no status from 100 to 599 in the status line";
  if (head_.verdict() == ResponseHead::Verdict::bad_length) return "Content-Length is no number, or two differ";
  if (out_of_memory_) return "out of memory";
  if (code == CURLE_OK) return "the connection closed in the middle of the header lines";
  return error_buffer_[0] != '\0' ? error_buffer_.data() : curl_easy_strerror(code);
}

FetchResponse CurlTransfer::finish(CURLcode code, Time ended) {
  FetchResponse response;
  response.id = request_.id;
  response.error = judge(code, response.truncated);
  response.error_text = words(response.error, code);
  response.started = started_;
  response.ended = ended;
  response.ip = std::move(ip_);
  response.request_head = std::move(request_head_);
  if (head_.whole() && head_.verdict() == ResponseHead::Verdict::ok) {
    response.status = head_.status();
    response.response_head = head_.release_text();
    response.body = std::move(body_);
  }
  body_ = std::string();
  shared_.budget.give_back(charged_);
  charged_ = 0;
  return response;
}

}  // namespace orbweaver
