// The URL standard's "basic URL parser" (https://url.spec.whatwg.org/#url-parsing, review draft of August 2026).
//
// The standard walks code points through a state machine. Here each state is a function that takes its whole component
// off the front of `rest_`, so that components are copied in runs.
// Functions are named after the states. Setters' state overrides are not implemented.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "node/text/shown.h"
#include "node/url/percent_encode.h"
#include "node/url/url.h"
#include "node/url/url_host.h"

namespace orbweaver {

using namespace url_text;

namespace {

struct SpecialScheme {
  std::string_view name;
  std::uint16_t default_port;  // 0: none
};

constexpr SpecialScheme special_schemes[] = {{"http", 80}, {"https", 443}, {"file", 0},
                                             {"ftp", 21},  {"ws", 80},     {"wss", 443}};

const SpecialScheme* find_special(std::string_view scheme) {
  for (const SpecialScheme& special : special_schemes) {
    if (special.name == scheme) return &special;
  }
  return nullptr;
}

bool is_drive_letter(std::string_view text) {
  return text.size() == 2 && is_ascii_alpha(text[0]) && (text[1] == ':' || text[1] == '|');
}

bool starts_with_drive_letter(std::string_view text) {
  if (text.size() < 2 || !is_drive_letter(text.substr(0, 2))) return false;
  return text.size() == 2 || std::string_view("/\\?#").find(text[2]) != std::string_view::npos;
}

// "C:" when the first segment of a serialised path is a normalised Windows drive letter; else empty.
std::string_view leading_drive_letter(std::string_view path) {
  const bool found = path.size() >= 3 && path[0] == '/' && is_ascii_alpha(path[1]) && path[2] == ':' &&
                     (path.size() == 3 || path[3] == '/');
  return found ? path.substr(1, 2) : std::string_view{};
}

// The number of dots in a dot segment: 1 for ".", 2 for "..", each dot also as "%2e"; 0 for an ordinary segment.
int dots_of(std::string_view segment) {
  int dots = 0;
  while (!segment.empty()) {
    if (segment.front() == '.') {
      segment.remove_prefix(1);
    } else if (segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' && ascii_lower(segment[2]) == 'e') {
      segment.remove_prefix(3);
    } else {
      return 0;
    }
    if (++dots > 2) return 0;
  }
  return dots;
}

bool is_c0_or_space(char c) { return static_cast<unsigned char>(c) <= 0x20; }
bool is_tab_or_newline(char c) { return c == '\t' || c == '\n' || c == '\r'; }

// No byte below 0x20 or above 0x7f, checked eight at a time.
bool is_printable_ascii(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t seen = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, 8);
    seen |= bytes | (bytes - ones * 0x20);  // a byte below 0x20 borrows into its high bit
  }
  bool printable = (seen & ones * 0x80) == 0;
  for (; i < text.size(); ++i) printable = printable && text[i] >= 0x20 && static_cast<unsigned char>(text[i]) < 0x80;
  return printable;
}

}  // namespace

// One parse. Each state returns null, or a string literal that describes the failure in the standard's sense.
class UrlParser {
 public:
  // `url` is a new one; after a failure it contains some of the parts.
  UrlParser(std::string_view text, const Url* base, const QueryEncoder* encoder, Url& url)
      : rest_(text), base_(base), encoder_(encoder), url_(url) {}

  static std::string_view cleaned(std::string_view input, std::string& storage);
  const char* run() { return scheme_start(); }

