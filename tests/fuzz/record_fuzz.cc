// The records of a batch, as any peer may send them and as the outbox stores them: a record that is read can be
// written, and is then read as the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/record.h"

namespace {

namespace st = orbweaver::storage;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_record(std::string_view bytes) {
  const auto record = st::decode_record(bytes);
  if (!record) return;
  require(record->url.size() <= bytes.size() && record->validator.size() <= st::max_validator_bytes);
  require(record->off_site <= st::max_off_site);
  std::string again;
  st::encode_record(*record, again);
  const auto twice = st::decode_record(again);
  require(twice && *twice == *record);
  require(st::merge(*record, *record) == *record);
}

void check_clock(const st::Result<st::HostClock>& clock) {
  if (!clock) return;
  std::string bytes;
  st::encode_clock(*clock, bytes);
  const auto again = st::decode_clock(bytes);
  require(again && st::merge(*clock, *again) == *clock);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const st::Time now{std::chrono::seconds{1'700'000'000}};
  (void)st::wire_kind(bytes);
  check_record(bytes);
  check_clock(st::decode_clock(bytes));
  check_clock(st::decode_wait(bytes, now));
  if (const auto since = st::decode_last_access_unknown(bytes, now)) require(*since <= now);
  if (const auto robots = st::decode_robots(bytes, now)) {
    require(robots->first.size() + robots->second.body.size() <= size);
    require(robots->second.fetched <= now && robots->second.unreachable_since <= now);
    std::string again;
    st::encode_robots(robots->first, robots->second, now, again);
    const auto twice = st::decode_robots(again, now);
    require(twice && *twice == *robots);
  }
  if (const auto robots = st::decode_stored_robots(bytes)) {
    std::string again;
    st::encode_stored_robots(*robots, again);
    require(again == bytes && st::merge(*robots, *robots) == *robots);
  }
  return 0;
}
