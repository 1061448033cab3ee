// Link traces of any bytes: reading ends, with pages or an error that names the file; memory is bounded by one block.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "storage/link_trace.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace st = orbweaver::storage;
  // A valid head, so that not every input ends at its first byte.
  static constexpr char head[] = {'O', 'W', 'L', 'T', 1, 0, 0};
  const int fd = ::memfd_create("trace", 0);
  require(fd >= 0);
  if (size % 2 == 0) require(::write(fd, head, sizeof head) == static_cast<::ssize_t>(sizeof head));
  require(::write(fd, data, size) == static_cast<::ssize_t>(size));
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  auto reader = st::LinkTraceReader::open(path);
  if (!reader) require(reader.error().message.find(path) != std::string::npos);
  st::TracePage page;
  while (reader) {
    const auto more = reader->next(page);
    if (!more) require(more.error().message.find(path) != std::string::npos);
    if (!more || !*more) break;
    require(page.url.size() <= st::max_trace_url_bytes);
  }
  ::close(fd);
  return 0;
}
