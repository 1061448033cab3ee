// `orbweaver corpus`: the flags of node/corpus/corpus.h. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_corpus_command(CLI::App& app, int& code);

}  // namespace orbweaver