 private:
  const char* scheme_start();
  const char* no_scheme();
  const char* relative();
  const char* relative_slash();
  const char* special_authority_ignore_slashes();
  const char* path_or_authority();
  const char* authority();
  const char* host_and_port(std::string_view text);
  const char* port(std::string_view digits);
  const char* file();
  const char* file_slash();
  const char* file_host();
  const char* path_start();
  const char* path();
  const char* opaque_path();
  const char* query_or_fragment();

  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
  bool next_is_slash() const { return next_is('/') || (special() && next_is('\\')); }
  bool next_is_query_or_fragment() const { return next_is('?') || next_is('#'); }
  bool special() const { return special_ != nullptr; }
  bool is_file() const { return special() && special_->default_port == 0; }
  std::string_view take(std::size_t bytes);
  void set_scheme(std::string_view scheme);
  void copy_authority_of_base();
  void shorten_path();
  void append_segment(std::string_view segment);
  bool copy_plain_path();
  const char* relative_path_or_rest();

  std::string_view rest_;  // the unread input; begins at the standard's pointer
  const Url* base_;
  const QueryEncoder* encoder_;
  const SpecialScheme* special_ = nullptr;
  Url& url_;
};

// Removes C0 controls and spaces around the input, and tabs and newlines in it; ill-formed UTF-8 becomes U+FFFD.
// `storage` contains the text if it changed.
std::string_view UrlParser::cleaned(std::string_view input, std::string& storage) {
  while (!input.empty() && is_c0_or_space(input.front())) input.remove_prefix(1);
  while (!input.empty() && is_c0_or_space(input.back())) input.remove_suffix(1);
  if (is_printable_ascii(input)) return input;
  if (first_invalid_utf8(input)) {
    storage = replace_invalid_utf8(input);
    input = storage;
  }
  if (std::any_of(input.begin(), input.end(), is_tab_or_newline)) {
    std::string joined(input);
    joined.erase(std::remove_if(joined.begin(), joined.end(), is_tab_or_newline), joined.end());
    storage = std::move(joined);
    input = storage;
  }
  return input;
}

std::string_view UrlParser::take(std::size_t bytes) {
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(taken.size());
  return taken;
}

void UrlParser::set_scheme(std::string_view scheme) {
  url_.scheme_ = scheme;
  std::transform(url_.scheme_.begin(), url_.scheme_.end(), url_.scheme_.begin(), ascii_lower);
  special_ = find_special(url_.scheme_);
}

void UrlParser::copy_authority_of_base() {
  url_.username_ = base_->username_;
  url_.password_ = base_->password_;
  url_.host_ = base_->host_;
  url_.port_ = base_->port_;
}

// Scheme start state and scheme state.
const char* UrlParser::scheme_start() {
  std::size_t end = 0;
  if (!at_end() && is_ascii_alpha(rest_.front())) {
    while (end < rest_.size() && is(rest_[end], scheme_char)) ++end;
  }
  if (end == 0 || end == rest_.size() || rest_[end] != ':') return no_scheme();
  set_scheme(take(end));
  take(1);
  if (is_file()) return file();
  if (special() && base_ != nullptr && base_->scheme_ == url_.scheme_) {  // special relative or authority state
    if (!rest_.starts_with("//")) return relative();
    return special_authority_ignore_slashes();
  }
  if (special()) return special_authority_ignore_slashes();
  if (next_is('/')) return path_or_authority();
  return opaque_path();
}

const char* UrlParser::no_scheme() {
  if (base_ == nullptr) return "it has no scheme, and there is no base URL";
  set_scheme(base_->scheme_);
  if (base_->opaque_path_) {
    if (!next_is('#')) return "it has no scheme, and the base URL cannot have relative URLs";
    url_.path_ = base_->path_;
    url_.opaque_path_ = true;
    url_.query_ = base_->query_;
    return query_or_fragment();
  }
  return is_file() ? file() : relative();
}

const char* UrlParser::relative() {
  if (next_is_slash()) {
    take(1);
    return relative_slash();
  }
  copy_authority_of_base();
  return relative_path_or_rest();
}

// The end of the relative state and of the file state: base's path and query, unless the input replaces
// them.
const char* UrlParser::relative_path_or_rest() {
  url_.path_ = base_->path_;
  if (at_end() || next_is('#')) url_.query_ = base_->query_;
  if (at_end() || next_is_query_or_fragment()) return query_or_fragment();
  if (is_file() && starts_with_drive_letter(rest_)) {
    url_.path_.clear();
  } else {
    shorten_path();
  }
  return path();
}

