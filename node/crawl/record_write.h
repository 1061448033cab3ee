// How a part that is tested alone changes the store: one write, and what follows from it in memory. An error: the store
// failed, nothing else happened, and the process has to end.
#pragma once

#include <functional>

#include "node/crawl/step.h"
#include "storage/store.h"

namespace orbweaver {

using RecordWrite = std::function<Result<storage::CommitResult>(const Step&, const storage::Commit&)>;

}  // namespace orbweaver
