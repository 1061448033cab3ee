// The srcset attribute: HTML standard, 4.8.4.2.4 "Parsing a srcset attribute", step by step.
#include <cmath>
#include <cstdlib>

#include "node/html/link_rules.h"
#include "node/html/tokenizer.h"

namespace orbweaver::html {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A valid non-negative integer (HTML standard, 2.3.4.2) that is not zero.
bool is_positive_integer(std::string_view text) {
  bool more_than_zero = false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    more_than_zero = more_than_zero || c != '0';
  }
  return more_than_zero;
}

bool is_non_negative_integer(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

// A valid floating-point number (2.3.4.3): an optional '-', digits with a fraction or either alone, an optional
// exponent. Not less than zero: "-0" is not.
bool is_density(std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with('-')) text.remove_prefix(1);
  const auto digits = [&] {
    std::size_t count = 0;
    while (!text.empty() && is_digit(text.front())) {
      text.remove_prefix(1);
      ++count;
    }
    return count;
  };
  const std::size_t before = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  } else if (before == 0) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty() && std::strtod(std::string(whole).c_str(), nullptr) >= 0;
}

// Steps 9 to 15: whether the candidate's descriptors are valid.
bool are_fine(const std::vector<std::string>& descriptors) {
  bool width = false;
  bool density = false;
  bool height = false;
  for (const std::string& descriptor : descriptors) {
    const std::string_view number = std::string_view(descriptor).substr(0, descriptor.size() - 1);
    if (descriptor.back() == 'w' && is_positive_integer(number) && !number.empty()) {
      if (width || density) return false;
      width = true;
    } else if (descriptor.back() == 'x' && is_density(number)) {
      if (width || density || height) return false;
      density = true;
    } else if (descriptor.back() == 'h' && is_non_negative_integer(number)) {
      if (height || density || !is_positive_integer(number)) return false;
      height = true;
    } else {
      return false;
    }
  }
  return !height || width;
}

// Step 8, the descriptor tokenizer: from after the URL to after the ',' that ends the candidate.
std::vector<std::string> take_descriptors(std::string_view input, std::size_t& at) {
  enum class State { in_descriptor, in_parens, after_descriptor };
  std::vector<std::string> descriptors;
  std::string current;
  State state = State::in_descriptor;
  const auto finish = [&] {
    if (!current.empty()) descriptors.push_back(std::move(current));
    current.clear();
  };
  while (at < input.size() && is_html_space(input[at])) ++at;
  for (;; ++at) {
    if (at == input.size()) {
      finish();
      return descriptors;
    }
    const char c = input[at];
    if (state == State::in_parens) {
      current += c;
      if (c == ')') state = State::in_descriptor;
      continue;
    }
    if (is_html_space(c)) {
      if (state == State::in_descriptor && !current.empty()) {
        finish();
        state = State::after_descriptor;
      }
      continue;
    }
    state = State::in_descriptor;
    if (c == ',') {
      ++at;
      finish();
      return descriptors;
    }
    current += c;
    if (c == '(') state = State::in_parens;
  }
}

}  // namespace

std::vector<std::string> parse_srcset(std::string_view input) {
  std::vector<std::string> urls;
  for (std::size_t at = 0;;) {
    while (at < input.size() && (is_html_space(input[at]) || input[at] == ',')) ++at;
    if (at == input.size()) return urls;
    const std::size_t begin = at;
    while (at < input.size() && !is_html_space(input[at])) ++at;
    std::string url(input.substr(begin, at - begin));
    if (url.ends_with(',')) {
      while (url.ends_with(',')) url.pop_back();
      urls.push_back(std::move(url));
      continue;
    }
    if (are_fine(take_descriptors(input, at))) urls.push_back(std::move(url));
  }
}

}  // namespace orbweaver::html
