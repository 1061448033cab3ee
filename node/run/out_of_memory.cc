#include "node/run/out_of_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <new>
#include <string_view>

#include "node/base.h"

namespace orbweaver {
namespace {

// Neither memory nor locks: the line is there, the call is the system's.
[[noreturn]] void end() {
  constexpr std::string_view line =
      "orbweaver: out of memory: the system gives this process no more. It needs up to 1.25 times max_memory; give it "
      "more, or set max_memory lower (docs/memory.md)\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(ErrorCode::out_of_memory));
}

constexpr int arenas_max = 4;
constexpr int own_mapping_bytes = 1 << 20;
constexpr int trim_bytes = 4 << 20;

}  // namespace

void end_when_out_of_memory() { std::set_new_handler(&end); }

void keep_freed_memory_small() {
  ::mallopt(M_ARENA_MAX, arenas_max);
  ::mallopt(M_MMAP_THRESHOLD, own_mapping_bytes);  // set, it does not grow by itself
  ::mallopt(M_TRIM_THRESHOLD, trim_bytes);
}

}  // namespace orbweaver
