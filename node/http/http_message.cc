#include "node/http/http_message.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "node/http/content_decoder.h"

namespace orbweaver {
namespace {

// A longer wait counts as this, so that arithmetic on times cannot overflow.
constexpr std::int64_t max_retry_after_seconds = 10LL * 366 * 24 * 3600;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && (blank(text.front()) || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Removes and returns the first line, without its CRLF or bare LF.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Calls visit(value) for each field with that name until it returns false.
template <class Visit>
void each_value(std::string_view head, std::string_view name, Visit visit) {
  if (head.starts_with("HTTP/")) take_line(head);
  while (!head.empty()) {
    const std::string_view line = take_line(head);
    if (line.empty()) return;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !equal_ignoring_case(trim(line.substr(0, colon)), name)) continue;
    std::string value(trim(line.substr(colon + 1)));
    while (!head.empty() && blank(head.front())) {  // obs-fold (RFC 9112, 5.2)
      const std::string_view more = trim(take_line(head));
      if (!value.empty() && !more.empty()) value += ' ';
      value += more;
    }
    if (!visit(std::move(value))) return;
  }
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

std::optional<unsigned> month_number(std::string_view text) {
  constexpr std::array<std::string_view, 12> months{"jan", "feb", "mar", "apr", "may", "jun",
                                                    "jul", "aug", "sep", "oct", "nov", "dec"};
  for (unsigned i = 0; i < months.size(); ++i) {
    if (equal_ignoring_case(text, months[i])) return i + 1;
  }
  return std::nullopt;
}

// Seconds of the day of "08:49:37".
std::optional<int> seconds_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hours = number(text.substr(0, 2));
  const auto minutes = number(text.substr(3, 2));
  const auto seconds = number(text.substr(6, 2));
  if (!hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  return *hours * 3600 + *minutes * 60 + *seconds;
}

std::optional<Time> make_time(std::string_view year, std::string_view month, std::string_view day,
                              std::string_view clock) {
  const auto y = number(year);
  const auto m = month_number(month);
  const auto d = number(day);
  const auto seconds = seconds_of_day(clock);
  if (!y || !m || !d || !seconds || (year.size() != 4 && year.size() != 2)) return std::nullopt;
  // Two digits (RFC 850): there is no clock here for "50 years ahead", so the years split as in POSIX's %y.
  const int full = year.size() == 4 ? *y : *y + (*y < 69 ? 2000 : 1900);
  const std::chrono::year_month_day date{std::chrono::year(full), std::chrono::month(*m),
                                         std::chrono::day(static_cast<unsigned>(*d))};
  if (!date.ok()) return std::nullopt;
  return Time(std::chrono::sys_days(date)) + std::chrono::seconds(*seconds);
}

// A reader's position in a chunked body.
class ChunkReader {
 public:
  explicit ChunkReader(std::string_view body) : rest_(body) {}

  // The next chunk's size; nothing when there is no readable size line.
  std::optional<std::uint64_t> size_line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = trim(rest_.substr(0, std::min(end, rest_.find(';'))));
    std::uint64_t size = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (line.empty() || line.front() == '-' || error != std::errc() || stop != line.data() + line.size()) return {};
    rest_.remove_prefix(end + 1);
    return size;
  }
  std::string_view data(std::uint64_t size) {
    const std::string_view found =
        rest_.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(size, rest_.size())));
    rest_.remove_prefix(found.size());
    return found;
  }
  bool line_end() {
    if (rest_.starts_with("\r\n"))
      rest_.remove_prefix(2);
    else if (rest_.starts_with('\n'))
      rest_.remove_prefix(1);
    else
      return false;
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<std::string> header_value(std::string_view head, std::string_view name) {
  std::optional<std::string> found;
  each_value(head, name, [&found](std::string value) {
    found = std::move(value);
    return false;
  });
  return found;
}

std::vector<std::string> header_values(std::string_view head, std::string_view name) {
  std::vector<std::string> found;
  each_value(head, name, [&found](std::string value) {
    found.push_back(std::move(value));
    return true;
  });
  return found;
}

Decoded decode_chunked(std::string_view body, std::size_t max_bytes) {
  Decoded decoded;
  const auto stop = [&decoded](bool& flag, const char* why) {
    flag = true;
    decoded.problem = why;
    return std::move(decoded);
  };
  ChunkReader reader(body);
  for (;;) {
    const std::optional<std::uint64_t> size = reader.size_line();
    if (!size) return stop(decoded.damaged, "chunked body without a readable chunk size");
    if (*size == 0) return decoded;  // trailers are ignored
    const std::string_view data = reader.data(*size);
    const std::size_t room = max_bytes - decoded.bytes.size();
    decoded.bytes.append(data.substr(0, room));
    if (data.size() > room) return stop(decoded.cut, "chunked body longer than the limit");
    if (data.size() < *size) return stop(decoded.damaged, "chunked body ends inside a chunk");
    if (!reader.line_end()) return stop(decoded.damaged, "chunk without its line end");
  }
}

Decoded decode_content(std::string_view body, std::string_view content_encoding, std::size_t max_bytes) {
  std::vector<ContentCoding> codings;
  std::string_view rest = content_encoding;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::optional<ContentCoding> coding = content_coding(name);
    if (!coding || codings.size() == max_content_codings) {
      const std::string why =
          coding ? "too many content codings" : "unknown content coding '" + std::string(name.substr(0, 40)) + "'";
      return {std::string(body), false, true, why};
    }
    if (*coding != ContentCoding::identity) codings.push_back(*coding);
  }
  if (codings.empty()) {
    Decoded plain{std::string(body.substr(0, max_bytes)), body.size() > max_bytes, false, {}};
    if (plain.cut) plain.problem = "body longer than the limit";
    return plain;
  }
  Decoded decoded;
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    Decoded next = decode_one(coding == codings.rbegin() ? body : std::string_view(decoded.bytes), *coding, max_bytes);
    // Bytes that an outer coding lost stay lost; the first problem explains the later ones.
    next.cut = next.cut || decoded.cut;
    next.damaged = next.damaged || decoded.damaged;
    if (!decoded.problem.empty()) next.problem = std::move(decoded.problem);
    decoded = std::move(next);
  }
  return decoded;
}

