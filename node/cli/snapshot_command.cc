#include "node/cli/snapshot_command.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <system_error>
#include <thread>

#include "node/cli/ask.h"
#include "node/cli/ring_commands.h"
#include "node/config/settings_table.h"
#include "node/crawl/peer_words.h"
#include "node/digest/sha256.h"
#include "node/errors/storage_error.h"
#include "node/settings/endpoint.h"
#include "node/settings/units.h"
#include "node/snapshot/restore.h"
#include "node/snapshot/snapshot_files.h"
#include "node/snapshot/snapshot_talk.h"
#include "node/system/clock.h"
#include "node/system/private_file.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/try.h"
#include "storage/append_directory.h"
#include "storage/rocks_kv.h"

namespace orbweaver {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Between two looks at how far the peers are.
constexpr std::chrono::milliseconds look_every{200};

struct SnapshotOptions {
  PeerTarget target;
  std::string manifest;
  std::string timeout = "1h";
  bool partial = false;
  bool as_json = false;
};

struct RestoreOptions {
  std::string from;
  std::vector<std::string> into;
  std::optional<std::uint32_t> partitions;
  bool partial = false;
  bool as_json = false;
};

ring::PeerId random_id() {
  std::random_device device;
  ring::PeerId id;
  for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(device());
  return id;
}

// ---- snapshot

Result<Manifest> take_snapshot(const SnapshotOptions& options, Duration timeout) {
  SnapshotTalk talk(random_id().hex(), options.partial);
  Clock clock;
  const Time begun = clock.now();
  const auto end = [&] { (void)ask_peer(options.target, "snapshot", talk.question(), true); };
  for (bool over = false; !over;) {
    const Result<json> answer = ask_peer(options.target, "snapshot", talk.question(), true);
    if (!answer) return tl::make_unexpected(answer.error());
    const Result<SnapshotTalk::Next> next = talk.take(*answer);
    if (!next) {
      end();
      return tl::make_unexpected(next.error());
    }
    over = *next == SnapshotTalk::Next::done;
    if (!over && clock.now() - begun > timeout)
      return fail(ErrorCode::unreachable, "the peers' checkpoints are not listed after " + options.timeout +
                                              "; give it more time with --timeout");
    if (*next == SnapshotTalk::Next::wait) std::this_thread::sleep_for(look_every);
  }
  end();
  Manifest manifest = talk.manifest();
  manifest.made = utc(begun);
  return manifest;
}

int snapshot(const SnapshotOptions& options) {
  const Result<Duration> timeout = parse_duration(options.timeout);
  if (!timeout) return failed({ErrorCode::invalid_setting, "--timeout: " + timeout.error().message});
  const Result<Manifest> manifest = take_snapshot(options, *timeout);
  if (!manifest) return failed(manifest.error());
  const std::string path =
      options.manifest.empty() ? "snapshot-" + manifest->snapshot.substr(0, 8) + ".json" : options.manifest;
  const std::string text = manifest_text(*manifest, sha256_of);
  if (const Result<void> written = write_whole(path, text, Durability::power, nullptr); !written)
    return failed(written.error());
  if (options.as_json) {
    say_text(text);
    return 0;
  }
  for (const SnapshotPeer& peer : manifest->peers) {
    std::uint64_t bytes = 0;
    for (const SnapshotFile& file : peer.listing.files) bytes += file.bytes;
    say("%-10s %-22s %10s in %s\n", peer.id.substr(0, 8).c_str(), peer.address.c_str(), size_text(bytes).c_str(),
        peer.listing.path.c_str());
  }
  for (const MissingPeer& peer : manifest->missing)
    say("%-10s %-22s has no part in it%s\n", peer.id.substr(0, 8).c_str(), peer.address.c_str(),
        manifest->missing.size() < manifest->replicas ? ": the others have copies of what it has" : "");
  say("%s: %zu peers of ring %s\n", path.c_str(), manifest->peers.size(), manifest->ring.c_str());
  return 0;
}

// ---- restore

struct Into {
  std::string directory;
  std::string address;
};

// A port that nobody uses now, of the address that a peer listens on by default.
Result<std::string> free_address() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool bound = probe >= 0 && ::bind(probe, plain, bytes) == 0 && ::getsockname(probe, plain, &bytes) == 0;
  const int cause = errno;
  if (probe >= 0) ::close(probe);
  if (!bound) return fail(ErrorCode::io, std::string("no port of 127.0.0.1 is free: ") + std::strerror(cause));
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// DIR, or DIR=HOST:PORT.
Result<Into> into_of(const std::string& text) {
  Into into{text, {}};
  if (const std::size_t at = text.rfind('='); at != std::string::npos && text.find('/', at) == std::string::npos) {
    into = {text.substr(0, at), text.substr(at + 1)};
    if (!parse_endpoint(into.address))
      return fail(ErrorCode::invalid_input, "--into: '" + into.address + "' is not HOST:PORT");
  }
  std::error_code trouble;
  if (fs::exists(into.directory, trouble) && !fs::is_empty(into.directory, trouble))
    return fail(ErrorCode::mismatch,
                into.directory + " is not empty; name a directory that is not there yet, or an empty one");
  if (trouble) return fail(ErrorCode::io, "cannot read " + into.directory + ": " + trouble.message());
  return into;
}

Result<std::vector<Into>> all_into(const RestoreOptions& options) {
  std::vector<Into> all;
  std::set<std::string> directories;
  std::set<std::string> addresses;
  for (const std::string& text : options.into) {
    Result<Into> into = into_of(text);
    if (!into) return tl::make_unexpected(into.error());
    std::error_code unknown;
    if (!directories.insert(fs::weakly_canonical(into->directory, unknown).string()).second)
      return fail(ErrorCode::invalid_input, "--into names " + into->directory + " twice");
    const bool named = !into->address.empty();
    while (into->address.empty() || !addresses.insert(into->address).second) {
      if (named) return fail(ErrorCode::invalid_input, "--into names the address " + into->address + " twice");
      const Result<std::string> address = free_address();
      if (!address) return tl::make_unexpected(address.error());
      into->address = *address;
    }
    all.push_back(std::move(*into));
  }
  return all;
}

// Where the checkpoint was made, or, when it was copied, beside the manifest, under the peer's identity.
std::string checkpoint_of(const SnapshotPeer& peer, const std::string& manifest) {
  std::error_code unknown;
  if (fs::exists(peer.listing.path, unknown)) return peer.listing.path;
  const std::string beside = (fs::path(manifest).parent_path() / peer.id).string();
  return fs::exists(beside, unknown) ? beside : peer.listing.path;
}

Result<Manifest> manifest_in(const RestoreOptions& options) {
  std::ifstream in(options.from, std::ios::binary);
  if (!in) return fail(ErrorCode::io, "cannot read " + options.from + ": " + std::strerror(errno));
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Result<Manifest> manifest = read_manifest(text, sha256_of);
  if (!manifest) return fail(manifest.error().code, options.from + ": " + manifest.error().message);
  if (manifest->missing.size() >= manifest->replicas && !options.partial)
    return fail(ErrorCode::mismatch, options.from + ": " + std::to_string(manifest->missing.size()) +
                                         " peers have no part in it, and there were no copies of what they had; "
                                         "restore what there is with --partial");
  return manifest;
}

Result<void> add_peer(Restore& restore, const SnapshotPeer& peer, const std::string& path) {
  storage::RocksConfig config;
  config.directory = path + "/store";
  config.look_only = true;
  auto kv = storage::open_rocks(config);
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  auto store = storage::Store::open(**kv);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  say_aside("peer " + peer.id.substr(0, 8) + ": " + std::to_string(store->counts().discovered()) + " URLs\n");
  return restore.add(*store);
}

// A store that is being made has another name, so that no peer starts on a part of it.
constexpr const char* half_made = "/store.restoring";

Result<Restore::Counts> restore_all(const RestoreOptions& options, const Manifest& manifest,
                                    const std::vector<Into>& into, const ring::RingId& ring) {
  for (const SnapshotPeer& peer : manifest.peers)
    if (const Result<void> good = check_files(checkpoint_of(peer, options.from), peer.listing.files); !good)
      return tl::make_unexpected(good.error());
  std::vector<std::unique_ptr<storage::Kv>> kvs;
  std::vector<Restore::Target> targets;
  for (const Into& one : into) {
    if (const auto made = storage::make_directory(one.directory); !made)
      return tl::make_unexpected(error_of(made.error()));
    storage::RocksConfig config;
    config.directory = one.directory + half_made;
    auto kv = storage::open_rocks(config);
    if (!kv) return tl::make_unexpected(error_of(kv.error()));
    kvs.push_back(std::move(*kv));
    targets.push_back({kvs.back().get(), random_id(), one.address});
  }
  Result<Restore> restore = Restore::begin(targets, ring, manifest.settings, options.partitions);
  if (!restore) return tl::make_unexpected(restore.error());
  for (const SnapshotPeer& peer : manifest.peers)
    ORBWEAVER_TRY(add_peer(*restore, peer, checkpoint_of(peer, options.from)));
  Result<Restore::Counts> counts = restore->finish();
  if (!counts) return counts;
  kvs.clear();  // closed, before they are moved
  for (std::size_t i = 0; i < into.size(); ++i) {
    // A peer that listens on any free port tries the one in this file first.
    const json file = {{"id", targets[i].id.hex()}, {"ring", ring.hex()}, {"address", into[i].address}, {"pid", 0}};
    ORBWEAVER_TRY(write_whole(into[i].directory + "/peer.json", file.dump(2) + "\n", Durability::power, nullptr));
    std::error_code trouble;
    fs::rename(into[i].directory + half_made, into[i].directory + "/store", trouble);
    if (trouble) return fail(ErrorCode::io, "cannot name " + into[i].directory + "/store: " + trouble.message());
    if (const auto synced = storage::sync_directories_to(into[i].directory); !synced)
      return tl::make_unexpected(error_of(synced.error()));
  }
  return counts;
}

int restore(const RestoreOptions& options) {
  const Result<Manifest> manifest = manifest_in(options);
  if (!manifest) return failed(manifest.error());
  const Result<std::vector<Into>> into = all_into(options);
  if (!into) return failed(into.error());
  const ring::RingId ring = random_id();
  const Result<Restore::Counts> counts = restore_all(options, *manifest, *into, ring);
  if (!counts) return failed(counts.error());
  if (options.as_json) {
    json directories = json::array();
    for (const Into& one : *into) directories.push_back({{"directory", one.directory}, {"address", one.address}});
    say_json(json{{"ring", ring.hex()},
                  {"records", counts->records},
                  {"fetched", counts->fetched},
                  {"queued", counts->queued},
                  {"links", counts->links},
                  {"peers", std::move(directories)}});
    return 0;
  }
  say("%llu URLs, of which %llu fetched and %llu queued, and %llu links, for a new ring %s. Start all its peers:\n",
      static_cast<unsigned long long>(counts->records), static_cast<unsigned long long>(counts->fetched),
      static_cast<unsigned long long>(counts->queued), static_cast<unsigned long long>(counts->links),
      ring.hex().c_str());
  for (const Into& one : *into)
    say("  orbweaver node --dir %s --listen %s\n", one.directory.c_str(), one.address.c_str());
  return 0;
}

}  // namespace

