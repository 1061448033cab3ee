#include "node/html/text_links.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

bool is_alnum(char c) {
  const char lower = to_lower_ascii(c);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

bool starts_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && equals_ignoring_case(text.substr(0, lower.size()), lower);
}

bool is_absolute(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (starts_ignoring_case(text, scheme) && text.size() > scheme.size() &&
        (is_alnum(text[scheme.size()]) || text[scheme.size()] == '[' ||
         static_cast<unsigned char>(text[scheme.size()]) >= 0x80))
      return true;
  return false;
}

bool ends_text_url(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7f || std::string_view("<>\"`{}|\\^").find(c) != std::string_view::npos;
}

std::string_view without_sentence_end(std::string_view url) {
  for (bool more = true; more && !url.empty();) {
    const char last = url.back();
    const char opener = last == ')' ? '(' : last == ']' ? '[' : '\0';
    more = std::string_view(".,;:!?'*_").find(last) != std::string_view::npos ||
           (opener != '\0' && std::count(url.begin(), url.end(), last) > std::count(url.begin(), url.end(), opener));
    if (more) url.remove_suffix(1);
  }
  return url;
}

// The value of a script's string, escapes decoded; escapes of line ends and octal digits stay as they are.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    const std::size_t digits = kind == 'u' ? 4 : kind == 'x' ? 2 : 0;
    char32_t code_point = 0;
    bool is_hex = digits > 0 && i + digits < text.size();
    for (std::size_t k = 1; is_hex && k <= digits; ++k) {
      const char c = to_lower_ascii(text[i + k]);
      const bool digit = c >= '0' && c <= '9';
      is_hex = digit || (c >= 'a' && c <= 'f');
      if (is_hex) code_point = code_point * 16 + static_cast<char32_t>(digit ? c - '0' : c - 'a' + 10);
    }
    if (is_hex) {
      append_utf8(code_point, out);
      i += digits;
    } else if (kind == 'n' || kind == 't' || kind == 'r') {
      out += ' ';
    } else {
      out += kind;
    }
  }
  return out;
}

// A path that ends like a page's: the part before '?' or '#' has one of these extensions.
bool ends_like_a_page(std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  constexpr std::array<std::string_view, 10> endings = {"html", "htm",  "xhtml", "shtml", "php",
                                                        "asp",  "aspx", "jsp",   "pdf",   "xml"};
  const std::string_view ending = path.substr(dot + 1);
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view known) { return equals_ignoring_case(ending, known); });
}

bool looks_like_a_url(std::string_view text) {
  if (text.size() < 3 || text.size() > max_text_url_bytes) return false;
  const auto is_url_char = [](char c) { return !ends_text_url(c) && c != '\'' && c != '$'; };
  if (!std::all_of(text.begin(), text.end(), is_url_char)) return false;
  if (is_absolute(text)) return true;
  if (text.starts_with("//")) {
    const std::string_view host = text.substr(2, text.find_first_of("/?#", 2) - 2);
    const std::size_t dot = host.rfind('.');
    return dot != std::string_view::npos && dot > 0 && dot + 2 < host.size() && is_alnum(host.front());
  }
  const bool like_an_expression = text.find_first_of("()[],;*+") != std::string_view::npos;
  if (text.starts_with('/')) return is_alnum(text[1]) && !like_an_expression;
  if (text.starts_with("./") || text.starts_with("../")) return is_alnum(text.back()) || text.back() == '/';
  return is_alnum(text.front()) && text.find(':') == std::string_view::npos && !like_an_expression &&
         ends_like_a_page(text);
}

class JsonUrls {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t) { return true; }
  bool number_unsigned(number_unsigned_t) { return true; }
  bool number_float(number_float_t, const string_t&) { return true; }
  bool binary(binary_t&) { return true; }
  bool start_object(std::size_t) { return true; }
  bool end_object() { return true; }
  bool start_array(std::size_t) { return true; }
  bool end_array() { return true; }
  bool key(string_t& name) {
    is_name_ = name == "@context" || name == "@type" || name == "@vocab";
    constexpr std::array<std::string_view, 10> keys = {"@id",          "url",  "sameAs", "contentUrl",       "embedUrl",
                                                       "thumbnailUrl", "logo", "image",  "mainEntityOfPage", "item"};
    is_url_ = std::find(keys.begin(), keys.end(), name) != keys.end();
    return true;
  }
  bool string(string_t& text) {
    const bool fits = text.size() <= max_text_url_bytes && !text.empty() && text.front() != '#' &&
                      text.find_first_of(" \n") == std::string::npos && !text.starts_with("_:");
    if (fits && !is_name_ && (is_url_ || is_absolute(text))) urls.push_back(text);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }

  std::vector<std::string> urls;

 private:
  bool is_name_ = false;  // whether the last key's value is a name, not an address
  bool is_url_ = false;   // whether the last key's value is a URL
};

}  // namespace

std::vector<std::string> plain_text_urls(std::string_view text) {
  std::vector<std::string> urls;
  for (std::size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at)) {
    std::size_t begin = at;
    while (begin > 0 && at - begin < 6 && is_alnum(text[begin - 1])) --begin;
    const std::string_view scheme = text.substr(begin, at - begin);
    const bool is_http = equals_ignoring_case(scheme, "http") || equals_ignoring_case(scheme, "https");
    std::size_t end = at + 3;
    while (end < text.size() && end - begin <= max_text_url_bytes && !ends_text_url(text[end])) ++end;
    if (is_http && end - begin <= max_text_url_bytes) {
      const std::string_view url = without_sentence_end(text.substr(begin, end - begin));
      if (is_absolute(url)) urls.emplace_back(url);
    }
    at = end;
  }
  return urls;
}

std::vector<std::string> script_urls(std::string_view script) {
  std::vector<std::string> urls;
  // An unclosed quote (an apostrophe in a comment, a regular expression) is skipped. Looking for its end is expensive,
  // so the total is bounded.
  std::size_t budget = script.size() * 8 + 1024;
  for (std::size_t at = 0; at < script.size() && budget > 0;) {
    const char quote = script[at++];
    if (quote != '"' && quote != '\'' && quote != '`') continue;
    std::size_t end = at;
    while (end < script.size() && script[end] != quote && script[end] != '\n' && end - at <= max_text_url_bytes)
      end += script[end] == '\\' ? 2 : 1;
    budget -= std::min(budget, end - at);
    if (end >= script.size() || script[end] != quote) continue;
    const std::string text = unescaped(script.substr(at, end - at));
    if (looks_like_a_url(text)) urls.push_back(text);
    at = end + 1;
  }
  return urls;
}

std::vector<std::string> json_ld_urls(std::string_view json) {
  JsonUrls found;
  nlohmann::json::sax_parse(json.begin(), json.end(), &found);
  return std::move(found.urls);
}

}  // namespace orbweaver::html
