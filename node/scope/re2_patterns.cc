// The only code that uses RE2.
#include "node/scope/re2_patterns.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

namespace orbweaver {

namespace {

// Memory for the automaton of a whole list: it is built as it is needed, and restarted when this is full.
constexpr int max_list_memory = 64 << 20;

RE2::Options options() {
  RE2::Options made(RE2::Quiet);                    // complaints are values, not lines on stderr
  made.set_encoding(RE2::Options::EncodingLatin1);  // canonical URLs are ASCII: a byte is a character
  made.set_max_mem(max_pattern_memory);
  return made;
}

}  // namespace

struct UrlPatterns::Compiled {
  std::vector<std::unique_ptr<RE2>> each;
  std::unique_ptr<RE2::Set> all;  // null for a list of one
};

UrlPatterns::UrlPatterns() = default;
UrlPatterns::~UrlPatterns() = default;
UrlPatterns::UrlPatterns(UrlPatterns&&) noexcept = default;
UrlPatterns& UrlPatterns::operator=(UrlPatterns&&) noexcept = default;

std::string check_pattern(std::string_view pattern) {
  if (pattern.empty()) return "an empty expression would match every URL";
  const RE2 compiled(re2::StringPiece(pattern.data(), pattern.size()), options());
  return compiled.ok() ? std::string() : compiled.error();
}

Result<UrlPatterns> UrlPatterns::compile(const std::vector<std::string>& patterns) {
  UrlPatterns made;
  made.texts_ = patterns;
  if (patterns.empty()) return made;
  made.compiled_ = std::make_unique<Compiled>();
  for (const std::string& pattern : patterns) {
    if (const std::string wrong = check_pattern(pattern); !wrong.empty())
      return fail(ErrorCode::invalid_setting, "'" + pattern + "' is not a regular expression of RE2: " + wrong);
    made.compiled_->each.push_back(std::make_unique<RE2>(pattern, options()));
  }
  if (patterns.size() == 1) return made;
  RE2::Options for_all = options();
  for_all.set_max_mem(max_list_memory);
  made.compiled_->all = std::make_unique<RE2::Set>(for_all, RE2::UNANCHORED);
  for (const std::string& pattern : patterns) (void)made.compiled_->all->Add(pattern, nullptr);  // compiled above
  if (!made.compiled_->all->Compile())
    return fail(ErrorCode::invalid_setting, std::to_string(patterns.size()) +
                                                " regular expressions together need more memory than " +
                                                std::to_string(max_list_memory >> 20) + " MiB");
  return made;
}

const std::string* UrlPatterns::first_match(std::string_view text) const {
  if (texts_.empty()) return nullptr;
  const re2::StringPiece piece(text.data(), text.size());
  if (compiled_->all != nullptr) {
    std::vector<int> found;
    RE2::Set::ErrorInfo error{};
    if (compiled_->all->Match(piece, &found, &error))
      return &texts_[static_cast<std::size_t>(*std::min_element(found.begin(), found.end()))];
    if (error.kind == RE2::Set::kNoError) return nullptr;
  }
  // One expression, or an automaton that does not fit: tries one after the other, which needs almost no memory.
  for (std::size_t i = 0; i < texts_.size(); ++i)
    if (RE2::PartialMatch(piece, *compiled_->each[i])) return &texts_[i];
  return nullptr;
}

}  // namespace orbweaver
