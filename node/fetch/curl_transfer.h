// One exchange on one libcurl easy handle: its options, the data that its callbacks collect, and the meaning of its
// end. Included only by the fetcher. Thread rule: the fetcher's thread.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "node/fetch/average_speed.h"
#include "node/fetch/body_budget.h"
#include "node/fetch/curl_fetcher.h"
#include "node/fetch/curl_sockets.h"
#include "node/fetch/curl_tls.h"
#include "node/fetch/fetcher.h"
#include "node/http/response_head.h"

namespace orbweaver {

using SteadyTime = std::chrono::steady_clock::time_point;

struct SlistFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistFree>;

// False when there is no memory.
bool append(Slist& list, const std::string& line);

class CurlTransfer;

// The state that all transfers of a fetcher share. Outlives them.
struct TransferShared {
  explicit TransferShared(CurlFetcherConfig settings)
      : config(std::move(settings)),
        budget(config.bodies != nullptr ? config.bodies : std::make_shared<MemoryShare>(config.max_body_memory)) {}
  CurlFetcherConfig config;
  CurlSockets sockets;
  BodyBudget budget;
  Slist headers;
  std::unordered_map<int, FetchError> tls_faults;  // by socket: faults of connections that were kept despite them
  std::uint64_t oldest = 0;                        // sequence of the oldest transfer in flight
  std::map<std::uint64_t, CurlTransfer*> paused;   // waiting for body memory, by sequence
  std::size_t max_connections = 0;                 // libcurl's limit, including those in use
  std::uint64_t connections_beyond = 0;            // opened when that many were open
  // The names (HOST:PORT) that libcurl has addresses for: how many transfers in flight use each, and unused ones.
  std::unordered_map<std::string, std::uint32_t> names;
  std::vector<std::string> names_done;
};

class CurlTransfer {
 public:
  explicit CurlTransfer(TransferShared& shared) : shared_(shared) {}
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // False when libcurl has no memory for a handle.
  bool open();
  // `asked`: when the request was made, before names were looked up. `addresses`: the addresses of the name to connect
  // to; empty: it is an address itself. False: no memory.
  bool begin(FetchRequest request, std::uint64_t sequence, Time started, SteadyTime asked, SteadyTime now,
             const std::string& connect_to, const std::vector<IpAddress>& addresses);
  // Call it while the handle is in the multi handle. Notes the used connection's certificate fault, if any.
  void note_connection();
  // The answer. Call it after the handle left the multi handle. The body's charge moves to the response.
  FetchResponse finish(CURLcode code, Time ended);

  CURL* easy() const { return easy_; }
  std::uint64_t sequence() const { return sequence_; }
  // libcurl's own timeout would count a pause, so it is off after one, and the fetcher's thread ends the transfer at
  // deadline().
  CURLcode resume(SteadyTime now);
  // The socket that this transfer waits for now.
  void watch(curl_socket_t fd) { socket_ = fd; }
  SteadyTime deadline() const { return deadline_; }
  // True if it ended only because no file descriptor was free.
  bool lacked_descriptor(CURLcode code) const { return code != CURLE_OK && lacked_descriptor_ && !connected_; }
  // When the request was made, and the request itself, for another try; after take_request() there is no finish().
  SteadyTime asked() const { return asked_; }
  Time started() const { return started_; }
  FetchRequest take_request() { return *std::exchange(request_, std::nullopt); }

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;
  static int on_debug(CURL* easy, curl_infotype type, char* data, std::size_t size, void* self) noexcept;
  static curl_socket_t on_open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;
  static int on_close_socket(void* shared, curl_socket_t fd) noexcept;
  static int on_connected(void* self, char* ip, char* local_ip, int port, int local_port) noexcept;
  static int on_resolve(void* state, void* reserved, void* self) noexcept;
  bool add_headers();
  bool add_addresses(const std::string& connect_to, const std::vector<IpAddress>& addresses);
  void redact();
  bool wants_body() const;
  std::size_t take_body(const char* data, std::size_t size);
  bool make_room(std::size_t size);
  void pause();
  void refuse_leftovers();
  FetchError judge(CURLcode code, Truncated& truncated) const;
  FetchError judge_timeout(Truncated& truncated) const;
  FetchError judge_lost(CURLcode code, Truncated& truncated) const;
  std::string words(FetchError error, CURLcode code) const;

  TransferShared& shared_;
  CURL* easy_ = nullptr;
  std::optional<FetchRequest> request_;  // set by begin()
  std::uint64_t sequence_ = 0;
  Time started_{};
  SteadyTime asked_{};
  SteadyTime deadline_{};
  SteadyTime::duration left_{};  // until deadline_, when paused
  ResponseHead head_;
  std::string request_head_;
  std::string body_;
  std::size_t charged_ = 0;  // body_'s part of the budget
  std::string ip_;
  Slist headers_;  // used if this request's headers differ from the common ones
  Slist resolve_;
  std::string name_;  // in shared_.names
  TlsCheck tls_;
  std::optional<AddressRefusal> refused_;           // the guard's reason for the first refused address
  FetchError connection_fault_ = FetchError::none;  // the certificate's fault, if faults are only recorded
  bool secrets_ = false;                            // a header of site_headers is sent
  bool socket_opened_ = false;                      // an address passed the guard
  bool connected_ = false;                          // a request could be sent (over a new or a kept connection)
  curl_socket_t socket_ = CURL_SOCKET_BAD;
  bool cut_ = false;  // max_body_bytes reached
  AverageSpeed average_;
  bool slow_ = false;  // below average_speed_bytes
  bool out_of_memory_ = false;
  bool lacked_descriptor_ = false;
  std::array<char, CURL_ERROR_SIZE> error_buffer_{};
};

}  // namespace orbweaver
