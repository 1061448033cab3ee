#include "node/graph/edge_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "node/sort/external_sort.h"

namespace orbweaver {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 19 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

std::string shortened(std::string_view text) {
  return text.size() <= 80 ? std::string(text) : std::string(text.substr(0, 77)) + "...";
}

// The fault of a line, or empty; `from` and `to` are views into it.
std::string split(std::string_view line, std::string_view& from, std::string_view& to) {
  const std::size_t end = line.find_first_of("\t ");
  const std::size_t begin = line.find_first_not_of("\t ", end);
  if (end == 0 || end == std::string_view::npos || begin == std::string_view::npos) return "is not FROM<TAB>TO";
  from = line.substr(0, end);
  to = line.substr(begin);
  while (to.ends_with(' ') || to.ends_with('\t')) to.remove_suffix(1);
  if (to.find_first_of("\t ") != std::string_view::npos) return "has more than FROM<TAB>TO";
  for (const std::string_view name : {from, to})
    if (!is_number(name) && !is_url(name)) return "'" + shortened(name) + "' is neither an http(s) URL nor a number";
  if (is_number(from) != is_number(to)) return "has a URL and a number";
  return {};
}

}  // namespace

Result<void> read_edge_file(const std::string& path, const TakeEdge& take) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  std::vector<char> buffer(max_edge_line);
  std::string line;
  std::uint64_t number = 0;
  std::uint64_t edges = 0;
  std::optional<bool> numbers;
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorCode::invalid_input, path + ", line " + std::to_string(number) + ": " + what);
  };
  const auto take_line = [&]() -> Result<void> {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.front() == '#') return {};
    std::string_view from, to;
    if (const std::string what = split(line, from, to); !what.empty()) return wrong(what);
    if (numbers.value_or(is_number(from)) != is_number(from))
      return wrong(*numbers ? "has URLs, where the lines before have numbers"
                            : "has numbers, where the lines before have URLs");
    numbers = is_number(from);
    ++edges;
    return take(from, to);
  };
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    for (std::string_view rest(buffer.data(), got); !rest.empty();) {
      const std::size_t end = rest.find('\n');
      line.append(rest.substr(0, end));
      if (line.size() > max_edge_line) {
        ++number;
        return wrong("is longer than " + std::to_string(max_edge_line) + " bytes");
      }
      if (end == std::string_view::npos) break;
      if (Result<void> taken = take_line(); !taken) return taken;
      line.clear();
      rest.remove_prefix(end + 1);
    }
  }
  if (std::ferror(file.get()) != 0) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  if (!line.empty())
    if (Result<void> taken = take_line(); !taken) return taken;
  if (edges == 0) return fail(ErrorCode::invalid_input, path + ": has no edge in it");
  return {};
}

}  // namespace orbweaver
