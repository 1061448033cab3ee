// How far clocks may differ in a ring, for messages. Pure.
#pragma once

#include <chrono>
#include <string>

#include "ring/messages.h"

namespace orbweaver {

inline std::string lead_text() {
  return std::to_string(std::chrono::duration_cast<std::chrono::hours>(ring::clock_lead_max).count()) + " hours";
}

}  // namespace orbweaver
