#include "node/system/spared_children.h"

#include <mutex>

namespace orbweaver {

namespace {

struct Spared {
  std::mutex mutex;
  std::set<pid_t> children;
};

Spared& spared() {
  static Spared all;
  return all;
}

}  // namespace

pid_t SparedChildren::start(const std::function<pid_t()>& start) {
  const std::lock_guard lock(spared().mutex);
  const pid_t child = start();
  if (child > 0) spared().children.insert(child);
  return child;
}

void SparedChildren::ended(pid_t child) {
  const std::lock_guard lock(spared().mutex);
  spared().children.erase(child);
}

void SparedChildren::look(const std::function<void(const std::set<pid_t>& spared)>& look) {
  const std::lock_guard lock(spared().mutex);
  look(spared().children);
}

}  // namespace orbweaver
