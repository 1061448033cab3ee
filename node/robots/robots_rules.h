// How RobotsRules stores its rules: one string, rule after rule in the order of comparison. So a decision reads memory
// from front to back, and a rule costs 3 to 6 bytes in addition to its text. For node/robots alone.
//
//   rule   = head [back | line text] [pattern]
//   head   = varint, text bytes << 6 | flags below
//   back   = varint, with `index`: how many bytes before this rule the rule begins whose text and line it shares
//   line   = varint, 1-based
//   pattern = varint bytes and the text in the form used for comparison; with `kept` only
//
// Most texts are compared as they are (`same`). For the others the form for comparison is stored while there is room,
// else made at each comparison, once the text's plain start is seen to match.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "node/robots/robots.h"

namespace orbweaver {

struct RobotsRules::Rule {
  enum Flag : std::uint8_t {
    allow = 1,
    literal = 2,  // compared without decoding escapes (see robots_pattern.h)
    index = 4,    // "Allow: /a/index.html" again, for "/a/"
    same = 8,     // the pattern is stored
    kept = 16,    // the pattern is kept
    plain = 32    // the pattern has neither '*' nor '$' at its end
  };
  std::uint8_t flags = 0;
  std::uint32_t line = 0;  // not set for an index rule, nor is its text
  std::string_view text;
  std::string_view pattern;  // same or kept
  std::size_t begin = 0;     // where it begins, and where the next one begins
  std::size_t end = 0;
  std::size_t source = 0;  // index: where the rule with its text begins
  const std::string* rules = nullptr;

  static Rule at(const std::string& rules, std::size_t begin);
  // From `begin` on, the first rule that may match; the end when there is none. `forms`: indexed by allow and literal.
  static std::size_t skip_others(const std::string& rules, std::size_t begin, const std::string_view* forms);
  bool has(Flag flag) const { return (flags & flag) != 0; }
  bool matches(std::string_view form) const;
  Rule as_written(const std::string& all) const { return has(index) ? at(all, source) : *this; }
};

// Gathers the rules of a group. It points to the added texts and does not copy them.
class RobotsRulesWriter {
 public:
  // Allowing a directory's index page allows the directory (Google's parser): most servers serve one page for both.
  void add(bool allow, std::string_view value, std::uint32_t line);
  // Writes the rules into `out`, in at most `max_bytes` if possible; call it once.
  void write(std::size_t max_bytes, RobotsRules& out);

 private:
  struct Gathered {
    std::string_view text;
    std::uint32_t octets = 0;  // decides which match is longest: the pattern with bytes outside ASCII escaped
    std::uint32_t line = 0;
    std::uint32_t number = 0;  // of the added rule; an index rule follows its own rule
    bool allow = false;
    bool index = false;
  };
  std::vector<Gathered> rules_;
  std::unordered_set<std::string_view> seen_[2];  // disallow, allow
  std::size_t wildcards_ = 0;
  std::uint32_t left_out_ = 0;
};

}  // namespace orbweaver
