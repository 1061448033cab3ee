#include "node/sampleweb/sample_tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "node/sampleweb/sample_text.h"

namespace orbweaver::sample {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_listed = 100'000;  // entries of a directory's list

SampleAnswer plain(int status, std::string_view title) {
  SampleAnswer out;
  out.status = status;
  out.content_type = "text/html; charset=utf-8";
  out.body = "<!DOCTYPE html><title>" + std::string(title) + "</title><p>" + std::string(title);
  return out;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view plain_marks = "-._~/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain_marks.find(c) != std::string_view::npos) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', digits[byte >> 4], digits[byte & 15]});
    }
  }
  return out;
}

std::string_view type_of(std::string ending) {
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> types{{{".html", "text/html"},
                                                                                 {".htm", "text/html"},
                                                                                 {".xhtml", "application/xhtml+xml"},
                                                                                 {".txt", "text/plain"},
                                                                                 {".css", "text/css"},
                                                                                 {".js", "text/javascript"},
                                                                                 {".json", "application/json"},
                                                                                 {".xml", "application/xml"},
                                                                                 {".png", "image/png"},
                                                                                 {".jpg", "image/jpeg"},
                                                                                 {".gif", "image/gif"},
                                                                                 {".svg", "image/svg+xml"},
                                                                                 {".pdf", "application/pdf"},
                                                                                 {".gz", "application/gzip"},
                                                                                 {".ico", "image/x-icon"}}};
  for (const auto& [end, type] : types) {
    if (ending == end) return type;
  }
  return "application/octet-stream";
}

}  // namespace

Result<SampleTree> SampleTree::open(const std::string& directory) {
  std::error_code error;
  fs::path root = fs::canonical(directory, error);
  if (error) return fail(ErrorCode::io, "cannot serve the directory " + directory + ": " + error.message());
  if (!fs::is_directory(root, error)) return fail(ErrorCode::invalid_input, directory + " is not a directory");
  return SampleTree(std::move(root));
}

bool SampleTree::inside(const fs::path& path) const {
  const auto [root_end, path_end] = std::mismatch(root_.begin(), root_.end(), path.begin(), path.end());
  return root_end == root_.end();
}

SampleAnswer SampleTree::answer(std::string_view path_and_query) const {
  const std::string_view path = path_and_query.substr(0, path_and_query.find('?'));
  const std::string decoded = percent_decoded(path);
  if (!path.starts_with('/') || decoded.find('\0') != std::string::npos) return plain(400, "Bad path");
  std::error_code error;
  const fs::path found = fs::canonical(root_ / fs::path(decoded).relative_path(), error);
  if (error || !inside(found)) return plain(404, "Not found");
  if (fs::is_directory(found, error)) return directory_answer(found, path);
  if (path.ends_with('/') || !fs::is_regular_file(found, error)) return plain(404, "Not found");
  return file_answer(found);
}

SampleAnswer SampleTree::directory_answer(const fs::path& directory, std::string_view path) const {
  if (!path.ends_with('/')) {
    // One '/' in front, however many the request had: "//name/" would name a host.
    const std::size_t start = std::min(path.find_first_not_of('/'), path.size());
    SampleAnswer out = plain(301, "Moved");
    out.headers.emplace_back("Location", "/" + percent_encoded(percent_decoded(path.substr(start))) + "/");
    return out;
  }
  std::error_code error;
  const fs::path index = fs::canonical(directory / "index.html", error);
  if (!error && inside(index) && fs::is_regular_file(index, error)) return file_answer(index);

  std::vector<std::string> names;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < max_listed; entry.increment(error)) {
    std::error_code unreadable;
    names.push_back(entry->path().filename().string() + (entry->is_directory(unreadable) ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  SampleAnswer out = plain(200, "Directory");
  out.body.append("\n<ul>\n");
  for (const std::string& name : names) {
    // "./" so that a name with ':' is not read as a scheme.
    out.body.append("<li><a href=\"./").append(percent_encoded(name)).append("\">");
    out.body.append(percent_encoded(name)).append("</a></li>\n");
  }
  out.body.append("</ul>\n");
  return out;
}

SampleAnswer SampleTree::file_answer(const fs::path& file) const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) return plain(404, "Not found");
  if (size > max_tree_file_bytes) return plain(413, "Too large to serve");
  std::ifstream in(file, std::ios::binary);
  if (!in) return plain(403, "Not readable");
  SampleAnswer out;
  out.body.resize(static_cast<std::size_t>(size));
  in.read(out.body.data(), static_cast<std::streamsize>(size));
  out.body.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  out.content_type = type_of(file.extension().string());
  out.compress = out.content_type.starts_with("text/");
  return out;
}

}  // namespace orbweaver::sample
