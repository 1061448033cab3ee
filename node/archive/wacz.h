// WACZ packages of archives (https://specs.webrecorder.net/wacz/1.1.1/), which ReplayWeb.page and the tools around it
// open: WARC files, an index in compressed blocks, the pages with their titles, and hashes of all of it. One package
// a peer, and one small file that makes several packages one. Memory is bounded: what grows with the archive is sorted
// and kept in files beside the package. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "node/archive/signature.h"
#include "node/archive/zip_file.h"
#include "node/base.h"

namespace orbweaver::archive {

inline constexpr const char* wacz_ending = ".wacz";

struct WaczOptions {
  std::string title;
  std::string description;
  std::set<std::string, std::less<>> seeds;  // canonical URLs: listed first
  const SigningKey* key = nullptr;           // null: not signed
  Time created{};
};

struct WaczWritten {
  Hashed package;
  std::uint64_t files = 0;     // WARC files in it
  std::uint64_t captures = 0;  // in its index
  std::uint64_t pages = 0;     // in its lists
  std::uint64_t damaged = 0;   // records that could not be read, and are in no index
};

// Writes the package `path` from WARC files, finished ones and those that are being written (up to the last whole
// record). While it works there is a directory `path`.work. Errors: invalid_input when no file has a capture; io,
// disk_full.
Result<WaczWritten> write_wacz(const std::vector<std::string>& warc_files, const std::string& path,
                               const WaczOptions& options);

// The same, byte for byte, without copying the archive: `view` gets what the package has of WARC files as places in
// them. Besides these it takes an unnamed file in the directory of `path` while the view is there.
Result<WaczWritten> view_wacz(const std::vector<std::string>& warc_files, const std::string& path,
                              const WaczOptions& options, ByteView& view);

struct PackageOfRing {
  std::string name;  // ends in wacz_ending
  Hashed package;
};
// The text of ring.json.
std::string ring_package(const std::vector<PackageOfRing>& packages, const std::string& title, Time created);

// Writes DIRECTORY/ring.json over all packages in the directory ("multi-wacz-package", webrecorder/specs#135). Returns
// how many there are. Errors: invalid_input when there is none; io.
Result<std::size_t> write_ring_package(const std::string& directory, const std::string& title, Time created);

}  // namespace orbweaver::archive
