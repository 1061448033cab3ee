// Whether a peer's disk has room for more pages (setting min_free_disk). Pure. Thread rule: value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orbweaver {

// Bytes that must be free. `wanted`: the setting; 0: 512 MiB, or a fiftieth of the disk if that is less.
inline std::uint64_t min_free_disk(std::uint64_t wanted, std::uint64_t disk_size) {
  return wanted > 0 ? wanted : std::min(std::uint64_t{512} << 20, disk_size / 50);
}

// `low`: it was before. A quarter more must be free before it is not low any more: else each page would turn it.
inline bool is_disk_low(std::uint64_t free, std::uint64_t least, bool low) {
  return low ? free < least + least / 4 : free < least;
}

}  // namespace orbweaver
