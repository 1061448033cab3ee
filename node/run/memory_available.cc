#include "node/run/memory_available.h"

#include <cstdio>
#include <fstream>

namespace orbweaver {

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
