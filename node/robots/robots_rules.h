// How RobotsRules keeps its rules: one string, rule after rule in the order in which they are compared, so that a
// decision reads memory from front to back and a rule costs 3 to 6 bytes beside its text. For node/robots alone.
//
//   rule   = head [back | line text] [pattern]
//   head   = varint, text bytes << 6 | flags below
//   back   = varint, with `index`: how many bytes before this rule the one begins whose text and line it has
//   line   = varint, 1-based
//   pattern = varint bytes and the text in the form that is compared; with `kept` only
//
// Most texts are compared as they stand (`same`). Of the others the form that is compared is kept while there is room,
// and else made at each comparison, once the text's plain start is seen to match.
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
    same = 8,     // the text is the pattern
    kept = 16,    // the pattern is kept
    plain = 32    // the pattern has neither '*' nor '$' at its end
  };
  std::uint8_t flags = 0;
  std::uint32_t line = 0;  // not of an index rule, nor its text
  std::string_view text;
  std::string_view pattern;  // same or kept
  std::size_t begin = 0;     // where it is, and where the next one is
  std::size_t end = 0;
  std::size_t source = 0;  // index: where the rule is that has its text
  const std::string* rules = nullptr;

  static Rule at(const std::string& rules, std::size_t begin);
  // From `begin` on, the first rule that may match; the end when there is none. `forms` by allow and literal.
  static std::size_t skip_others(const std::string& rules, std::size_t begin, const std::string_view* forms);
  bool has(Flag flag) const { return (flags & flag) != 0; }
  bool matches(std::string_view form) const;
  Rule as_written(const std::string& all) const { return has(index) ? at(all, source) : *this; }
};

// Gathers the rules of a group. What is added is pointed to, not copied.
class RobotsRulesWriter {
 public:
  // Allowing a directory's index page allows the directory (Google's parser): most servers give the one for the other.
  void add(bool allow, std::string_view value, std::uint32_t line);
  // Writes the rules into `out`, in at most `bytes_max` where they can be had so; once.
  void write(std::size_t bytes_max, RobotsRules& out);

 private:
  struct Gathered {
    std::string_view text;
    std::uint32_t octets = 0;  // which match is longest: the pattern with bytes outside ASCII escaped
    std::uint32_t line = 0;
    std::uint32_t number = 0;  // of the one added; an index rule follows its own
    bool allow = false;
    bool index = false;
  };
  std::vector<Gathered> rules_;
  std::unordered_set<std::string_view> seen_[2];  // disallow, allow
  std::size_t wildcards_ = 0;
  std::uint32_t left_out_ = 0;
};

}  // namespace orbweaver
