#include "node/replay/replay_site.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "node/http_server/byte_range.h"

namespace orbweaver {

namespace {

struct ViewerFile {
  const char* name;
  const char* type;
};
constexpr std::array viewer_files = {
    ViewerFile{"ui.js", "text/javascript; charset=utf-8"},
    ViewerFile{"sw.js", "text/javascript; charset=utf-8"},
    ViewerFile{"adblock/adblock.gz", "application/gzip"},
};

// The viewer reads from the address bar what it shows, and wants the whole address.
constexpr const char* page =
    "<!doctype html>\n<html class=\"no-overflow\">\n<meta charset=\"utf-8\">\n<title>Orbweaver: replay</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n"
    "<script>\n"
    "if (!location.search)\n"
    "  location.replace(`/?source=${encodeURIComponent(location.origin + \"/ring.json\")}#view=pages`);\n"
    "</script>\n<script src=\"ui.js\"></script>\n<replay-app-main></replay-app-main>\n</html>\n";

Result<archive::ByteView> whole_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::invalid_input, "cannot read " + path + ": " + std::strerror(errno));
  const auto file = std::make_shared<archive::OpenFile>(descriptor, path);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(ErrorCode::invalid_input, path + " is no file");
  archive::ByteView view;
  view.append(file, 0, static_cast<std::uint64_t>(facts.st_size));
  return view;
}

HttpAnswer text_of_type(std::string text, const char* type) {
  return {.status = 200, .fields = {{"Content-Type", type}}, .body = std::move(text)};
}

}  // namespace

Result<ReplaySite> ReplaySite::open(const std::string& viewer, bool only_here) {
  ReplaySite site;
  site.only_here_ = only_here;
  for (const ViewerFile& file : viewer_files) {
    auto bytes = whole_file(viewer + "/" + file.name);
    if (!bytes)
      return fail(ErrorCode::invalid_input, "ReplayWeb.page is not there (" + bytes.error().message +
                                                "); deploy/replay-viewer brings it, --viewer DIR says where it is");
    site.files_[std::string("/") + file.name] = {.type = file.type, .bytes = std::move(*bytes)};
  }
  return site;
}

void ReplaySite::add(archive::PackageOfRing package, archive::ByteView bytes) {
  files_["/" + package.name] = {.type = "application/wacz", .bytes = std::move(bytes)};
  packages_.push_back(std::move(package));
}

void ReplaySite::finish(const std::string& title, Time created) {
  ring_ = archive::ring_package(packages_, title, created);
}

bool ReplaySite::is_for_here(const RequestHead& request) const {
  if (!only_here_ || !request.host) return true;
  const std::string_view host = *request.host;
  if (host.starts_with('[')) return host.starts_with("[::1]");
  const std::string_view name = host.substr(0, host.find(':'));
  // No name of DNS has only digits and dots.
  return name == "localhost" || (name.starts_with("127.") && name.find_first_not_of("0123456789.") == name.npos);
}

HttpAnswer ReplaySite::answer(const RequestHead& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer refused = text_answer(405, "only GET and HEAD are answered\n");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  if (!is_for_here(request)) return text_answer(421, "this site is for localhost\n");
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/") return text_of_type(page, "text/html; charset=utf-8");
  if (path == "/ring.json") return text_of_type(ring_, "application/json");
  const auto found = files_.find(path);
  if (found == files_.end()) return text_answer(404, "there is no such file here\n");
  const archive::ByteView& bytes = found->second.bytes;
  return content_answer(
      request,
      {.bytes = bytes.bytes(),
       .read = [&bytes](std::uint64_t offset, std::size_t count) { return bytes.read(offset, count); }},
      found->second.type);
}

}  // namespace orbweaver
