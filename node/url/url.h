// URLs by the WHATWG URL standard (https://url.spec.whatwg.org/): parsing, resolving against a base, serialising.
// Thread rule: values. Cost: well under a microsecond for an ordinary absolute or relative http URL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// Longer input is refused unread: a canonical URL has at most 4 KiB, and
// a page whose <base> is a megabyte must not cost a megabyte per link.
inline constexpr std::size_t max_url_input_bytes = 16384;

// Turns a query's UTF-8 into a legacy charset's bytes before it is percent-encoded (URL standard, "percent-encode after
// encoding"). Unencodable characters become "&#N;", already percent-encoded:
// "%26%23N%3B". A null pointer to an encoder means UTF-8.
class QueryEncoder {
 public:
  virtual ~QueryEncoder() = default;
  virtual std::string encode(std::string_view utf8) const = 0;
};

class Url {
 public:
  // The basic URL parser on UTF-8 text. Ill-formed UTF-8 is read as U+FFFD. The error names the input and describes the
  // failure in the standard's sense ("it has no scheme, and there is no base URL", "a port above 65535").
  static Result<Url> parse(std::string_view input, const Url* base = nullptr,
                           const QueryEncoder* query_encoder = nullptr);

  std::string href(bool with_fragment = true) const;     // the URL serialiser
  const std::string& scheme() const { return scheme_; }  // without ':'
  const std::string& username() const { return username_; }
  const std::string& password() const { return password_; }
  const std::optional<std::string>& host() const { return host_; }    // serialised: "example.com", "[::1]", "192.0.2.1"
  std::optional<std::uint16_t> port() const { return port_; }         // nothing when it is the scheme's default
  const std::string& path() const { return path_; }                   // serialised; opaque paths unchanged
  const std::optional<std::string>& query() const { return query_; }  // without '?'
  const std::optional<std::string>& fragment() const { return fragment_; }  // without '#'
  bool is_http() const { return scheme_ == "http" || scheme_ == "https"; }
  bool has_opaque_path() const { return opaque_path_; }

 private:
  friend class UrlParser;
  friend class CanonicalUrl;  // it has the parts of its text already
  std::string scheme_;
  std::string username_;
  std::string password_;
  std::optional<std::string> host_;
  std::optional<std::uint16_t> port_;
  std::string path_;
  bool opaque_path_ = false;
  std::optional<std::string> query_;
  std::optional<std::string> fragment_;
};

}  // namespace orbweaver
