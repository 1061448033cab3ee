#include "node/url/session_ids.h"

#include <algorithm>
#include <array>

#include "node/url/percent_encode.h"

namespace orbweaver {

using namespace url_text;

namespace {

constexpr std::size_t asp_id_bytes = 24;
constexpr std::array<std::string_view, 3> path_parameters = {"jsessionid", "phpsessid", "sid"};

bool all_unreserved(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return is(c, unreserved); });
}

bool equals_lower(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) { return ascii_lower(a) == b; });
}

// The segment without its session parameters; unchanged where only a dot segment would be left.
std::string without_parameters(std::string_view segment) {
  std::string out;
  for (std::size_t at = 0; at < segment.size();) {
    const std::size_t end = std::min(segment.find(';', at + 1), segment.size());
    const std::string_view piece = segment.substr(at, end - at);  // includes its ';', except for the first
    const std::string_view name = piece.front() == ';' ? piece.substr(1, piece.find('=') - 1) : std::string_view();
    const bool session = piece.find('=') != std::string_view::npos &&
                         std::any_of(path_parameters.begin(), path_parameters.end(),
                                     [&](std::string_view known) { return equals_lower(name, known); });
    if (!session) out.append(piece);
    at = end;
  }
  return out == "." || out == ".." ? std::string(segment) : out;
}

}  // namespace

bool is_session_segment(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')') || text.size() < 2) return false;
  text = text.substr(1, text.size() - 2);
  if (text.size() == asp_id_bytes) return all_unreserved(text);
  bool found = false;
  while (text.size() >= asp_id_bytes + 3 && is_ascii_alpha(text[0]) && text[1] == '(' &&
         text[asp_id_bytes + 2] == ')') {
    if (!all_unreserved(text.substr(2, asp_id_bytes))) return false;
    text.remove_prefix(asp_id_bytes + 3);
    found = true;
  }
  return found && text.empty();
}

std::string without_path_sessions(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t next = std::min(rest.find('/', 1), rest.size());
    const std::string segment = without_parameters(rest.substr(1, next - 1));
    const bool last = next == rest.size();
    if (last || !is_session_segment(segment)) out.append("/").append(segment);
    rest.remove_prefix(next);
  }
  return out;
}

}  // namespace orbweaver
