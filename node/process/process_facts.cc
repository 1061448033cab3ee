#include "node/process/process_facts.h"

#include <sys/statvfs.h>
#include <time.h>

#include <thread>

#include "node/settings/units.h"

namespace orbweaver {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);  // cannot fail for the clocks here
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

const double started = seconds_of(CLOCK_REALTIME);

}  // namespace

ProcessUse process_use(const std::string& directory, Time now) {
  ProcessUse use{.at = now,
                 .cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID),
                 .loop_cpu_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID),
                 .processors = std::thread::hardware_concurrency()};
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) == 0) {
    use.disk_free = std::uint64_t{room.f_bavail} * room.f_frsize;
    use.disk_size = std::uint64_t{room.f_blocks} * room.f_frsize;
  }
  return use;
}

Result<void> check_room_to_open(const std::string& directory) {
  constexpr std::uint64_t least = 4u << 20;  // journal and manifest
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) return {};
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (free >= least) return {};
  return fail(ErrorCode::disk_full, "disk full at " + directory + ": " + size_text(free) + " are free, " +
                                        size_text(least) +
                                        " are needed; free some space and start again, nothing is lost");
}

void add_process_metrics(const ProcessUse& use, std::vector<std::pair<std::string, double>>& values) {
  if (use.disk_size > 0) values.emplace_back("disk_free_bytes", static_cast<double>(use.disk_free));
  if (use.disk_size > 0) values.emplace_back("disk_size_bytes", static_cast<double>(use.disk_size));
  values.emplace_back("cpu_seconds_total", use.cpu_seconds);
  values.emplace_back("loop_cpu_seconds_total", use.loop_cpu_seconds);
  values.emplace_back("start_time_seconds", started);
  values.emplace_back("build_info/" ORBWEAVER_VERSION, 1.0);
}

}  // namespace orbweaver
