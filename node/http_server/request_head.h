// The head of one HTTP/1 request (RFC 9112), read from bytes as they arrive: Boost.Beast's parser under our limit.
// Pure. A request whose head is longer than the limit gives nothing. A body stays where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace orbweaver {

struct RequestHead {
  std::string method;               // "GET"
  std::string target;               // as sent; any bytes except spaces and controls
  std::optional<std::string> host;  // the Host field; nothing when there is none
  std::string accept_encoding;      // "gzip, br"; empty when there is none
  std::string authorization;        // "Bearer 0123"; empty when there is none
  std::string range;                // "bytes=0-99"; empty when there is none, or none that applies (If-Range)
  bool http_1_0 = false;            // otherwise 1.1
  bool keep_alive = false;          // the connection may serve another request (RFC 9112, 9.3)
  bool body_follows = false;
  std::optional<std::uint64_t> body_bytes;  // nothing: there is none, or its length is not said (chunked)
  bool waits_for_continue = false;          // "Expect: 100-continue" (RFC 9110, 10.1.1)
  std::string body;                         // of a server that reads bodies
};

enum class HeadProgress {
  more,       // the head has not ended yet
  whole,      // take() has it
  too_large,  // more than the limit, without an end
  bad,        // not a request of HTTP/1.0 or 1.1
};

// One per request. Memory: a few times the size of the head.
class RequestReader {
 public:
  // `max_head_bytes`: request line and fields together, so it also limits each line.
  explicit RequestReader(std::size_t max_head_bytes);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // `bytes`: received bytes that were not used yet; the head is removed from their front, perhaps in parts. One empty
  // line before the request line is skipped (RFC 9112, 2.2).
  HeadProgress read(std::string& bytes);
  // Call it only after `whole`.
  RequestHead take() const;

 private:
  struct Parser;
  std::size_t max_head_bytes_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace orbweaver
