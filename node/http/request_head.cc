#include "node/http/request_head.h"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>

namespace orbweaver {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view empty_line = "\r\n";

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RequestReader::Parser {
  http::request_parser<http::empty_body> parser;
  bool begun = false;
};

RequestReader::RequestReader(std::size_t head_bytes_max)
    : head_bytes_max_(head_bytes_max), parser_(std::make_unique<Parser>()) {
  parser_->parser.header_limit(static_cast<std::uint32_t>(head_bytes_max));
  parser_->parser.body_limit(boost::none);  // nobody reads one
}

RequestReader::~RequestReader() = default;

HeadProgress RequestReader::read(std::string& bytes) {
  if (!parser_->begun && bytes.size() < empty_line.size() && empty_line.starts_with(bytes)) return HeadProgress::more;
  if (!parser_->begun && bytes.starts_with(empty_line)) bytes.erase(0, empty_line.size());
  parser_->begun = true;
  if (bytes.empty()) return HeadProgress::more;
  boost::system::error_code error;
  const std::size_t used = parser_->parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  const bool too_large = bytes.size() > head_bytes_max_;
  if (error == http::error::need_more) return too_large ? HeadProgress::too_large : HeadProgress::more;
  // Beast cuts a head that is too long off and takes the rest for bad.
  if (error && too_large) return HeadProgress::too_large;
  if (error || !parser_->parser.is_header_done()) return HeadProgress::bad;
  const auto& request = parser_->parser.get();
  if (request.version() != 10 && request.version() != 11) return HeadProgress::bad;
  // Who sends two of them is after what two readers would make of them (RFC 9112, 3.2).
  if (request.count(http::field::host) > 1) return HeadProgress::bad;
  bytes.erase(0, used);
  return HeadProgress::whole;
}

RequestHead RequestReader::take() const {
  const auto& request = parser_->parser.get();
  RequestHead head;
  head.method = text_of(request.method_string());
  head.target = text_of(request.target());
  if (const auto host = request.find(http::field::host); host != request.end()) head.host = text_of(host->value());
  head.accept_encoding = text_of(request[http::field::accept_encoding]);
  head.http_1_0 = request.version() == 10;
  head.keep_alive = request.keep_alive();
  head.body_follows = !parser_->parser.is_done();
  return head;
}

}  // namespace orbweaver
