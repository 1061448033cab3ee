// The crawler's canonical form of an http or https URL, and the only code that makes it.
//
// "A URL" means a CanonicalUrl in the rest of the crawler: the router, the scope and the fetcher accept nothing else.
// Form: the WHATWG serialisation, fragment dropped, credentials dropped, plus the rules that canonical_url.cc lists.
// Further rules that a crawl may choose are Canonicaliser's (canonicaliser.h); docs/reference/canonical-form.md has
// both. Idempotent: canonicalising a canonical URL returns it unchanged.
//
// Two ways in: parse() and from() for text from outside; of_stored() for the text of a URL that was made before, which
// is only taken apart. Thread rule: a value, immutable once made. Cost: parse() well under a microsecond and one MD5 of
// the text; of_stored() two searches in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/base.h"
#include "node/url/url.h"
#include "ring/md5.h"

namespace orbweaver {

// The longest accepted canonical URL, in bytes: longer ones are traps or mistakes (browsers, servers stop near 8 KiB).
inline constexpr std::size_t max_url_bytes = 4096;

class CanonicalUrl {
 public:
  // From outside text (a seed, a peer's bytes). The error names the text and says what is wrong with it.
  static Result<CanonicalUrl> parse(std::string_view text);
  // From a URL already parsed (a link resolved against its page).
  static Result<CanonicalUrl> from(const Url& url);
  // From text() of a URL that was made before, as this peer's frontier, outbox and store have it. `digest`: MD5(text),
  // from the row's key. Other text is not detected, unless it has no scheme, host and path: an error.
  static Result<CanonicalUrl> of_stored(std::string text, const ring::Md5& digest);
  static Result<CanonicalUrl> of_stored(std::string text);
  // host() of such a text, a view into it; empty where of_stored() fails.
  static std::string_view host_in(std::string_view text);

  const std::string& text() const { return text_; }  // "http://example.com:8080/a?b"; with "#!c" under hash_bang = keep
  std::string_view scheme() const;                   // "http" or "https"
  std::string_view host() const;                     // "example.com", "[::1]"; no port
  std::string_view bare_host() const;                // the same, an IPv6 address without brackets: "::1"
  std::string_view authority() const;                // "example.com:8080": host and port as in the text
  std::string_view origin() const;                   // "http://example.com:8080": the scope of one robots.txt
  std::string_view path_and_query() const;           // "/a?b"; at least "/", never a fragment
  std::string_view path() const;                     // "/a"
  bool is_https() const { return host_begin_ == 8; }
  std::uint16_t port() const { return port_; }                 // effective port: 80 or 443 where the text has none
  const ring::Md5& digest() const { return digest_; }          // MD5(text())
  ring::Md5 host_digest() const { return ring::md5(host()); }  // computed at each call
  // Equal to Url::parse(text()), without parsing: the base of its page's links.
  Url as_url() const;

  friend bool operator==(const CanonicalUrl& a, const CanonicalUrl& b) { return a.text_ == b.text_; }

 private:
  friend class Canonicaliser;
  // The parts of a URL before they are joined. Path and query are normalised on joining; the fragment is not changed.
  struct Pieces {
    std::string_view scheme;
    std::string_view host;
    std::optional<std::uint16_t> port;
    std::string_view path;
    std::string_view query;     // without '?'
    std::string_view fragment;  // without '#'; empty: none
  };
  CanonicalUrl() = default;
  static Result<Pieces> pieces_of(const Url& url);
  static Result<CanonicalUrl> assemble(const Pieces& pieces);
  static Result<CanonicalUrl> take_apart(std::string text);

  std::string text_;
  std::uint16_t host_begin_ = 0;  // 7 or 8
  std::uint16_t host_end_ = 0;
  std::uint16_t path_begin_ = 0;
  std::uint16_t path_end_ = 0;  // and of the query
  std::uint16_t port_ = 0;
  ring::Md5 digest_{};
};

}  // namespace orbweaver
