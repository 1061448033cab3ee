// A stream of URLs to check, each different one stored once: read from lines, or made from a seed. Different URLs are
// numbered in the order of their first appearance, so a check is for a new URL exactly when its number is the highest
// so far plus one: the exact answer with which every structure is compared. Thread rule: values.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class UrlStream {
 public:
  std::uint64_t different() const { return begins_.size() - 1; }
  std::string_view url(std::uint32_t number) const {
    return std::string_view(text_).substr(begins_[number], begins_[number + 1] - begins_[number]);
  }
  const std::vector<std::uint32_t>& checks() const { return checks_; }
  std::uint64_t text_bytes(std::uint64_t urls) const { return begins_[urls]; }  // of the first `urls`
  // The number of checks before the first one beyond `urls` different ones.
  std::uint64_t checks_for(std::uint64_t urls) const;

  // True: the URL was new.
  bool add(std::string_view url);
  void repeat(std::uint32_t number) { checks_.push_back(number); }
  // Frees the memory that only add() needs.
  void complete();

 private:
  void grow();
  std::size_t slot_of(std::string_view url) const;
  std::string text_;
  std::vector<std::uint64_t> begins_{0};
  std::vector<std::uint32_t> checks_;
  std::vector<std::uint32_t> slots_;  // open addressing, linear probing: numbers + 1, 0 is empty
};

// One URL per line, as it is requested: http:// or https://, a host, no spaces or control characters, up to
// max_url_bytes (canonical_url.h). Empty lines and those that begin with '#' are skipped; spaces around a URL, a CR and
// a byte order mark are removed. Nothing is canonicalised: two spellings are two URLs. Errors name `name` and the line;
// a source without a URL is an error.
Result<UrlStream> read_url_stream(std::istream& in, const std::string& name);

// The targets of the links that a crawl recorded (storage/link_trace.h; files or directories), in order: the questions
// to its seen-set, before the link cache. Errors name the file and the offset; no link at all is an error.
Result<UrlStream> read_trace_stream(const std::vector<std::string>& paths);

struct UrlGenerator {
  std::uint64_t urls = 16'000;  // different ones
  double repeats = 0.25;        // share of the checks for a URL that was asked before, 0 to 0.95
  std::uint64_t seed = 1;
};
// The same configuration gives the same stream on every machine. Hosts: one per 50 URLs, a few with most of them. A
// host's URLs share its directories, eight names per level, up to five levels; one in 16 is a directory itself, with
// which other URLs begin. About 66 bytes per URL. Repeats:
// half are one of the last 1,000, half any URL, the early ones more often.
UrlStream generate_url_stream(const UrlGenerator& generator);
// The memory that a stream takes while it is made, in bytes.
std::uint64_t generated_bytes(const UrlGenerator& generator);

}  // namespace orbweaver
