#include "node/tools/seed_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "node/terminal/json_line.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

namespace {
// Well above the length of any admitted URL.
constexpr std::size_t max_line_bytes = 64 << 10;
}  // namespace

Result<std::vector<std::string>> read_seed_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(ErrorCode::invalid_input, "cannot read the seed file " + path + ": " + std::strerror(errno));
  std::vector<std::string> urls;
  std::size_t number = 0;
  for (std::string line; read_line(in, line, max_line_bytes);) {
    ++number;
    if (line.size() > max_line_bytes)
      return fail(ErrorCode::invalid_input, path + ":" + std::to_string(number) + ": a line of more than " +
                                                std::to_string(max_line_bytes) + " bytes; is this a file of URLs?");
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    if (const Result<CanonicalUrl> url = CanonicalUrl::parse(line); !url)
      return fail(ErrorCode::invalid_input, path + ":" + std::to_string(number) + ": " + url.error().message);
    urls.push_back(line);
  }
  if (in.bad()) return fail(ErrorCode::io, "reading the seed file " + path + " failed");
  return urls;
}

Result<void> check_seeds(const std::vector<std::string>& urls) {
  for (const std::string& text : urls)
    if (const Result<CanonicalUrl> url = CanonicalUrl::parse(text); !url)
      return fail(ErrorCode::invalid_input, url.error().message);
  return {};
}

}  // namespace orbweaver
