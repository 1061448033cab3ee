// Leaves the function with the error of a failed call: for calls that return a Result whose value is not needed.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#define ORBWEAVER_TRY(call)                                                                \
  do {                                                                                     \
    if (auto tried = (call); !tried) return tl::make_unexpected(std::move(tried).error()); \
  } while (false)
