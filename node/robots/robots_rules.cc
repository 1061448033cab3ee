#include "node/robots/robots_rules.h"

#include <algorithm>
#include <cstring>

#include "node/robots/robots_pattern.h"

namespace orbweaver {
namespace {

constexpr unsigned flag_bits = 6;

void put_varint(std::string& out, std::uint32_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::size_t varint_bytes(std::uint32_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

std::uint32_t take_varint(const char* in, std::size_t& at) {
  auto byte = static_cast<unsigned char>(in[at++]);
  std::uint32_t value = byte & 0x7Fu;
  for (unsigned shift = 7; byte >= 0x80; shift += 7) {
    byte = static_cast<unsigned char>(in[at++]);
    value |= (byte & 0x7Fu) << shift;
  }
  return value;
}

// "/a/index.html" -> "/a/", which is compared as "/a/$"; empty when the value names no index page.
std::string_view directory_of_index(std::string_view value) {
  const std::size_t slash = value.rfind('/');
  if (slash == std::string_view::npos || !value.substr(slash).starts_with("/index.htm")) return {};
  return value.substr(0, slash + 1);
}

// False: the pattern of this text matches nothing that begins as `form` does.
bool start_matches(std::string_view text, std::string_view form) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!robots::stands_as_written(text[i])) return true;
    if (i >= form.size() || form[i] != text[i]) return false;
  }
  return true;
}

bool is_plain(std::string_view pattern) {
  return pattern.find('*') == std::string_view::npos && !pattern.ends_with('$');
}

bool looks_behind_star(std::string_view value) {
  const std::size_t last = value.find_last_not_of('*');
  return last != std::string_view::npos && value.substr(0, last).find('*') != std::string_view::npos;
}

std::string pattern_of(std::string_view text, bool index, bool literal) {
  if (!index) return robots::normalise_pattern(text, !literal);
  return robots::normalise_pattern(std::string(directory_of_index(text)) + '$', !literal);
}

}  // namespace

RobotsRules::Rule RobotsRules::Rule::at(const std::string& rules, std::size_t begin) {
  Rule rule;
  std::size_t at = begin;
  const std::uint32_t head = take_varint(rules.data(), at);
  rule.flags = static_cast<std::uint8_t>(head & ((1u << flag_bits) - 1));
  rule.begin = begin;
  rule.rules = &rules;
  if (rule.has(index)) {
    rule.source = begin - take_varint(rules.data(), at);
  } else {
    rule.line = take_varint(rules.data(), at);
    rule.text = std::string_view(rules).substr(at, head >> flag_bits);
    at += rule.text.size();
  }
  if (rule.has(same)) rule.pattern = rule.text;
  if (rule.has(kept)) {
    const std::uint32_t bytes = take_varint(rules.data(), at);
    rule.pattern = std::string_view(rules).substr(at, bytes);
    at += bytes;
  }
  rule.end = at;
  return rule;
}

std::size_t RobotsRules::Rule::skip_others(const std::string& rules, std::size_t begin, const std::string_view* forms) {
  const char* const data = rules.data();
  const char* const last = data + rules.size();
  const char* at = data + begin;
  while (at != last) {
    const char* const rule = at;
    std::uint32_t head = static_cast<unsigned char>(*at++);
    const std::uint32_t flags = head & ((1u << flag_bits) - 1);
    if ((flags & same) == 0) return static_cast<std::size_t>(rule - data);
    if (head >= 0x80) {
      head &= 0x7Fu;
      for (unsigned shift = 7;; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        head |= (byte & 0x7Fu) << shift;
        if (byte < 0x80) break;
      }
    }
    while (static_cast<unsigned char>(*at++) >= 0x80) continue;  // skips the line
    const std::size_t bytes = head >> flag_bits;
    const std::string_view form = forms[flags & (allow | literal)];
    // Compares the end first, then the second byte: nearly all begin with a slash.
    const bool may =
        (flags & plain) != 0
            ? bytes <= form.size() && at[bytes - 1] == form[bytes - 1] && std::memcmp(at, form.data(), bytes) == 0
            : bytes < 3 || !robots::stands_as_written(at[0]) || !robots::stands_as_written(at[1]) ||
                  (form.size() > 1 && form[1] == at[1]);
    if (may) return static_cast<std::size_t>(rule - data);
    at += bytes;
  }
  return rules.size();
}

