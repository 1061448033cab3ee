#include "node/snapshot/manifest.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "node/crawl/outside_json.h"
#include "node/try.h"
#include "ring/types.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::size_t sha256_digits = 64;

json files_json(const std::vector<SnapshotFile>& files) {
  json list = json::array();
  for (const SnapshotFile& file : files) {
    list.push_back({{"name", file.name}, {"bytes", file.bytes}});
    if (!file.sha256.empty()) list.back()["sha256"] = file.sha256;
  }
  return list;
}

Result<std::string> needed_text(const json& object, std::string_view name) {
  Result<std::string> text = text_field(object, name);
  if (text && text->empty()) return fail(ErrorCode::invalid_input, "'" + std::string(name) + "' is missing");
  return text;
}

// A name that leads out of its directory, or into none, is no file of a checkpoint.
bool stays_below(const std::string& name) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = std::string_view(name).substr(at, end - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = end + 1;
  }
  return name.find('\0') == std::string::npos;
}

Result<std::vector<SnapshotFile>> read_files(const json& object, std::string_view field, bool digests) {
  const auto list = list_field(object, field);
  if (!list) return tl::make_unexpected(list.error());
  std::vector<SnapshotFile> files;
  for (const json& entry : *list) {
    const Result<std::string> name = needed_text(entry, "name");
    if (!name) return tl::make_unexpected(name.error());
    if (!stays_below(*name)) return fail(ErrorCode::invalid_input, "'" + *name + "' is no name of a file in it");
    const Result<std::int64_t> bytes = number_field(entry, "bytes", -1, -1);
    if (!bytes) return tl::make_unexpected(bytes.error());
    const Result<std::string> sha256 = text_field(entry, "sha256");
    if (!sha256) return tl::make_unexpected(sha256.error());
    if (*bytes < 0 || (digests && sha256->size() != sha256_digits))
      return fail(ErrorCode::invalid_input, "the size or the digest of " + *name + " is missing");
    files.push_back({*name, static_cast<std::uint64_t>(*bytes), *sha256});
  }
  return files;
}

json content_of(const Manifest& manifest) {
  json missing = json::array();
  for (const MissingPeer& peer : manifest.missing) missing.push_back({{"id", peer.id}, {"address", peer.address}});
  json peers = json::array();
  for (const SnapshotPeer& peer : manifest.peers) {
    json entry = listing_json(peer.listing);
    entry["id"] = peer.id;
    entry["address"] = peer.address;
    entry["counts"] = peer.counts;
    peers.push_back(std::move(entry));
  }
  return {{"format", manifest_format},     {"snapshot", manifest.snapshot}, {"made", manifest.made},
          {"ring", manifest.ring},         {"settings", manifest.settings}, {"replicas", manifest.replicas},
          {"missing", std::move(missing)}, {"peers", std::move(peers)}};
}

Result<SnapshotPeer> read_peer(const json& entry) {
  SnapshotPeer peer;
  const Result<std::string> id = needed_text(entry, "id");
  if (!id) return tl::make_unexpected(id.error());
  if (!ring::PeerId::from_hex(*id)) return fail(ErrorCode::invalid_input, "'" + *id + "' is no identity of a peer");
  const Result<std::string> address = text_field(entry, "address");
  if (!address) return tl::make_unexpected(address.error());
  Result<SnapshotListing> listing = read_listing(entry);
  if (!listing) return tl::make_unexpected(listing.error());
  peer = {.id = *id, .address = *address, .counts = {}, .listing = std::move(*listing)};
  if (const auto counts = entry.find("counts"); counts != entry.end() && counts->is_object())
    for (const auto& [name, value] : counts->items())
      if (value.is_number_unsigned()) peer.counts[name] = value.get<std::uint64_t>();
  return peer;
}

