// `orbweaver corpus`: the text outputs of all peers as one corpus (docs/how-to/corpus.md). It marks texts that repeat
// an earlier one, exactly or nearly, across peers; no single peer can see that.
// Thread rule: free function; reads and writes files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct CorpusOptions {
  std::vector<std::string> inputs;  // files of lines, or directories: all *.jsonl below, by path
  std::string out;                  // one line per page; empty: none, counts only; "-": standard output
  bool drop_repeats = false;        // leave them out instead of marking them
  std::size_t max_texts = 5'000'000;
};

struct CorpusCounts {
  std::uint64_t files = 0;
  std::uint64_t pages = 0;
  std::uint64_t again = 0;  // lines of a URL that was there with the same text: a page fetched twice
  std::uint64_t exact = 0;  // texts that repeat the text of another URL
  std::uint64_t near = 0;
  std::uint64_t empty = 0;                         // pages without any word left
  std::uint64_t words = 0;                         // of texts that repeat nothing
  std::uint64_t torn = 0;                          // last lines without an end: still being written, or left by a crash
  std::uint64_t forgotten = 0;                     // texts that made room: repeats of only those were not detected
  std::map<std::string, std::uint64_t> languages;  // pages that repeat nothing; "": unknown
};

// An error names the file and the line.
Result<CorpusCounts> make_corpus(const CorpusOptions& options);

}  // namespace orbweaver
