#include "node/coordination/admission.h"

#include <utility>

#include "node/config/settings_table.h"

namespace orbweaver {

ring::Join Admission::ask(Time now, const ring::Member& self, const ring::RingId& ring, const Settings& settings) {
  next_ = now + every;
  ring::Join join;
  join.self = self;
  join.ring = ring;
  for (const auto& [name, value] : ring_wide_settings(settings))
    if (given_.contains(name)) join.given.emplace_back(name, value);
  return join;
}

}  // namespace orbweaver
