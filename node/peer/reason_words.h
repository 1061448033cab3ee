// Why a URL is in its state, and what its user can do about it, in words: for `orbweaver explain` and a crawl's
// summary. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "storage/record.h"

namespace orbweaver {

struct ReasonWords {
  std::string what;  // "the host's name does not resolve"
  std::string fix;   // "is the name right, …?"; empty: there is nothing to do
  // "what; fix"
  std::string both() const { return fix.empty() ? what : what + "; " + fix; }
};

// `status`: of the record, for the reasons that have one. A reason that this build does not know is "unknown".
ReasonWords words_of(storage::Reason reason, std::uint16_t status);

}  // namespace orbweaver
