// Children of this process that no one ends but who started them: ConfinedProcesses ends what its commands have left
// behind, and cannot tell that from other children. Thread rule: any thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

namespace orbweaver {

class SparedChildren {
 public:
  // Runs `start`, which returns the new child's number (not positive: there is none), and spares that child.
  static pid_t start(const std::function<pid_t()>& start);
  static void ended(pid_t child);
  // Runs `look` with their numbers while none is started.
  static void look(const std::function<void(const std::set<pid_t>& spared)>& look);
};

}  // namespace orbweaver
