// A stream of URLs to check, each different one kept once: read from lines, or made from a seed. Different URLs are
// numbered in the order of their first appearance, so a check is for a new URL exactly when its number is the highest
// so far plus one: the exact answer that every structure is held against. Thread rule: values.
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
  std::uint64_t text_bytes(std::uint64_t urls) const { return begins_[urls]; }  // of the first so many
  // How many checks there are before the first one beyond `urls` different ones.
  std::uint64_t checks_for(std::uint64_t urls) const;

  // True: it was new.
  bool add(std::string_view url);
  void repeat(std::uint32_t number) { checks_.push_back(number); }
  // Frees what only add() needs.
  void complete();

 private:
  void grow();
  std::size_t slot_of(std::string_view url) const;
  std::string text_;
  std::vector<std::uint64_t> begins_{0};
  std::vector<std::uint32_t> checks_;
  std::vector<std::uint32_t> slots_;  // open addressing, linear probing: numbers + 1, 0 is empty
};

// One URL a line, as it is asked for: http:// or https://, a host, no spaces or control characters, up to url_bytes_max
// (canonical_url.h). Empty lines and those that begin with '#' are passed over, spaces around a URL cut, a CR and a
// byte order mark too. Nothing is canonicalised: two spellings are two URLs. Errors name `name` and the line; a source
// without a URL is one.
Result<UrlStream> read_url_stream(std::istream& in, const std::string& name);

// The targets of the links that a crawl recorded (storage/link_trace.h; files or directories), in their order: what its
// seen-set was asked, before the link cache. Errors name the file and the offset; a trace without a link is one.
Result<UrlStream> read_trace_stream(const std::vector<std::string>& paths);

struct UrlGenerator {
  std::uint64_t urls = 16'000;  // different ones
  double repeats = 0.25;        // share of the checks that are for a URL that was asked before, 0 to 0.95
  std::uint64_t seed = 1;
};
// The same configuration gives the same stream on every machine. Hosts: one for 50 URLs, a few with most of them. A
// host's URLs share its directories, eight names a level, up to five levels; one in 16 is a directory itself, which
// other URLs begin with. About 66 bytes a URL. Repeats: half of one of the last 1,000, half of any, the early ones more
// often.
UrlStream generate_url_stream(const UrlGenerator& generator);
// What a stream will take in memory while it is made, bytes.
std::uint64_t generated_bytes(const UrlGenerator& generator);

}  // namespace orbweaver
