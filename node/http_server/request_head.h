// The head of one HTTP/1 request (RFC 9112), read from bytes as they come: Boost.Beast's parser under our limit. Pure.
// Nothing is read of a request whose head has not ended within its bytes, and no body ever is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace orbweaver {

struct RequestHead {
  std::string method;               // "GET"
  std::string target;               // as it was sent; any bytes but spaces and controls
  std::optional<std::string> host;  // the Host field; nothing when there is none
  std::string accept_encoding;      // "gzip, br"; empty when there is none
  bool http_1_0 = false;            // otherwise 1.1
  bool keep_alive = false;          // the connection may serve another request (RFC 9112, 9.3)
  bool body_follows = false;
};

enum class HeadProgress {
  more,       // the head has not ended yet
  whole,      // take() has it
  too_large,  // more than the limit, and no end of it
  bad,        // not a request of HTTP/1.0 or 1.1
};

// One for each request. Memory: what the head takes, a few times over.
class RequestReader {
 public:
  // `head_bytes_max`: request line and fields together, so each line too.
  explicit RequestReader(std::size_t head_bytes_max);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // `bytes`: what came and is not taken yet; the head is taken from its front, perhaps a part at a time. One empty line
  // before the request line is skipped (RFC 9112, 2.2).
  HeadProgress read(std::string& bytes);
  // After `whole`.
  RequestHead take() const;

 private:
  struct Parser;
  std::size_t head_bytes_max_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace orbweaver
