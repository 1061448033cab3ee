#include "node/http/response_head.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace orbweaver {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool same_word(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + 32) : x) == y;
         });
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<int> status_of_line(std::string_view line) {
  constexpr std::string_view start = "HTTP/";
  if (!line.starts_with(start)) return std::nullopt;
  line.remove_prefix(start.size());
  const auto version_end = std::find_if_not(line.begin(), line.end(), [](char c) { return is_digit(c) || c == '.'; });
  if (version_end == line.begin() || version_end == line.end() || *version_end != ' ') return std::nullopt;
  line = trimmed(line.substr(static_cast<std::size_t>(version_end - line.begin())));
  const std::string_view code = line.substr(0, line.find(' '));
  if (code.size() != 3 || !std::all_of(code.begin(), code.end(), is_digit)) return std::nullopt;
  return (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
}

void ResponseHead::reset(std::size_t max_bytes) {
  *this = ResponseHead();
  max_bytes_ = max_bytes;
}

ResponseHead::Verdict ResponseHead::take(std::string_view line) {
  if (verdict_ == Verdict::ok) verdict_ = judge(line);
  return verdict_;
}

ResponseHead::Verdict ResponseHead::judge(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > max_bytes_) return Verdict::too_large;
  if (whole_) return Verdict::ok;  // trailers, if libcurl delivers any: counted, not kept
  if (status_line_due_) {
    text_.assign(line);
    length_.clear();
    bad_length_ = coded_ = status_line_due_ = false;
    const std::optional<int> status = status_of_line(line);
    if (!status || *status < 100 || *status > 599 || *status == 101) return Verdict::bad_status;
    status_ = *status;
    return Verdict::ok;
  }
  text_.append(line);
  if (trimmed(line).empty()) return end_of_head();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Verdict::ok;  // libcurl judges lines without a colon
  const std::string_view name = trimmed(line.substr(0, colon));
  if (same_word(name, "content-length")) {
    if (!take_length(line.substr(colon + 1))) bad_length_ = true;
  } else if (same_word(name, "transfer-encoding")) {
    coded_ = true;
  }
  return Verdict::ok;
}

ResponseHead::Verdict ResponseHead::end_of_head() {
  if (status_ < 200) {
    status_line_due_ = true;
    status_ = 0;
    text_.clear();
    return Verdict::ok;
  }
  whole_ = true;
  return bad_length_ && !coded_ ? Verdict::bad_length : Verdict::ok;
}

// "5" or, from a proxy that joined fields, "5, 5" (RFC 9112, 6.3, rule 5).
bool ResponseHead::take_length(std::string_view value) {
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view digits = trimmed(value.substr(0, comma));
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return false;
    if (length_.empty()) {
      length_.assign(digits);
    } else if (length_ != digits) {
      return false;
    }
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

std::optional<std::uint64_t> ResponseHead::content_length() const {
  std::uint64_t value = 0;
  const char* end = length_.data() + length_.size();
  if (length_.empty() || bad_length_ || coded_) return std::nullopt;
  if (std::from_chars(length_.data(), end, value).ec != std::errc{}) return std::nullopt;
  return value;
}

std::string ResponseHead::release_text() { return std::move(text_); }

}  // namespace orbweaver
