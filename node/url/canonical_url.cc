#include "node/url/canonical_url.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "node/text/shown.h"
#include "node/url/normalise.h"
#include "node/url/percent_encode.h"

// The canonical form, beyond the WHATWG serialisation:
//   1. http and https only; no credentials, no fragment;
//   2. one trailing dot of the host is dropped ("example.com." is "example.com"); several dots stay: such a host
//      has no address anyway;
//   3. an empty query is dropped ("/a?" is "/a");
//   4. in path and query, "%xx" of an unreserved character (RFC 3986, 2.3 and 6.2.2.2) is decoded, other escapes
//      get upper-case digits (6.2.2.1),
//      and a '%' that starts no escape stays unchanged;
//   5. nothing else: parameters keep their order, "//" in a path stays, "/x" and "/x/" differ.
//
// Why it is idempotent: the parser leaves alone what rule 4 decodes. Rule 4 makes no dot segment: the parser removed
// those of '.' and "%2e", and nothing else decodes to one. It makes no new escape: see append_normalised().

namespace orbweaver {

using namespace url_text;

namespace {

tl::unexpected<Error> refuse(std::string_view url, const std::string& why) {
  return fail(ErrorCode::invalid_input, "URL " + shown(url) + ": " + why);
}

// Where the parts of a canonical URL are in its text: the only code that takes such a text apart.
struct Parts {
  std::size_t host_begin = 0;
  std::size_t host_end = 0;
  std::size_t path_begin = 0;
};

std::optional<Parts> parts_of(std::string_view text) {
  Parts parts;
  parts.host_begin = text.starts_with("https://") ? 8 : 7;
  if (parts.host_begin == 7 && !text.starts_with("http://")) return std::nullopt;
  parts.path_begin = text.find('/', parts.host_begin);
  if (parts.path_begin == std::string_view::npos || parts.path_begin == parts.host_begin) return std::nullopt;
  const std::string_view authority = text.substr(0, parts.path_begin);
  // An IPv6 address has its colons in brackets.
  const std::size_t bracket = authority[parts.host_begin] == '[' ? authority.find(']', parts.host_begin) : 0;
  parts.host_end = std::min(authority.find(':', std::max(parts.host_begin, bracket)), authority.size());
  if (parts.host_end == parts.host_begin) return std::nullopt;
  return parts;
}

}  // namespace

// A hex digit is not decoded right after a '%' that starts no escape, nor after such a '%' and one hex digit: "%%341"
// would become "%41", which would become "A" the next time.
void append_normalised(std::string& out, std::string_view text) {
  constexpr std::size_t none = std::string::npos;
  std::size_t stray = none;  // the position of the last stray '%' in `out`
  for (std::size_t i = 0;;) {
    const std::size_t percent = std::min(text.find('%', i), text.size());
    out.append(text, i, percent - i);
    if (percent == text.size()) return;
    i = percent;
    if (!is_escape(text, i)) {
      stray = out.size();
      out.push_back('%');
      ++i;
      continue;
    }
    const auto byte = static_cast<unsigned char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2]));
    const auto character = static_cast<char>(byte);
    const std::size_t after = stray == none ? none : out.size() - stray;
    const bool would_complete =
        is(character, hex_digit) && (after == 1 || (after == 2 && is(out[stray + 1], hex_digit)));
    if (is(character, unreserved) && !would_complete) {
      out.push_back(character);
    } else {
      append_escape(out, byte);
    }
    i += 3;
  }
}

Result<CanonicalUrl> CanonicalUrl::parse(std::string_view text) {
  const Result<Url> url = Url::parse(text);
  if (!url) return tl::make_unexpected(url.error());
  return from(*url);
}

Result<CanonicalUrl> CanonicalUrl::take_apart(std::string text) {
  if (text.size() > max_url_bytes) return refuse(text, "longer than " + std::to_string(max_url_bytes) + " bytes");
  const std::optional<Parts> parts = parts_of(text);
  if (!parts) return refuse(text, "not in canonical form");
  Result<CanonicalUrl> made{CanonicalUrl()};
  made->host_begin_ = static_cast<std::uint16_t>(parts->host_begin);
  made->host_end_ = static_cast<std::uint16_t>(parts->host_end);
  made->path_begin_ = static_cast<std::uint16_t>(parts->path_begin);
  made->path_end_ = static_cast<std::uint16_t>(std::min(text.find('#', parts->path_begin), text.size()));
  made->port_ = parts->host_begin == 8 ? 443 : 80;
  if (parts->host_end < parts->path_begin)
    std::from_chars(text.data() + parts->host_end + 1, text.data() + parts->path_begin, made->port_);
  made->text_ = std::move(text);
  return made;
}

