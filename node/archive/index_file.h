// Indexes of WARC files, by which pywb, OutbackCDX and other tools find a capture. Lines are sorted as
// bytes. Memory is bounded: the lines are sorted in a directory `path`.work. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver::archive {

enum class IndexForm {
  cdxj,   // index_lines.h, cdxj_line
  cdx11,  // index_lines.h, cdx11_line
};

enum class IndexLayout {
  // One file of lines.
  plain,
  // ZipNum, as pywb and Common Crawl have it: lines in gzip blocks of 3,000 in NAME.cdx.gz; NAME.idx has a line a block
  // ("KEY TIMESTAMP", file, offset, length, number, parted by tabs), and NAME.loc says where the file is.
  zipnum,
};

struct IndexWritten {
  std::uint64_t files = 0;     // that were read
  std::uint64_t captures = 0;  // lines written
  std::uint64_t left_out = 0;  // captures without a line: their URL cannot be in an index
  std::uint64_t damaged = 0;   // records that could not be read
};

// Writes the index `path` of WARC files, finished ones and those that are being written. With zipnum, `path` ends in
// ".idx". What was there before stays until the new one is whole. Errors: invalid_input, io, disk_full.
Result<IndexWritten> write_index(const std::vector<std::string>& warc_files, const std::string& path, IndexForm form,
                                 IndexLayout layout);

// The same of several indexes in plain layout, compressed by gzip or not. All have lines of one form, else
// invalid_input. Equal lines are written once.
Result<IndexWritten> merge_indexes(const std::vector<std::string>& index_files, const std::string& path,
                                   IndexLayout layout);

}  // namespace orbweaver::archive
