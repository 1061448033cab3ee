#include "node/system/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace orbweaver {

namespace {

// From 5.1 on new system calls have the same number on every architecture.
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;
constexpr std::uint32_t create_ruleset_version = 1;
constexpr int rule_path_beneath = 1;

constexpr std::uint64_t bit(unsigned at) { return std::uint64_t{1} << at; }
// include/uapi/linux/landlock.h
constexpr std::uint64_t write_file = bit(1);
constexpr std::uint64_t remove_and_make =
    bit(4) | bit(5) | bit(6) | bit(7) | bit(8) | bit(9) | bit(10) | bit(11) | bit(12);
constexpr std::uint64_t refer = bit(13);                                 // ABI 2
constexpr std::uint64_t truncate = bit(14);                              // ABI 3
constexpr std::uint64_t ioctl_dev = bit(15);                             // ABI 5
constexpr std::uint64_t bind_and_connect_tcp = bit(0) | bit(1);          // ABI 4
constexpr std::uint64_t abstract_sockets_and_signals = bit(0) | bit(1);  // ABI 6

struct RulesetAttr {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

struct [[gnu::packed]] PathBeneathAttr {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

}  // namespace

int landlock_abi_of_kernel() {
  const long abi = ::syscall(create_ruleset, nullptr, 0, create_ruleset_version);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

LandlockRules LandlockRules::no_writing() {
  const int abi = landlock_abi_of_kernel();
  if (abi < 1) return LandlockRules(-1);
  RulesetAttr attr;
  attr.handled_access_fs = write_file | remove_and_make;
  if (abi >= 2) attr.handled_access_fs |= refer;
  if (abi >= 3) attr.handled_access_fs |= truncate;
  if (abi >= 5) attr.handled_access_fs |= ioctl_dev;
  std::size_t size = offsetof(RulesetAttr, handled_access_net);
  if (abi >= 4) {
    attr.handled_access_net = bind_and_connect_tcp;
    size = offsetof(RulesetAttr, scoped);
  }
  if (abi >= 6) {
    attr.scoped = abstract_sockets_and_signals;
    size = sizeof attr;
  }
  LandlockRules rules(static_cast<int>(::syscall(create_ruleset, &attr, size, 0)));
  if (rules.fd_ < 0) return LandlockRules(-1);
  PathBeneathAttr nowhere;
  nowhere.allowed_access = write_file | (abi >= 3 ? truncate : 0);
  nowhere.parent_fd = ::open("/dev/null", O_PATH | O_CLOEXEC);
  if (nowhere.parent_fd >= 0) {
    // Without this rule a command could not write to /dev/null, which is harmless.
    ::syscall(add_rule, rules.fd_, rule_path_beneath, &nowhere, 0);
    ::close(nowhere.parent_fd);
  }
  return rules;
}

LandlockRules::~LandlockRules() {
  if (fd_ >= 0) ::close(fd_);
}

bool enter_landlock(int rules) { return ::syscall(restrict_self, rules, 0) == 0; }

}  // namespace orbweaver
