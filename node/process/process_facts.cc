#include "node/process/process_facts.h"

#include <sys/statvfs.h>
#include <time.h>

#include <cstdint>

namespace orbweaver {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);  // cannot fail for the clocks here
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

const double started = seconds_of(CLOCK_REALTIME);

}  // namespace

void add_process_facts(const std::string& directory, std::vector<std::pair<std::string, double>>& values) {
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) == 0) {
    values.emplace_back("disk_free_bytes", static_cast<double>(std::uint64_t{room.f_bavail} * room.f_frsize));
    values.emplace_back("disk_size_bytes", static_cast<double>(std::uint64_t{room.f_blocks} * room.f_frsize));
  }
  values.emplace_back("cpu_seconds_total", seconds_of(CLOCK_PROCESS_CPUTIME_ID));
  values.emplace_back("start_time_seconds", started);
  values.emplace_back("build_info/" ORBWEAVER_VERSION, 1.0);
}

}  // namespace orbweaver
