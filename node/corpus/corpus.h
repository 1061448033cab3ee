// `orbweaver corpus`: the text outputs of all peers as one corpus (docs/how-to/corpus.md). Texts that repeat an earlier
// one, exactly or nearly, are marked across peers, which no peer by itself can see. Thread rule: free function; reads
// and writes files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct CorpusOptions {
  std::vector<std::string> inputs;  // files of lines, or directories: all *.jsonl below, by path
  std::string out;                  // one line a page; empty: none, counts only; "-": standard output
  bool drop_repeats = false;        // leave them out instead of marking them
  std::size_t texts_max = 5'000'000;
};

struct CorpusCounts {
  std::uint64_t files = 0;
  std::uint64_t pages = 0;
  std::uint64_t again = 0;  // lines of a URL that was there with the same text: a page that was fetched twice
  std::uint64_t exact = 0;  // texts that repeat that of another URL
  std::uint64_t near = 0;
  std::uint64_t empty = 0;                         // pages without a word left
  std::uint64_t words = 0;                         // of what repeats nothing
  std::uint64_t torn = 0;                          // last lines without an end: being written, or a crash's
  std::uint64_t forgotten = 0;                     // texts that made room: what repeats only those was not seen
  std::map<std::string, std::uint64_t> languages;  // pages that repeat nothing; "": not known
};

// An error names the file and the line.
Result<CorpusCounts> make_corpus(const CorpusOptions& options);

}  // namespace orbweaver