const char* UrlParser::relative_slash() {
  if (special() && next_is_slash()) return special_authority_ignore_slashes();
  if (next_is('/')) {
    take(1);
    return authority();
  }
  copy_authority_of_base();
  return path();
}

// Special authority slashes state too: any number of slashes of either kind is treated as two.
const char* UrlParser::special_authority_ignore_slashes() {
  while (next_is_slash()) take(1);
  return authority();
}

const char* UrlParser::path_or_authority() {
  take(1);
  if (!next_is('/')) return path();
  take(1);
  return authority();
}

const char* UrlParser::authority() {
  std::string_view text = take(find_class(rest_, special() ? slash | backslash | path_end : slash | path_end));
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view credentials = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (text.empty()) return "it has credentials but no host";
    const std::size_t colon = credentials.find(':');
    append_percent_encoded(url_.username_, credentials.substr(0, colon), userinfo_set);
    if (colon != std::string_view::npos) {
      append_percent_encoded(url_.password_, credentials.substr(colon + 1), userinfo_set);
    }
  }
  if (const char* failure = host_and_port(text)) return failure;
  return path_start();
}

// Host state and port state.
const char* UrlParser::host_and_port(std::string_view text) {
  std::size_t colon = text.find(':');
  if (const std::size_t bracket = text.find('['); bracket < colon) {
    bool inside = false;
    for (colon = bracket; colon < text.size() && (inside || text[colon] != ':'); ++colon) {
      if (text[colon] == '[') inside = true;
      if (text[colon] == ']') inside = false;
    }
    if (colon == text.size()) colon = std::string_view::npos;
  }
  const std::string_view host = text.substr(0, colon);
  const bool with_port = colon != std::string_view::npos;
  if (host.empty() && (special() || with_port)) return "it has no host";
  url_.host_.emplace();
  if (const HostFailure failure = parse_host(host, !special(), *url_.host_)) return failure;
  return with_port ? port(text.substr(colon + 1)) : nullptr;
}

const char* UrlParser::port(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char c : digits) {
    if (!is_ascii_digit(c)) return "a port that is not a number";
    number = number * 10 + hex_value(c);
    if (number > 65535) return "a port above 65535";
  }
  const bool is_default = special() && special_->default_port == number && number != 0;
  if (!digits.empty() && !is_default) url_.port_ = static_cast<std::uint16_t>(number);
  return nullptr;
}

const char* UrlParser::file() {
  set_scheme("file");
  url_.host_.emplace();
  if (next_is_slash()) {
    take(1);
    return file_slash();
  }
  if (base_ == nullptr || base_->scheme_ != "file") return path();
  url_.host_ = base_->host_;
  return relative_path_or_rest();
}

const char* UrlParser::file_slash() {
  if (next_is_slash()) {
    take(1);
    return file_host();
  }
  if (base_ != nullptr && base_->scheme_ == "file") {
    url_.host_ = base_->host_;
    const std::string_view drive = leading_drive_letter(base_->path_);
    if (!starts_with_drive_letter(rest_) && !drive.empty()) url_.path_.append("/").append(drive);
  }
  return path();
}

const char* UrlParser::file_host() {
  const std::string_view host = rest_.substr(0, find_class(rest_, slash | backslash | path_end));
  if (is_drive_letter(host)) return path();
  take(host.size());
  if (!host.empty()) {
    if (const HostFailure failure = parse_host(host, false, *url_.host_)) return failure;
    if (*url_.host_ == "localhost") url_.host_->clear();
  }
  return path_start();
}

const char* UrlParser::path_start() {
  if (special()) {
    if (next_is_slash()) take(1);
    return path();
  }
  if (at_end() || next_is_query_or_fragment()) return query_or_fragment();
  if (next_is('/')) take(1);
  return path();
}