Result<Manifest> read_content(const json& content) {
  Manifest manifest;
  for (const auto& [name, field] : {std::pair{"snapshot", &manifest.snapshot}, {"ring", &manifest.ring}}) {
    const Result<std::string> text = needed_text(content, name);
    if (!text) return tl::make_unexpected(text.error());
    *field = *text;
  }
  const Result<std::string> made = text_field(content, "made");
  if (!made) return tl::make_unexpected(made.error());
  manifest.made = *made;
  const Result<std::int64_t> replicas = number_field(content, "replicas", 1, 1);
  if (!replicas) return tl::make_unexpected(replicas.error());
  manifest.replicas = static_cast<std::uint64_t>(*replicas);
  try {
    manifest.settings = content.at("settings").get<ring::Settings>();
  } catch (const json::exception& error) {
    return fail(ErrorCode::invalid_input, std::string("the settings cannot be read: ") + error.what());
  }
  const auto missing = list_field(content, "missing");
  if (!missing) return tl::make_unexpected(missing.error());
  for (const json& entry : *missing) {
    const Result<std::string> id = text_field(entry, "id");
    const Result<std::string> address = text_field(entry, "address");
    if (!id) return tl::make_unexpected(id.error());
    if (!address) return tl::make_unexpected(address.error());
    manifest.missing.push_back({*id, *address});
  }
  const auto peers = list_field(content, "peers");
  if (!peers) return tl::make_unexpected(peers.error());
  for (const json& entry : *peers) {
    Result<SnapshotPeer> peer = read_peer(entry);
    if (!peer) return tl::make_unexpected(peer.error());
    manifest.peers.push_back(std::move(*peer));
  }
  if (manifest.peers.empty()) return fail(ErrorCode::invalid_input, "it names no peer");
  return manifest;
}

}  // namespace

json listing_json(const SnapshotListing& listing) {
  return {{"path", listing.path},
          {"files", files_json(listing.files)},
          {"archive_path", listing.archive_path},
          {"archive", files_json(listing.archive)}};
}

Result<SnapshotListing> read_listing(const json& listing) {
  const Result<std::string> path = needed_text(listing, "path");
  if (!path) return tl::make_unexpected(path.error());
  const Result<std::string> archive_path = text_field(listing, "archive_path");
  if (!archive_path) return tl::make_unexpected(archive_path.error());
  Result<std::vector<SnapshotFile>> files = read_files(listing, "files", true);
  if (!files) return tl::make_unexpected(files.error());
  if (files->empty()) return fail(ErrorCode::invalid_input, "a checkpoint has no files");
  Result<std::vector<SnapshotFile>> archive = read_files(listing, "archive", false);
  if (!archive) return tl::make_unexpected(archive.error());
  return SnapshotListing{*path, std::move(*files), *archive_path, std::move(*archive)};
}

std::string manifest_text(const Manifest& manifest, TextDigest sha256) {
  json content = content_of(manifest);
  content["digest"] = sha256(json_text(content));
  return content.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Manifest> read_manifest(std::string_view text, TextDigest sha256) {
  Result<json> content = parse_outside_json(text, json_values_any);
  if (!content)
    return fail(ErrorCode::invalid_input, "it is no manifest, or a part of one (" + content.error().message +
                                              "); copy it again, or take another snapshot's");
  const Result<std::int64_t> format = number_field(*content, "format", 0);
  if (!format || *format == 0)
    return fail(ErrorCode::invalid_input, "it is no manifest of a snapshot; orbweaver snapshot writes one");
  if (*format != manifest_format)
    return fail(ErrorCode::unsupported, "its format is " + std::to_string(*format) + ", this build knows " +
                                            std::to_string(manifest_format) +
                                            "; restore with the version of orbweaver that made it");
  const Result<std::string> digest = text_field(*content, "digest");
  content->erase("digest");
  if (!digest || sha256(json_text(*content)) != *digest)
    return fail(ErrorCode::invalid_input,
                "it was changed since it was written: its digest differs; copy it again, or take another snapshot's");
  Result<Manifest> manifest = read_content(*content);
  if (!manifest) return fail(ErrorCode::invalid_input, "it cannot be read: " + manifest.error().message);
  return manifest;
}

}  // namespace orbweaver
