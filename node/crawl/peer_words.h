// Words of a peer's answers to people. Pure.
#pragma once

#include <string>
#include <string_view>

#include "node/base.h"
#include "ring/messages.h"

namespace orbweaver {

std::string utc(Time time);  // "2026-11-22T02:10:35Z"
std::string_view member_state_name(const ring::Member& member);

}  // namespace orbweaver
