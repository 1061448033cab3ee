// The segmented MD5 bitmap (Wu 2009): 2^28 bits in 4,096 segments of 2,048 words of 32 bits, 32 MiB in memory. Of the
// MD5's first 32 bits, numbered from 1 at the front, bits 5 to 16 are the segment, 17 to 27 the word, 28 to 32 the bit.
// Each newly set bit is written to a file at once (its word, big-endian, at its place), and the file is read back at
// the start: it survives a restart, and the death of its process. Thread rule: one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/lab/dedup/url_set.h"

namespace orbweaver {

class SegmentedBitmap final : public ApproximateUrlSet {
 public:
  static constexpr std::uint32_t segments = 4096;
  static constexpr std::uint32_t segment_words = 2048;
  static constexpr std::uint64_t slots = std::uint64_t{segments} * segment_words * 32;  // 2^28
  static constexpr std::uint64_t file_bytes = slots / 8;                                // 32 MiB, with holes

  struct Place {
    std::uint32_t segment = 0;  // 0 to 4095
    std::uint32_t word = 0;     // 0 to 2047
    std::uint32_t bit = 0;      // 0 to 31, from the word's highest
  };
  static Place place(std::string_view url);

  // `path`: the file, created when it does not exist. io: it cannot be read, or has another size.
  static Result<std::unique_ptr<UrlSet>> open(const std::string& path);
  ~SegmentedBitmap() override;
  SegmentedBitmap(const SegmentedBitmap&) = delete;

  Result<bool> seen(std::string_view url) override;
  bool would_be_seen(std::string_view url) const override;
  double predicted_rate(std::uint64_t urls) const override;
  std::uint64_t memory_bytes() const override { return words_.size() * sizeof(std::uint32_t); }
  Result<std::uint64_t> disk_bytes() const override;

 private:
  SegmentedBitmap(std::string path, int fd);
  std::string path_;
  int fd_;
  std::vector<std::uint32_t> words_;  // segment by segment
};

}  // namespace orbweaver
