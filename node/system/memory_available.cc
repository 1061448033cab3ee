#include "node/system/memory_available.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace orbweaver {
namespace {

// The lowest value of `file` in the group's directory and all directories above; UINT64_MAX: there is no limit.
std::uint64_t least_up_the_tree(const std::filesystem::path& root, std::filesystem::path group, const char* file) {
  std::uint64_t least = UINT64_MAX;
  for (;;) {
    std::ifstream in(root / group.relative_path() / file);
    if (std::uint64_t bytes = 0; in >> bytes) least = std::min(least, bytes);  // "max" is not a number
    if (group.relative_path().empty()) return least;
    group = group.parent_path();
  }
}

}  // namespace

std::uint64_t memory_of_machine(const std::string& proc, const std::string& cgroups) {
  std::uint64_t bytes = 0;
  std::ifstream info(proc + "/meminfo");
  for (std::string line; std::getline(info, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemTotal: %llu kB", &kib) == 1) bytes = std::uint64_t{kib} * 1024;
  }
  // Lines of "number:controllers:group"; version 2 has no controllers (cgroups(7)).
  std::ifstream groups(proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    std::uint64_t limit = UINT64_MAX;
    if (controllers == ",,")
      limit = std::min(least_up_the_tree(cgroups, group, "memory.max"),
                       least_up_the_tree(cgroups + "/unified", group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos)
      limit = least_up_the_tree(cgroups + "/memory", group, "memory.limit_in_bytes");
    if (limit != UINT64_MAX && (bytes == 0 || limit < bytes)) bytes = limit;
  }
  return bytes;
}

ResidentMemory resident_memory() {
  ResidentMemory memory;
  std::ifstream in("/proc/self/statm");
  std::uint64_t pages = 0;
  if (in >> pages >> pages) memory.now = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) memory.peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return memory;
}

Result<std::uint64_t> memory_available(const std::string& meminfo) {
  std::ifstream in(meminfo);
  for (std::string line; std::getline(in, line);) {
    unsigned long long kib = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %llu kB", &kib) == 1) return std::uint64_t{kib} * 1024;
  }
  return fail(ErrorCode::unsupported, meminfo + " has no line MemAvailable");
}

Result<void> check_memory(const std::string& what, std::uint64_t wanted, const Result<std::uint64_t>& available) {
  if (!available || wanted <= *available) return {};
  return fail(ErrorCode::invalid_setting,
              what + " takes " + bytes_text(wanted) + " of memory, and " + bytes_text(*available) + " are available");
}

std::string bytes_text(std::uint64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace orbweaver
