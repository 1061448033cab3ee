#include "node/scope/search_urls.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "node/text/shown.h"
#include "node/url/canonical_url.h"
#include "node/url/percent_encode.h"

namespace orbweaver {

namespace {

constexpr std::string_view example = "https://search.example/?q={searchTerms}&page={startPage?}";

std::string folded(std::string_view text) {
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ') {
      space = !out.empty();
      continue;
    }
    if (std::exchange(space, false)) out.push_back(' ');
    out.push_back(c);
  }
  return out;
}

void append_value(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    if (url_text::is(c, url_text::unreserved)) {
      out.push_back(c);
    } else {
      url_text::append_escape(out, static_cast<unsigned char>(c));
    }
  }
}

}  // namespace

Result<std::vector<std::string>> parse_keywords(std::string_view text) {
  std::vector<std::string> keywords;
  if (const auto at = url_text::first_invalid_utf8(text))
    return fail(ErrorCode::invalid_input, "the keywords are no UTF-8 from byte " + std::to_string(*at) + " on");
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(";\n", start), text.size());
    std::string keyword = folded(text.substr(start, end - start));
    start = end + 1;
    if (keyword.size() > max_keyword_bytes)
      return fail(ErrorCode::invalid_input,
                  "the keyword " + shown(keyword) + " is longer than " + std::to_string(max_keyword_bytes) + " bytes");
    if (!keyword.empty() && std::find(keywords.begin(), keywords.end(), keyword) == keywords.end())
      keywords.push_back(std::move(keyword));
  }
  if (keywords.empty())
    return fail(ErrorCode::invalid_input, "no keywords in " + shown(text) + "; give some as in --keywords \"a b; c\"");
  return keywords;
}

Result<std::vector<Combine>> parse_combine(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Combine>, 4> names{
      {{"each", Combine::each}, {"all", Combine::all}, {"pairs", Combine::pairs}, {"phrases", Combine::phrases}}};
  std::vector<Combine> how;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string word = folded(text.substr(start, end - start));
    const auto* const found =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == word; });
    if (found == names.end())
      return fail(ErrorCode::invalid_input, shown(word) +
                                                " is not a way to combine keywords: there are each, all, pairs "
                                                "and phrases");
    if (std::find(how.begin(), how.end(), found->second) == how.end()) how.push_back(found->second);
    start = end + 1;
  }
  return how;
}

Queries combine_keywords(const std::vector<std::string>& keywords, const std::vector<Combine>& how,
                         std::uint64_t max_queries) {
  Queries out;
  std::unordered_set<std::string> known;
  const auto add = [&](std::string words) {
    if (out.words.size() >= max_queries) {
      ++out.left_out;
    } else if (known.insert(words).second) {
      out.words.push_back(std::move(words));
    }
  };
  for (const Combine way : how) {
    if (way == Combine::all) {
      std::string all;
      for (const std::string& keyword : keywords) all += (all.empty() ? "" : " ") + keyword;
      add(std::move(all));
      continue;
    }
    for (std::size_t i = 0; i < keywords.size(); ++i) {
      if (way == Combine::each) add(keywords[i]);
      if (way == Combine::phrases) {
        std::string bare = keywords[i];  // quotes within would end the phrase
        std::erase(bare, '"');
        add("\"" + bare + "\"");
      }
      if (way != Combine::pairs) continue;
      if (out.words.size() >= max_queries) {  // 100,000 keywords have about 5e9 pairs
        out.left_out += keywords.size() - i - 1;
        continue;
      }
      for (std::size_t j = i + 1; j < keywords.size(); ++j) add(keywords[i] + " " + keywords[j]);
    }
  }
  return out;
}

Result<EngineTemplate> EngineTemplate::parse(std::string_view text) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_input,
                "the template " + shown(text) + " " + why + "; one looks like " + std::string(example));
  };
  constexpr std::array<std::pair<std::string_view, Place>, 7> names{{{"searchTerms", Place::words},
                                                                     {"startPage", Place::page},
                                                                     {"startIndex", Place::index},
                                                                     {"count", Place::count},
                                                                     {"language", Place::language},
                                                                     {"inputEncoding", Place::encoding},
                                                                     {"outputEncoding", Place::encoding}}};
  EngineTemplate made;
  bool has_words = false;
  std::string_view rest = text;
  for (;;) {
    const std::size_t open = rest.find_first_of("{}");
    Part part{std::string(rest.substr(0, open)), Place::nothing};
    if (open == std::string_view::npos) {
      made.parts_.push_back(std::move(part));
      break;
    }
    const std::size_t close = rest.find('}', open);
    if (rest[open] == '}' || close == std::string_view::npos) return wrong("has a brace without its other one");
    std::string_view name = rest.substr(open + 1, close - open - 1);
    const bool optional = name.ends_with('?');
    if (optional) name.remove_suffix(1);
    const auto* const found =
        std::find_if(names.begin(), names.end(), [&](const auto& known) { return known.first == name; });
    if (found == names.end() && !optional) return wrong("has a place {" + std::string(name) + "} that is not known");
    part.place = found == names.end() ? Place::empty : found->second;
    has_words = has_words || part.place == Place::words;
    made.parts_.push_back(std::move(part));
    rest.remove_prefix(close + 1);
  }
  if (!has_words) return wrong("has no place for the words, {searchTerms}");
  const std::string& prefix = made.prefix();
  const std::size_t host = prefix.find("://");
  if (host == std::string::npos || prefix.find_first_of("/?", host + 3) == std::string::npos)
    return wrong("does not name its host before its first place");
  if (const auto url = CanonicalUrl::parse(made.url("words", 0, {})); !url) return wrong("makes no URL");
  return made;
}

bool EngineTemplate::has_paging() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.place == Place::page || part.place == Place::index; });
}

std::string EngineTemplate::url(std::string_view words, std::uint32_t page, const Paging& paging) const {
  std::string out;
  for (const Part& part : parts_) {
    out += part.text;
    switch (part.place) {
      case Place::words:
        append_value(out, words);
        break;
      case Place::page:
        out += std::to_string(std::uint64_t{paging.first_page} + page);
        break;
      case Place::index:
        out += std::to_string(paging.first_index + std::uint64_t{page} * paging.count);
        break;
      case Place::count:
        out += std::to_string(paging.count);
        break;
      case Place::language:
        out += '*';  // any (OpenSearch 1.1, "language")
        break;
      case Place::encoding:
        out += "UTF-8";
        break;
      case Place::nothing:
      case Place::empty:
        break;
    }
  }
  return out;
}

Result<std::vector<std::string>> search_urls(const std::vector<EngineTemplate>& engines,
                                             const std::vector<std::string>& queries, const Paging& paging) {
  std::vector<std::string> urls;
  for (const EngineTemplate& engine : engines)
    if (paging.pages > 1 && !engine.has_paging())
      return fail(ErrorCode::invalid_input, "the template that begins with " + shown(engine.prefix()) +
                                                " has no place for the page, {startPage} or {startIndex}, and " +
                                                std::to_string(paging.pages) + " pages are asked for");
  for (const std::string& words : queries)
    for (const EngineTemplate& engine : engines)
      for (std::uint32_t page = 0; page < paging.pages; ++page) {
        const Result<CanonicalUrl> url = CanonicalUrl::parse(engine.url(words, page, paging));
        if (!url) return fail(ErrorCode::invalid_input, "of " + shown(words) + ": " + url.error().message);
        urls.push_back(url->text());
      }
  return urls;
}

}  // namespace orbweaver
