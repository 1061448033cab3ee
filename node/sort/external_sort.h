// Sorts more records than fit in memory: runs in memory, sorted and written to files, then merged. A record is a string
// of bytes; the order is that of memcmp, so integers in a key are big-endian.
//
// Bounds: `memory` bytes for the current records and the buffers of a merge, at least sort_memory_min. Files in the
// directory take about as much as the records, twice that while runs are merged; they are deleted with the object.
// Errors name the file. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct FileCloser {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

inline constexpr std::uint64_t sort_memory_min = 64u << 10;
inline constexpr std::size_t max_sort_record = 1u << 20;

class ExternalSort {
 public:
  // `name`: of the files; unique in the directory. `unique`: of equal records only one is returned.
  ExternalSort(std::string directory, std::string name, std::uint64_t memory, bool unique);
  ~ExternalSort();
  ExternalSort(const ExternalSort&) = delete;

  Result<void> add(std::string_view record);
  // Call no add() after this.
  Result<void> finish();
  // The next record in order, valid until the next call; false: there are no more.
  Result<bool> next(std::string_view& record);
  std::size_t runs_written() const { return next_run_; }

 private:
  struct Place {
    std::uint64_t at = 0;  // in bytes_
    std::uint32_t size = 0;
  };
  struct Run {
    std::string path;
    File file;
    std::vector<char> buffer;
    std::string record;
    bool done = false;
  };
  std::string_view at(const Place& place) const { return std::string_view(bytes_).substr(place.at, place.size); }
  void sort_at_hand();
  Result<void> write_run();
  Result<void> merge_runs();
  Result<void> open_runs();
  Result<void> advance(Run& run);
  Result<bool> next_merged(std::string_view& record);

  std::string directory_;
  std::string name_;
  std::uint64_t memory_;
  bool unique_;
  std::string bytes_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<Run*> heap_;
  std::size_t next_run_ = 0;
  std::size_t next_place_ = 0;
  bool any_given_ = false;
  std::string given_;  // the last record that was returned
};

}  // namespace orbweaver
