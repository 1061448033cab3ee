// The setting topic_file: a document as an example of the topic. Thread rule: free function; reads a file.
#pragma once

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Reads topic_file, when one was given, into `topic`. Returns whether there was one.
Result<bool> read_topic_file(Settings& settings);

}  // namespace orbweaver