void UrlParser::shorten_path() {
  if (is_file() && url_.path_.size() == 3 && !leading_drive_letter(url_.path_).empty()) return;
  const std::size_t last = url_.path_.rfind('/');
  if (last != std::string::npos) url_.path_.resize(last);
}

void UrlParser::append_segment(std::string_view segment) {
  const bool drive = is_file() && url_.path_.empty() && is_drive_letter(segment);
  url_.path_.push_back('/');
  append_percent_encoded(url_.path_, segment, path_set);
  if (drive) url_.path_.back() = ':';
}

// Copies the whole path at once when no byte of it needs special treatment: the usual case. False: nothing was read.
bool UrlParser::copy_plain_path() {
  if (is_file()) return false;
  std::size_t end = 0;
  for (char previous = '/'; end < rest_.size(); ++end) {
    const char c = rest_[end];
    if (is(c, path_set | backslash)) {
      if (is(c, path_end)) break;
      return false;
    }
    if (previous == '/' && (c == '.' || c == '%')) return false;
    previous = c;
  }
  url_.path_.reserve(url_.path_.size() + 1 + end);
  url_.path_.push_back('/');
  url_.path_.append(take(end));
  return true;
}

const char* UrlParser::path() {
  if (copy_plain_path()) return query_or_fragment();
  std::string_view text = take(find_class(rest_, path_end));
  url_.path_.reserve(url_.path_.size() + 1 + text.size());
  for (bool more = true; more;) {
    const std::size_t end = find_class(text, special() ? slash | backslash : slash);
    const std::string_view segment = text.substr(0, end);
    more = end != text.size();
    const int dots = dots_of(segment);
    if (dots == 2) shorten_path();
    if (dots == 0) {
      append_segment(segment);
    } else if (!more) {
      url_.path_.push_back('/');
    }
    if (more) text.remove_prefix(end + 1);
  }
  return query_or_fragment();
}

const char* UrlParser::opaque_path() {
  url_.opaque_path_ = true;
  const std::string_view text = take(find_class(rest_, path_end));
  append_percent_encoded(url_.path_, text, c0_control_set);
  // A last space would be lost when the serialisation is parsed again.
  if (text.ends_with(' ') && !at_end()) url_.path_.replace(url_.path_.size() - 1, 1, "%20");
  return query_or_fragment();
}

// Query state and fragment state; the rest is empty or begins with '?' or '#'.
const char* UrlParser::query_or_fragment() {
  if (next_is('?')) {
    take(1);
    const std::string_view text = take(std::min(rest_.find('#'), rest_.size()));
    const bool legacy = encoder_ != nullptr && special() && url_.scheme_ != "ws" && url_.scheme_ != "wss";
    url_.query_.emplace();
    const CharClass set = special() ? special_query_set : query_set;
    if (legacy) {
      append_percent_encoded(*url_.query_, encoder_->encode(text), set);
    } else {
      append_percent_encoded(*url_.query_, text, set);
    }
  }
  if (next_is('#')) {
    take(1);
    url_.fragment_.emplace();
    append_percent_encoded(*url_.fragment_, rest_, fragment_set);
  }
  return nullptr;
}

Result<Url> Url::parse(std::string_view input, const Url* base, const QueryEncoder* query_encoder) {
  if (input.size() > max_url_input_bytes) {
    return fail(ErrorCode::invalid_input,
                "URL " + shown(input) + ": longer than " + std::to_string(max_url_input_bytes) + " bytes");
  }
  std::string storage;
  Result<Url> url;
  UrlParser parser(UrlParser::cleaned(input, storage), base, query_encoder, *url);
  if (const char* failure = parser.run()) {
    url = fail(ErrorCode::invalid_input, "URL " + shown(input) + ": " + failure);
  }
  return url;
}

}  // namespace orbweaver