bool RobotsRules::Rule::matches(std::string_view form) const {
  if (has(plain)) {
    if (!pattern.empty()) return form.starts_with(pattern);
  } else if (!pattern.empty()) {
    return robots::matches(pattern, form);
  }
  const std::string_view written = as_written(*rules).text;
  const std::string_view start = has(index) ? directory_of_index(written) : written;
  return start_matches(start, form) && robots::matches(pattern_of(written, has(index), has(literal)), form);
}

void RobotsRulesWriter::add(bool allow, std::string_view value, std::uint32_t line) {
  if (seen_[allow ? 1 : 0].contains(value)) return;
  const std::string_view directory = allow ? directory_of_index(value) : std::string_view();
  const std::size_t added = directory.empty() ? 1 : 2;
  const std::size_t wildcards = looks_behind_star(value) ? added : 0;
  if (rules_.size() + added > max_robots_rules || wildcards_ + wildcards > max_robots_wildcards) {
    ++left_out_;
    return;
  }
  wildcards_ += wildcards;
  seen_[allow ? 1 : 0].insert(value);
  const auto number = static_cast<std::uint32_t>(rules_.size());
  Gathered rule{value, static_cast<std::uint32_t>(robots::pattern_octets(value)), line, number, allow, false};
  rules_.push_back(rule);
  if (directory.empty()) return;
  rule.octets = static_cast<std::uint32_t>(robots::pattern_octets(directory)) + 1;
  rule.index = true;
  rules_.push_back(rule);
}

void RobotsRulesWriter::write(std::size_t max_bytes, RobotsRules& out) {
  std::stable_sort(rules_.begin(), rules_.end(), [](const Gathered& a, const Gathered& b) {
    return a.octets != b.octets ? a.octets > b.octets : a.allow && !b.allow;
  });
  constexpr std::size_t back_bytes = 4;
  std::size_t needed = 0;  // without the patterns that can be made later; an index rule's `back` at its longest
  for (const Gathered& rule : rules_)
    needed += rule.index ? 1 + back_bytes
                         : varint_bytes(static_cast<std::uint32_t>(rule.text.size()) << flag_bits) +
                               varint_bytes(rule.line) + rule.text.size();
  std::size_t spare = max_bytes - std::min(max_bytes, needed);
  std::vector<std::uint32_t> places(rules_.size());  // indexed by number
  out.rules_.reserve(needed);
  for (const Gathered& rule : rules_) {
    const auto begin = static_cast<std::uint32_t>(out.rules_.size());
    const std::string_view value = rule.index ? directory_of_index(rule.text) : rule.text;
    const bool literal = rule.allow && robots::escapes_alphanumeric(value);
    const std::string pattern = pattern_of(rule.text, rule.index, literal);
    const bool same = !rule.index && pattern == rule.text;
    const std::size_t cost = varint_bytes(static_cast<std::uint32_t>(pattern.size())) + pattern.size();
    const bool kept = !same && cost <= spare;
    if (kept) spare -= cost;
    std::uint32_t head = rule.index ? 0 : static_cast<std::uint32_t>(rule.text.size()) << flag_bits;
    if (rule.allow) head |= RobotsRules::Rule::allow;
    if (literal) head |= RobotsRules::Rule::literal;
    if (rule.index) head |= RobotsRules::Rule::index;
    if (same) head |= RobotsRules::Rule::same;
    if (kept) head |= RobotsRules::Rule::kept;
    if (is_plain(pattern)) head |= RobotsRules::Rule::plain;
    put_varint(out.rules_, head);
    if (rule.index) {
      put_varint(out.rules_, begin - places[rule.number]);
    } else {
      places[rule.number] = begin;
      put_varint(out.rules_, rule.line);
      out.rules_.append(rule.text);
    }
    if (kept) {
      put_varint(out.rules_, static_cast<std::uint32_t>(pattern.size()));
      out.rules_.append(pattern);
    }
  }
  out.rules_.shrink_to_fit();
  out.count_ = static_cast<std::uint32_t>(rules_.size());
  out.left_out_ = left_out_;
}

}  // namespace orbweaver
