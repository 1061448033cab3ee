#include "node/archive/wacz.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/archive/capture.h"
#include "node/archive/index_lines.h"
#include "node/archive/page_list.h"
#include "node/archive/replay_key.h"
#include "node/archive/spool.h"
#include "node/digest/sha256.h"
#include "node/sort/external_sort.h"
#include "node/system/private_file.h"
#include "node/try.h"
#include "storage/warc_format.h"

namespace orbweaver::archive {

namespace {

using nlohmann::ordered_json;

constexpr const char* wacz_version = "1.1.1";  // py-wacz refuses 1.2.0
constexpr const char* auth_version = "0.1.0";
// As py-wacz makes them.
constexpr std::size_t lines_per_block = 1024;
// Of a record: its head, and as much of a page as holds its title.
constexpr std::uint64_t kept_bytes = 128u << 10;

std::string text_of(const ordered_json& json, int indent = -1) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// "2026-11-27T12:00:00Z": py-wacz takes no fraction of a second.
std::string date_of(Time time) { return storage::warc_date(time).substr(0, 19) + "Z"; }

std::string software() { return "orbweaver " ORBWEAVER_VERSION; }

Result<Hashed> become_entry(Spool& spool, ZipFile& zip, const std::string& name, bool stored) {
  ORBWEAVER_TRY(spool.close());
  ORBWEAVER_TRY(zip.begin(name, spool.bytes(), stored));
  std::ifstream in(spool.path(), std::ios::binary);
  std::string piece(std::size_t{1} << 20, '\0');
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)
    ORBWEAVER_TRY(zip.write(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount()))));
  return zip.end();
}

class Package {
 public:
  Package(const WaczOptions& options, ZipFile& zip, const WorkDirectory& work)
      : options_(options),
        zip_(zip),
        lines_(work.path(), "lines", index_sort_memory, false),
        index_(work.file("index")),
        summary_(work.file("summary")),
        seeds_(work.file("seeds")),
        others_(work.file("others")) {}

  Result<void> add_warc(const std::string& path) {
    const auto file = ArchiveFile::open(path);
    if (!file) return tl::make_unexpected(file.error());
    const auto read = (*file)->read(kept_bytes, [this](const Capture& capture) { return add(capture); });
    if (!read) return tl::make_unexpected(read.error());
    written_.damaged += read->damaged;
    if (read->end == 0) return {};
    ++written_.files;
    const std::string name = "archive/" + (*file)->name();
    return list(name, zip_.add_file(name, (*file)->file(), read->end));
  }

  Result<WaczWritten> finish() {
    ORBWEAVER_TRY(add_index());
    ORBWEAVER_TRY(list("pages/pages.jsonl", become_entry(seeds_, zip_, "pages/pages.jsonl", false)));
    // py-wacz takes no list without a page, but for the first.
    if (others_.bytes() > 0)
      ORBWEAVER_TRY(list("pages/extraPages.jsonl", become_entry(others_, zip_, "pages/extraPages.jsonl", false)));
    ORBWEAVER_TRY(add_description());
    auto whole = zip_.close();
    if (!whole) return tl::make_unexpected(whole.error());
    written_.package = std::move(*whole);
    return written_;
  }
  std::uint64_t captures() const { return written_.captures; }

 private:
  Result<void> add(const Capture& capture) {
    const std::string line = cdxj_line(capture, replay_key(capture.url));
    if (line.empty()) return {};
    ++written_.captures;
    ORBWEAVER_TRY(lines_.add(line));
    const std::optional<ordered_json> page = page_of(capture);
    if (!page) return {};
    ++written_.pages;
    const bool seed = options_.seeds.empty() || options_.seeds.contains(capture.url);
    return add_page(seed ? seeds_ : others_, seed ? "All Pages" : "Extra Pages", *page);
  }

  Result<void> add_page(Spool& pages, const char* title, const ordered_json& page) {
    if (pages.bytes() == 0) ORBWEAVER_TRY(begin_pages(pages, title));
    return pages.add(text_of(page) + "\n");
  }
  static Result<void> begin_pages(Spool& pages, const char* title) {
    return pages.add(text_of({{"format", "json-pages-1.0"}, {"id", "pages"}, {"title", title}}) + "\n");
  }

  Result<void> add_index() {
    ORBWEAVER_TRY(
        summary_.add("!meta 0 " + text_of({{"format", "cdxj-gzip-1.0"}, {"filename", "index.cdx.gz"}}) + "\n"));
    BlockWriter blocks(lines_per_block, [this](const BlockWriter::Block& block) -> Result<void> {
      ORBWEAVER_TRY(index_.add(block.bytes));
      return summary_.add(block.first + " " +
                          text_of({{"offset", block.offset},
                                   {"length", block.bytes.size()},
                                   {"digest", "sha256:" + sha256_of(block.bytes)},
                                   {"filename", "index.cdx.gz"}}) +
                          "\n");
    });
    ORBWEAVER_TRY(lines_.finish());
    std::string_view line;
    for (;;) {
      const Result<bool> more = lines_.next(line);
      if (!more) return tl::make_unexpected(more.error());
      if (!*more) break;
      ORBWEAVER_TRY(blocks.add(line));
    }
    ORBWEAVER_TRY(blocks.finish());
    ORBWEAVER_TRY(list("indexes/index.cdx.gz", become_entry(index_, zip_, "indexes/index.cdx.gz", true)));
    if (seeds_.bytes() == 0) ORBWEAVER_TRY(begin_pages(seeds_, "All Pages"));
    return list("indexes/index.idx", become_entry(summary_, zip_, "indexes/index.idx", false));
  }

