// What operators have ordered the ring to do, as rows that every peer has: a pause, a host's pause, block or delay, and
// visits to make again. Of two rows with one name the one with the greater stamp counts, on all peers
// (docs/decisions/0036-orders-of-operators.md). Bounded: of what peers have in all, each keeps the same rows. Thread
// rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "node/base.h"
#include "node/crawl/host_orders.h"
#include "ring/types.h"

namespace orbweaver {

// As that of the settings.
inline constexpr Duration max_ordered_delay = std::chrono::hours{24};

// Of an order's value: microseconds. Nothing: it is no delay.
std::optional<Duration> read_ordered_delay(std::string_view value);

struct OperatorOrder {
  enum class Kind : std::uint8_t { pause, block, delay, visit, unknown };

  // "pause" (the ring), "pause HOST", "block HOST", "delay HOST", "visit …". "*.HOST" is the host and all below it. A
  // name of another kind comes from a later release: it is kept and passed on, and has no effect.
  std::string name;
  // "yes"; of a delay microseconds; of a visit what to visit, as JSON. Empty: there is no such order any more.
  std::string value;
  // The stamp: greater than that of all orders that the peer knew that was asked.
  std::uint64_t number = 0;
  ring::PeerId peer;  // that was asked
  Time given{};       // by its clock

  Kind kind() const;
  std::string host() const;  // with its "*."; empty: the whole ring
  auto stamp() const { return std::tie(number, peer, value); }
  bool operator==(const OperatorOrder&) const = default;
};

class OperatorOrders {
 public:
  static constexpr std::size_t max_orders = 1000;  // that hold now, but for visits: a further one is refused
  static constexpr std::size_t max_rows = 2000;    // kept of what comes from other peers
  static constexpr std::size_t max_visits = 64;    // of these
  static constexpr std::size_t max_bytes = 1u << 20;
  static constexpr std::size_t max_name_bytes = 300;
  static constexpr std::size_t max_value_bytes = 8u << 10;
  static constexpr std::uint64_t max_number = 1ull << 62;

  // A row as it is on the wire and on the disk: JSON. Errors name the field.
  static Result<OperatorOrder> read(std::string_view text);
  static std::string text_of(const OperatorOrder& order);

  // The rows of an earlier run. Returns why others were left out.
  std::vector<std::string> restore(const std::string& row);
  // Several are taken, and then settled: what exceeds the bounds goes, and the others have their effect.
  // False: an equal or greater one is known.
  bool take(OperatorOrder order);
  void settle();
  bool contains(const std::string& name) const { return orders_.contains(name); }
  // For an order of a command. A visit takes the place of the oldest one.
  bool has_room_for(const OperatorOrder& order) const;
  static constexpr std::string_view full_words =
      "1,000 orders hold, and there is no room for another; take some back: orbweaver orders lists them";
  std::uint64_t next_number() const;

  const std::map<std::string, OperatorOrder>& all() const { return orders_; }
  std::size_t size() const { return orders_.size(); }
  const HostOrders& hosts() const { return hosts_; }
  std::vector<std::string> texts() const;
  std::string row() const;                                    // for the disk: a text on a line
  std::uint64_t fingerprint() const { return fingerprint_; }  // 0: there are none

 private:
  void trim();

  std::map<std::string, OperatorOrder> orders_;  // by name
  std::size_t bytes_ = 0;                        // of names and values
  std::size_t holding_ = 0;                      // orders that hold, but for visits
  HostOrders hosts_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace orbweaver
