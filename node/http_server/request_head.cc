#include "node/http_server/request_head.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <limits>
#include <string_view>

namespace orbweaver {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view empty_line = "\r\n";

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::empty_body> parser;
  bool begun = false;
  std::size_t taken = 0;  // bytes of the head so far
};

RequestReader::RequestReader(std::size_t max_head_bytes)
    : max_head_bytes_(max_head_bytes), parser_(std::make_unique<Parser>()) {
  // The limit is enforced here: Beast's counts the bytes of one call.
  parser_->parser.header_limit(std::numeric_limits<std::uint32_t>::max());
  // Bodies are not read here. Not boost::none: Beast 1.74 then refuses a body of 0 bytes.
  parser_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  parser_->parser.eager(false);  // stops after the head
}

RequestReader::~RequestReader() = default;

HeadProgress RequestReader::read(std::string& bytes) {
  if (!parser_->begun) {
    if (bytes.size() < empty_line.size() && empty_line.starts_with(bytes)) return HeadProgress::more;
    if (bytes.starts_with(empty_line)) bytes.erase(0, empty_line.size());
    parser_->begun = true;
  }
  if (bytes.empty()) return HeadProgress::more;
  const std::size_t allowed = std::min(bytes.size(), max_head_bytes_ - parser_->taken);
  boost::system::error_code error;
  const std::size_t used = parser_->parser.put(boost::asio::const_buffer(bytes.data(), allowed), error);
  parser_->taken += used;
  const bool all_given = allowed == bytes.size();
  bytes.erase(0, used);
  if (error == http::error::need_more && all_given && parser_->taken + bytes.size() < max_head_bytes_)
    return HeadProgress::more;
  if (error == http::error::need_more) return HeadProgress::too_large;
  if (error || !parser_->parser.is_header_done()) return HeadProgress::bad;
  const auto& request = parser_->parser.get();
  if (request.version() != 10 && request.version() != 11) return HeadProgress::bad;
  // A client that sends two hopes that two readers choose different ones (RFC 9112, 3.2).
  if (request.count(http::field::host) > 1) return HeadProgress::bad;
  return HeadProgress::whole;
}

RequestHead RequestReader::take() const {
  const auto& request = parser_->parser.get();
  RequestHead head;
  head.method = text_of(request.method_string());
  head.target = text_of(request.target());
  if (const auto host = request.find(http::field::host); host != request.end()) head.host = text_of(host->value());
  head.accept_encoding = text_of(request[http::field::accept_encoding]);
  head.authorization = text_of(request[http::field::authorization]);
  // Answers have no validators, so no If-Range can match one, and its range does not apply (RFC 9110, 13.1.5).
  if (request.count(http::field::if_range) == 0) head.range = text_of(request[http::field::range]);
  head.http_1_0 = request.version() == 10;
  head.keep_alive = request.keep_alive();
  head.body_follows = !parser_->parser.is_done();
  if (const auto length = parser_->parser.content_length(); length) head.body_bytes = *length;
  head.waits_for_continue = boost::beast::iequals(request[http::field::expect], "100-continue");
  return head;
}

}  // namespace orbweaver
