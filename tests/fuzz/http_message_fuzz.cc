// HTTP heads and bodies of any bytes: nothing throws, nothing grows beyond the limit, every fault is reported.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/http/http_message.h"

namespace {

void check(const orbweaver::Decoded& decoded, std::size_t max_bytes) {
  if (decoded.bytes.size() > max_bytes) std::abort();
  if (decoded.problem.empty() == (decoded.cut || decoded.damaged)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orbweaver;
  if (size < 2) return 0;
  const std::size_t max_bytes = data[0] * 64u;
  const std::uint8_t choice = data[1];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  constexpr std::string_view codings[] = {"gzip", "deflate", "br", "zstd", "gzip, br", "deflate,zstd", "identity", ""};
  check(decode_content(input, codings[choice % 8], max_bytes), max_bytes);
  check(decode_chunked(input, max_bytes), max_bytes);
  // An unknown coding returns the bytes as they are.
  if (decode_content(input, "unknown", 0).bytes != input) std::abort();
  const Time now = Time(std::chrono::seconds(1'700'000'000));
  for (const std::string& value : header_values(input, "retry-after")) (void)parse_http_date(value);
  (void)parse_http_date(input);
  if (const auto wait = retry_after(input, now); wait && *wait < Duration::zero()) std::abort();
  if (header_value(input, "a").has_value() != !header_values(input, "a").empty()) std::abort();
  return 0;
}
