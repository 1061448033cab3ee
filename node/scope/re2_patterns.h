// Lists of regular expressions (RE2) that URLs are matched with, in time linear in the URL, whatever the expressions.
// Thread rule: immutable once made; share freely. Cost of first_match(): one pass of an automaton over the URL for the
// whole list, about 10 ns per byte.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class UrlPatterns {
 public:
  UrlPatterns();
  ~UrlPatterns();
  UrlPatterns(UrlPatterns&&) noexcept;
  UrlPatterns& operator=(UrlPatterns&&) noexcept;

  // The error names the expression and RE2's complaint. Each may take up to max_pattern_memory bytes when compiled.
  static Result<UrlPatterns> compile(const std::vector<std::string>& patterns);

  bool empty() const { return texts_.empty(); }
  // The first expression of the list that matches anywhere in the text (^ and $ anchor it); null when none does.
  const std::string* first_match(std::string_view text) const;

 private:
  struct Compiled;
  std::vector<std::string> texts_;
  std::unique_ptr<Compiled> compiled_;
};

// What is wrong with one expression, in RE2's words; empty: nothing.
std::string check_pattern(std::string_view pattern);

// An expression that compiles to more is refused: "(a{1000}){1000}" is a mistake.
inline constexpr int max_pattern_memory = 1 << 20;

}  // namespace orbweaver
