// The manifest of a snapshot: what the command writes, and all that a restore needs to know before it opens a store.
// docs/reference/formats.md has the form. Pure. Thread rule: values.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "ring/messages.h"

namespace orbweaver {

inline constexpr std::uint32_t manifest_format = 1;  // raised with every change that an older build would misread

struct SnapshotFile {
  std::string name;  // below the checkpoint's directory, with '/'
  std::uint64_t bytes = 0;
  std::string sha256{};  // 64 hexadecimal digits; empty: not taken, of a file that grows
  bool operator==(const SnapshotFile&) const = default;
};

// What a peer has listed of its checkpoint.
struct SnapshotListing {
  std::string path;                 // of the checkpoint's directory; the store is in store/ below it
  std::vector<SnapshotFile> files;  // all below it
  std::string archive_path;
  std::vector<SnapshotFile> archive;  // as long as they were just after the checkpoint: they grow
  bool operator==(const SnapshotListing&) const = default;
};
nlohmann::json listing_json(const SnapshotListing& listing);
// Errors name the field.
Result<SnapshotListing> read_listing(const nlohmann::json& listing);

struct SnapshotPeer {
  std::string id;  // 32 hexadecimal digits
  std::string address;
  std::map<std::string, std::uint64_t> counts;
  SnapshotListing listing;
  bool operator==(const SnapshotPeer&) const = default;
};
struct MissingPeer {
  std::string id;
  std::string address;
  bool operator==(const MissingPeer&) const = default;
};

struct Manifest {
  std::string snapshot;  // 32 hexadecimal digits
  std::string made;      // UTC
  std::string ring;
  ring::Settings settings;  // ring-wide ones
  std::uint64_t replicas = 1;
  std::vector<MissingPeer> missing;  // members that have no part in it
  std::vector<SnapshotPeer> peers;
  bool operator==(const Manifest&) const = default;
};

// With a digest of all that it says. `sha256`: of a text, in hexadecimal digits.
using TextDigest = std::string (*)(std::string_view text);
std::string manifest_text(const Manifest& manifest, TextDigest sha256);
// Errors: invalid_input when it is cut short, changed or not a manifest; unsupported for another format. Each says what
// to do.
Result<Manifest> read_manifest(std::string_view text, TextDigest sha256);

}  // namespace orbweaver