Result<CanonicalUrl> CanonicalUrl::of_stored(std::string text, const ring::Md5& digest) {
  Result<CanonicalUrl> made = take_apart(std::move(text));
  if (made) made->digest_ = digest;
  return made;
}

Result<CanonicalUrl> CanonicalUrl::of_stored(std::string text) {
  Result<CanonicalUrl> made = take_apart(std::move(text));
  if (made) made->digest_ = ring::md5(made->text_);
  return made;
}

std::string_view CanonicalUrl::host_in(std::string_view text) {
  const std::optional<Parts> parts = parts_of(text);
  return parts ? text.substr(parts->host_begin, parts->host_end - parts->host_begin) : std::string_view();
}

Result<CanonicalUrl> CanonicalUrl::from(const Url& url) {
  const Result<Pieces> pieces = pieces_of(url);
  if (!pieces) return tl::make_unexpected(pieces.error());
  return assemble(*pieces);
}

// Applies rules 1 to 3.
Result<CanonicalUrl::Pieces> CanonicalUrl::pieces_of(const Url& url) {
  if (!url.is_http()) return refuse(url.href(), "neither http nor https");
  std::string_view host = *url.host();  // http and https URLs have one
  if (host.ends_with('.') && !host.ends_with("..")) host.remove_suffix(1);
  if (host.empty()) return refuse(url.href(), "its host is nothing but a dot");
  return Pieces{url.scheme(), host, url.port(), url.path(), url.query() ? *url.query() : std::string_view(), {}};
}

Result<CanonicalUrl> CanonicalUrl::assemble(const Pieces& pieces) {
  Result<CanonicalUrl> made{CanonicalUrl()};
  CanonicalUrl& canonical = *made;
  std::string& text = canonical.text_;
  // room for "://", ":65535", "?", "#"
  text.reserve(pieces.scheme.size() + pieces.host.size() + pieces.path.size() + pieces.query.size() +
               pieces.fragment.size() + 11);
  text.append(pieces.scheme).append("://");
  const std::size_t host_begin = text.size();
  text.append(pieces.host);
  const std::size_t host_end = text.size();
  if (pieces.port) text.append(":").append(std::to_string(*pieces.port));
  const std::size_t path_begin = text.size();
  append_normalised(text, pieces.path);
  if (!pieces.query.empty()) {
    text.push_back('?');
    append_normalised(text, pieces.query);
  }
  const std::size_t path_end = text.size();
  if (!pieces.fragment.empty()) text.append("#").append(pieces.fragment);
  if (text.size() > max_url_bytes) {
    return refuse(text, "longer than " + std::to_string(max_url_bytes) + " bytes in canonical form");
  }
  static_assert(max_url_bytes <= UINT16_MAX);
  canonical.host_begin_ = static_cast<std::uint16_t>(host_begin);
  canonical.host_end_ = static_cast<std::uint16_t>(host_end);
  canonical.path_begin_ = static_cast<std::uint16_t>(path_begin);
  canonical.path_end_ = static_cast<std::uint16_t>(path_end);
  const std::uint16_t default_port = pieces.scheme == "https" ? 443 : 80;
  canonical.port_ = pieces.port.value_or(default_port);
  canonical.digest_ = ring::md5(text);
  return made;
}

std::string_view CanonicalUrl::scheme() const { return std::string_view(text_).substr(0, host_begin_ - 3u); }

std::string_view CanonicalUrl::host() const {
  return std::string_view(text_).substr(host_begin_, static_cast<std::size_t>(host_end_ - host_begin_));
}

std::string_view CanonicalUrl::bare_host() const {
  const std::string_view whole = host();
  return whole.starts_with('[') && whole.ends_with(']') ? whole.substr(1, whole.size() - 2) : whole;
}

std::string_view CanonicalUrl::authority() const {
  return std::string_view(text_).substr(host_begin_, static_cast<std::size_t>(path_begin_ - host_begin_));
}

std::string_view CanonicalUrl::origin() const { return std::string_view(text_).substr(0, path_begin_); }

std::string_view CanonicalUrl::path_and_query() const {
  return std::string_view(text_).substr(path_begin_, static_cast<std::size_t>(path_end_ - path_begin_));
}

std::string_view CanonicalUrl::path() const {
  const std::string_view both = path_and_query();
  return both.substr(0, both.find('?'));
}

Url CanonicalUrl::as_url() const {
  Url url;
  url.scheme_ = scheme();
  url.host_ = host();
  if (host_end_ < path_begin_) url.port_ = port_;
  url.path_ = path();
  if (const std::string_view both = path_and_query(); both.size() > url.path_.size())
    url.query_ = both.substr(url.path_.size() + 1);
  if (path_end_ < text_.size()) url.fragment_ = text_.substr(path_end_ + 1u);
  return url;
}

}  // namespace orbweaver
