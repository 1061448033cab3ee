// Which records a command means: by state, reason, host and URL. Reports list them, orders to visit again queue them.
// It is also part of a stored order (recrawl_walk.h), as JSON. Thread rule: values.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/scope/re2_patterns.h"
#include "storage/record.h"

namespace orbweaver {

struct RecordFilter {
  std::vector<storage::UrlState> states;         // empty: any
  std::string reason;                            // by name; empty: any
  std::uint16_t status = 0;                      // of the last answer; 0: any
  std::string host;                              // empty: any
  std::string match;                             // RE2, anywhere in the URL; empty: any
  std::shared_ptr<const UrlPatterns> pattern{};  // of `match`; null: any

  // {"states": ["failed", …], "reason": name, "status": n, "host": h, "match": RE2}, all optional. Errors name the
  // field.
  static Result<RecordFilter> read(const nlohmann::json& given);
  // The fields that are set, into an object.
  void write(nlohmann::json& object) const;

  bool takes_state(storage::UrlState state) const;
  bool takes(const storage::UrlRecord& record) const;
};

}  // namespace orbweaver
