// The crawler, `orbweaver`, as a child process: an experiment uses it for real crawls. The child gets SIGINT when the
// thread that started it ends, so a killed experiment leaves no child behind. Thread rule: one owner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class Child {
 public:
  // `arguments` without the program's name; its output goes into the two files.
  static Result<Child> start(const std::vector<std::string>& arguments, const std::string& out_file,
                             const std::string& err_file);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // kills it if it still runs

  bool running();
  void interrupt() const;  // SIGINT
  // Waits for its end: the exit code, 128 + the signal's number, or nothing when it still runs after this time.
  std::optional<int> wait(std::chrono::milliseconds at_most);
  // CPU time of the child and of the processes that it has waited for, in seconds, once it has ended.
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  bool reap(bool block);
  pid_t pid_ = -1;
  std::optional<int> code_;
  double cpu_seconds_ = 0;
};

// A directory that is deleted, with its content, with this object.
class WorkDirectory {
 public:
  // Below `parent`; empty: in the directory for temporary files.
  static Result<WorkDirectory> make(const std::string& parent);
  WorkDirectory(WorkDirectory&& other) noexcept;
  WorkDirectory& operator=(WorkDirectory&&) = delete;
  ~WorkDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit WorkDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace orbweaver