void add_snapshot_commands(CLI::App& app, int& code) {
  const auto taken = std::make_shared<SnapshotOptions>();
  CLI::App* command =
      app.add_subcommand("snapshot", "makes a copy of the state of every peer of a running ring, and a manifest");
  add_target_options(*command, taken->target);
  command->add_option("--manifest", taken->manifest, "the file to write; without it snapshot-ID.json in this directory")
      ->type_name("FILE");
  command->add_option("--timeout", taken->timeout, "how long the peers may take to list their files")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_flag("--partial", taken->partial, "also when peers are missing whose records no other peer may have");
  command->add_flag("--json", taken->as_json, "print the manifest");
  command->callback([taken, &code] { code = snapshot(*taken); });

  const auto made = std::make_shared<RestoreOptions>();
  command = app.add_subcommand("restore", "makes the directories of a new ring, of any size, from a snapshot");
  command->add_option("--from", made->from, "the snapshot's manifest")->required()->type_name("FILE");
  command
      ->add_option("--into", made->into,
                   "a directory for each peer, new or empty; =HOST:PORT: where the others reach it, without it a free "
                   "port of this machine")
      ->required()
      ->type_name("DIR[=HOST:PORT]");
  command->add_option("--partitions", made->partitions, "of the new ring, a power of two; without it as many as before")
      ->type_name("COUNT");
  command->add_flag("--partial", made->partial, "also when peers are missing whose records no other peer may have");
  command->add_flag("--json", made->as_json, "the answer as JSON");
  command->callback([made, &code] { code = restore(*made); });
}

}  // namespace orbweaver