std::optional<Time> parse_http_date(std::string_view text) {
  std::array<std::string_view, 7> words;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \t,", i);
    if (begin == std::string_view::npos) break;
    if (count == words.size()) return std::nullopt;
    i = std::min(text.find_first_of(" \t,", begin), text.size());
    words[count++] = text.substr(begin, i - begin);
  }
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  if (count == 6 && equal_ignoring_case(words[5], "GMT")) return make_time(words[3], words[2], words[1], words[4]);
  // "Sun Nov  6 08:49:37 1994" (asctime)
  if (count == 5) return make_time(words[4], words[1], words[2], words[3]);
  // "Sunday, 06-Nov-94 08:49:37 GMT" (RFC 850)
  if (count == 4 && equal_ignoring_case(words[3], "GMT")) {
    const std::string_view date = words[1];
    const std::size_t first = date.find('-');
    const std::size_t second = first == std::string_view::npos ? first : date.find('-', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    return make_time(date.substr(second + 1), date.substr(first + 1, second - first - 1), date.substr(0, first),
                     words[2]);
  }
  return std::nullopt;
}

std::string decoded_body(std::string_view head, std::string_view body, std::size_t max_body_bytes,
                         std::size_t max_decoded_bytes) {
  const auto transfer = header_value(head, "transfer-encoding");
  const bool chunked = transfer && transfer->find("chunked") != std::string::npos;
  std::string bytes = chunked ? decode_chunked(body, max_body_bytes).bytes : std::string(body);
  if (const auto coding = header_value(head, "content-encoding"))
    bytes = decode_content(bytes, *coding, max_decoded_bytes).bytes;
  return bytes;
}

std::optional<Duration> retry_after(std::string_view head, Time now) {
  const std::optional<std::string> value = header_value(head, "retry-after");
  if (!value || value->empty()) return std::nullopt;
  if (value->find_first_not_of("0123456789") == std::string::npos) {
    std::int64_t seconds = max_retry_after_seconds;
    std::from_chars(value->data(), value->data() + value->size(), seconds);  // if too large for the type: the maximum
    return std::chrono::seconds(std::min(seconds, max_retry_after_seconds));
  }
  const std::optional<Time> when = parse_http_date(*value);
  if (!when) return std::nullopt;
  return std::clamp<Duration>(*when - now, Duration::zero(), std::chrono::seconds(max_retry_after_seconds));
}

}  // namespace orbweaver
