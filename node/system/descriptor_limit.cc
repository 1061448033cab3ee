#include "node/system/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "node/settings/descriptor_plan.h"

namespace orbweaver {

std::uint64_t raise_open_files(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(wanted > 0 ? wanted : open_files_usual, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace orbweaver
