#include "node/config/sources/list_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace orbweaver {

namespace {

Result<void> add_lines(const std::string& path, std::vector<std::string>& out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::invalid_setting, "cannot read " + path + ": " + std::strerror(errno));
  std::string text(max_list_file_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return fail(ErrorCode::io, "reading " + path + " failed");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > max_list_file_bytes)
    return fail(ErrorCode::invalid_setting,
                path + " is larger than " + std::to_string(max_list_file_bytes) + " bytes; is this a list of entries?");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    out.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_list_files(const std::vector<std::string>& entries) {
  std::vector<std::string> out;
  for (const std::string& entry : entries) {
    if (!entry.starts_with('@')) {
      out.push_back(entry);
    } else if (Result<void> added = add_lines(entry.substr(1), out); !added) {
      return tl::make_unexpected(added.error());
    }
  }
  return out;
}

}  // namespace orbweaver
