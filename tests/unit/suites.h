// The directory of the outside suites: ORBWEAVER_SUITES, else ../shared/suites. Tests skip with a message where they
// are absent.
#pragma once

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace orbweaver::test {

inline std::string suite_path(const std::string& name) {
  const char* given = std::getenv("ORBWEAVER_SUITES");
  return std::string(given != nullptr && *given != '\0' ? given : "../shared/suites") + "/" + name;
}

inline bool suite_exists(const std::string& name) { return std::filesystem::exists(suite_path(name)); }

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The cases of a suite that tests/spec/differences.tsv lists (tests run in the repository's root).
inline std::set<std::string> listed_differences(const std::string& suite) {
  std::set<std::string> cases;
  std::istringstream lines(read_file("tests/spec/differences.tsv"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(suite + "\t"))
      cases.insert(line.substr(suite.size() + 1, line.find('\t', suite.size() + 1) - suite.size() - 1));
  return cases;
}

inline std::string read_gzip_file(const std::string& path) {
  std::string text;
  gzFile in = gzopen(path.c_str(), "rb");
  if (in == nullptr) return text;
  char buffer[1 << 16];
  for (int got = gzread(in, buffer, sizeof buffer); got > 0; got = gzread(in, buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  gzclose(in);
  return text;
}

inline std::string base64_of(const std::string& bytes) {
  constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits * 256 + (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : alphabet[(bits >> (18 - 6 * k)) & 63];
    }
  }
  return out;
}

}  // namespace orbweaver::test
