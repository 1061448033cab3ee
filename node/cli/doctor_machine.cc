#include "node/cli/doctor_machine.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "node/cli/fetch_once.h"
#include "node/process/peer_file.h"
#include "node/settings/descriptor_plan.h"
#include "node/system/memory_available.h"
#include "storage/warc_scan.h"

namespace orbweaver {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t gib = 1u << 30;
// Room on a disk, by its share or in bytes, whichever is reached first.
constexpr double share_low = 0.10, share_full = 0.02;
constexpr std::uint64_t room_low = 5 * gib, room_full = gib;
constexpr std::uint64_t max_archive_read = 256u << 20;

std::string percent(double share) { return std::to_string(static_cast<int>(share * 100)) + " %"; }

void look_at_memory(std::uint64_t max_memory, Findings& findings) {
  const std::uint64_t machine = memory_of_machine();
  if (machine == 0) return findings.warn("machine.memory", "its size is unknown", "set max_memory");
  const std::string has = bytes_text(machine) + " of memory";
  if (max_memory == 0) return findings.ok("machine.memory", has);
  const std::string peers = has + ", and the peers here may use " + bytes_text(max_memory);
  if (max_memory > machine - machine / 10)
    return findings.fail("machine.memory", peers, "lower max_memory: the system needs some for itself");
  findings.ok("machine.memory", peers);
}

void look_at_descriptors(Findings& findings) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);  // cannot fail for this resource
  const std::string found = "a process may open " + std::to_string(limit.rlim_max) + " files";
  if (limit.rlim_max < open_files_least)
    return findings.fail("machine.descriptors", found, "a peer needs 128 at least: raise ulimit -Hn or LimitNOFILE=");
  if (limit.rlim_max < 4096)
    return findings.warn("machine.descriptors", found, "4,096 or more allow all fetches: ulimit -Hn, LimitNOFILE=");
  findings.ok("machine.descriptors", found);
}

void look_at_clock(Findings& findings) {
  timex state{};
  const int answer = ::adjtimex(&state);
  if (answer < 0) return findings.warn("machine.clock", "the system does not say whether it is right", "");
  if (answer == TIME_ERROR || (state.status & STA_UNSYNC) != 0)
    return findings.warn("machine.clock", "no time server sets it", "install one: systemd-timesyncd, chrony or ntpd");
  findings.ok("machine.clock", "a time server sets it");
}

void look_at_room(const std::string& directory, Findings& findings) {
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0 || room.f_blocks == 0) return;
  const std::uint64_t bytes = std::uint64_t{room.f_bavail} * room.f_frsize;
  const double share = static_cast<double>(room.f_bavail) / static_cast<double>(room.f_blocks);
  const std::string found = directory + ": " + bytes_text(bytes) + " free, " + percent(share) + " of the disk";
  const std::string fix = "make room: move closed archives away, or the directory to a larger disk";
  if (bytes < room_full || share < share_full) return findings.fail("disk.room", found, fix);
  if (bytes < room_low || share < share_low) return findings.warn("disk.room", found, fix);
  if (room.f_files > 0 && room.f_favail * 50 < room.f_files)
    return findings.warn("disk.room", directory + ": almost no inodes are left", "remove small files on that disk");
  findings.ok("disk.room", found);
}

void look_at_rights(const std::string& directory, Findings& findings) {
  struct stat found {};
  if (::stat(directory.c_str(), &found) == 0 && (found.st_mode & S_IWOTH) != 0)
    return findings.fail("disk.rights", directory + " may be written by every user", "chmod o-w " + directory);
  const std::string key = read_peer_file(directory).value_or(PeerFile()).ring_key_file;
  struct stat key_found {};
  if (::stat(key.c_str(), &key_found) == 0 && (key_found.st_mode & 077) != 0)
    return findings.fail("disk.rights", key + " may be read by others", "chmod 600 " + key);
  findings.ok("disk.rights", directory + " is its owner's");
}

// The newest file of an archive, as far as it is read.
void look_at_archive(const std::string& directory, Findings& findings) {
  std::error_code trouble;
  fs::path newest;
  fs::file_time_type latest{};
  for (auto at = fs::directory_iterator(directory + "/archive", trouble); !trouble && at != fs::directory_iterator();
       at.increment(trouble)) {
    const std::string name = at->path().filename().string();
    if (name.find(".warc") == std::string::npos) continue;
    const auto when = at->last_write_time(trouble);
    if (trouble || (!newest.empty() && when <= latest)) continue;
    newest = at->path();
    latest = when;
  }
  if (newest.empty()) return;
  auto scan = storage::scan_file(newest.string());
  if (!scan) return findings.fail("archive.newest", newest.string() + ": " + scan.error().message, "see its disk");
  std::uint64_t records = 0;
  for (storage::ScannedRecord record; (*scan)->offset() < max_archive_read;) {
    const auto more = (*scan)->next(record, 0);
    if (!more && (*scan)->torn()) break;  // it is being written, or was when the peer died
    if (!more)
      return findings.fail("archive.newest", newest.string() + ": " + more.error().message,
                           "keep the file; the records before and after are still read by orbweaver index");
    if (!*more) break;
    ++records;
  }
  findings.ok("archive.newest", newest.string() + ": " + std::to_string(records) + " records can be read");
}

}  // namespace

void look_at_machine(std::uint64_t max_memory, Findings& findings) {
  look_at_memory(max_memory, findings);
  look_at_descriptors(findings);
  look_at_clock(findings);
}

void look_at_directories(const std::vector<std::string>& directories, Findings& findings) {
  for (const std::string& directory : directories) {
    look_at_room(directory, findings);
    look_at_rights(directory, findings);
    look_at_archive(directory, findings);
  }
}

void look_at_names(const Settings& settings, Findings& findings) {
  std::random_device random;
  // RFC 6761, 6.4: no such name exists.
  const std::string name = "orbweaver-" + std::to_string(random()) + ".invalid";
  const Result<CanonicalUrl> url = CanonicalUrl::parse("http://" + name + "/");
  if (!url || !settings.proxy.empty()) return;  // a proxy looks names up
  Settings direct = settings;
  direct.allow_private.clear();
  direct.resolve.clear();
  const Result<FetchResponse> looked = ask_once(*url, direct, {});
  if (!looked) return findings.fail("names.server", looked.error().message, "see dns_servers and /etc/resolv.conf");
  const std::string after = ", after " + std::to_string((looked->ended - looked->started).count() / 1000) + " ms";
  if (looked->error != FetchError::dns)
    return findings.fail("names.server", "the name servers give an address to " + name + ", which does not exist",
                         "use others (dns_servers): dead hosts would be asked at that address");
  if (looked->error_text.find("does not exist") == std::string::npos &&
      looked->error_text.find("no address") == std::string::npos)
    return findings.fail("names.server", looked->error_text + after, "see dns_servers and /etc/resolv.conf");
  findings.ok("names.server", "the name servers say that a name does not exist which does not" + after);
}

}  // namespace orbweaver
