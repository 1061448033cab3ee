// libFuzzer: any bytes into decode(). A decoded message must encode, and decode to the same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ring/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ring = orbweaver::ring;
  const auto first = ring::decode({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string once = ring::encode(*first);
  const auto second = ring::decode(once);
  if (!second || ring::encode(*second) != once) std::abort();
  return 0;
}