  Result<void> list(const std::string& path, const Result<Hashed>& entry) {
    if (!entry) return tl::make_unexpected(entry.error());
    std::string name = std::filesystem::path(path).filename().string();
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    resources_.push_back(
        {{"name", name}, {"path", path}, {"hash", "sha256:" + entry->sha256}, {"bytes", entry->bytes}});
    return {};
  }

  Result<void> add_description() {
    ordered_json package = {{"profile", "data-package"}, {"wacz_version", wacz_version}};
    package["title"] = options_.title;
    if (!options_.description.empty()) package["description"] = options_.description;
    package["software"] = software();
    package["created"] = date_of(options_.created);
    package["resources"] = resources_;
    const std::string text = text_of(package, 2) + "\n";
    const std::string hash = "sha256:" + sha256_of(text);
    ordered_json digest = {{"path", "datapackage.json"}, {"hash", hash}};
    if (options_.key != nullptr) {
      const auto signature = options_.key->sign(hash);
      if (!signature) return tl::make_unexpected(signature.error());
      const auto public_key = options_.key->public_key();
      if (!public_key) return tl::make_unexpected(public_key.error());
      digest["signedData"] = {{"hash", hash},
                              {"created", date_of(options_.created)},
                              {"software", software()},
                              {"version", auth_version},
                              {"signature", *signature},
                              {"publicKey", *public_key}};
    }
    const auto added = zip_.add("datapackage-digest.json", text_of(digest, 2) + "\n", false);
    if (!added) return tl::make_unexpected(added.error());
    const auto last = zip_.add("datapackage.json", text, false);
    if (!last) return tl::make_unexpected(last.error());
    return {};
  }

  const WaczOptions& options_;
  ZipFile& zip_;
  ExternalSort lines_;
  Spool index_;
  Spool summary_;
  Spool seeds_;
  Spool others_;
  ordered_json resources_ = ordered_json::array();
  WaczWritten written_;
};

Result<WaczWritten> fill(const std::vector<std::string>& warc_files, const std::string& path,
                         const WaczOptions& options, const WorkDirectory& work, ZipFile& zip) {
  Package package(options, zip, work);
  for (const std::string& file : warc_files) ORBWEAVER_TRY(package.add_warc(file));
  if (package.captures() == 0)
    return fail(ErrorCode::invalid_input, "no archive file of " + path + " has a response in it");
  return package.finish();
}

}  // namespace

Result<WaczWritten> write_wacz(const std::vector<std::string>& warc_files, const std::string& path,
                               const WaczOptions& options) {
  const auto work = WorkDirectory::make(path + ".work");
  if (!work) return tl::make_unexpected(work.error());
  const auto zip = ZipFile::create(path, options.created);
  if (!zip) return tl::make_unexpected(zip.error());
  return fill(warc_files, path, options, **work, **zip);
}

Result<WaczWritten> view_wacz(const std::vector<std::string>& warc_files, const std::string& path,
                              const WaczOptions& options, ByteView& view) {
  const auto work = WorkDirectory::make(path + ".work");
  if (!work) return tl::make_unexpected(work.error());
  const auto zip = ZipFile::create_view((*work)->file("view"), options.created, view);
  if (!zip) return tl::make_unexpected(zip.error());
  return fill(warc_files, path, options, **work, **zip);
}

std::string ring_package(const std::vector<PackageOfRing>& packages, const std::string& title, Time created) {
  ordered_json resources = ordered_json::array();
  ordered_json preloaded = ordered_json::array();
  for (const auto& [name, package] : packages) {
    const std::string id = name.substr(0, name.size() - std::strlen(wacz_ending));
    resources.push_back({{"name", name},
                         {"path", name},
                         {"hash", "sha256:" + package.sha256},
                         {"bytes", package.bytes},
                         {"crawlId", id}});
    preloaded.push_back({{"name", name}});
  }
  ordered_json ring = {{"profile", "multi-wacz-package"}, {"title", title}, {"software", software()}};
  ring["created"] = date_of(created);
  ring["resources"] = resources;
  // ReplayWeb.page asks at most three packages for a page without this.
  ring["preloadResources"] = preloaded;
  return text_of(ring, 2) + "\n";
}

Result<std::size_t> write_ring_package(const std::string& directory, const std::string& title, Time created) {
  std::vector<PackageOfRing> packages;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), last; !error && at != last; at.increment(error))
    if (std::string name = at->path().filename().string(); name.ends_with(wacz_ending))
      packages.push_back({.name = std::move(name), .package = {}});
  if (error) return fail(ErrorCode::io, "cannot read " + directory + ": " + error.message());
  if (packages.empty()) return fail(ErrorCode::invalid_input, "there is no *.wacz in " + directory);
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (PackageOfRing& one : packages) {
    Result<Hashed> package = hash_of_file(directory + "/" + one.name);
    if (!package) return tl::make_unexpected(package.error());
    one.package = std::move(*package);
  }
  ORBWEAVER_TRY(write_whole(directory + "/ring.json", ring_package(packages, title, created), Durability::process));
  return packages.size();
}

}  // namespace orbweaver::archive
