#include "node/system/process_tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace orbweaver {

std::vector<ProcessEntry> processes() {
  std::vector<ProcessEntry> found;
  std::error_code trouble;
  std::filesystem::directory_iterator at("/proc", trouble);
  for (; !trouble && at != std::filesystem::directory_iterator(); at.increment(trouble)) {
    const std::string name = at->path().filename().string();
    ProcessEntry process;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), process.pid);
    if (read.ec != std::errc() || read.ptr != name.data() + name.size()) continue;
    std::ifstream file(at->path() / "stat");
    std::string line;
    std::getline(file, line);
    // proc(5): pid (name) state ppid … the start time is field 22; the name may contain any character.
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(line.substr(name_end + 1));
    fields >> process.state >> process.parent;
    std::string skipped;
    for (int field = 5; field < 22; ++field) fields >> skipped;
    fields >> process.started;
    if (fields) found.push_back(process);
  }
  return found;
}

std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& all, std::vector<pid_t> roots) {
  std::vector<ProcessEntry> found;
  for (std::size_t i = 0; i < roots.size(); ++i)
    for (const ProcessEntry& process : all) {
      if (process.pid == roots[i]) found.push_back(process);
      const bool known = std::find(roots.begin(), roots.end(), process.pid) != roots.end();
      if (process.parent == roots[i] && !known) roots.push_back(process.pid);
    }
  return found;
}

}  // namespace orbweaver
