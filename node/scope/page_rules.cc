#include "node/scope/page_rules.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "node/text/shown.h"
#include "node/url/percent_encode.h"
#include "node/url/registrable_domain.h"

namespace orbweaver {

namespace {

struct Word {
  std::string name;  // empty: the first word, which has no name
  std::string value;
};

// "FIRST name=value name="a value"…". A quoted value cannot contain a double quote.
Result<std::vector<Word>> words_of(std::string_view entry) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < entry.size();) {
    if (entry[at] == ' ') {
      ++at;
      continue;
    }
    Word word;
    const std::size_t end = std::min(entry.find(' ', at), entry.size());
    const std::size_t equals = entry.find('=', at);
    const bool named = !words.empty();
    if (named && equals >= end)
      return fail(ErrorCode::invalid_input, shown(entry.substr(at, end - at)) + " is not name=value");
    if (named) {
      word.name = entry.substr(at, equals - at);
      at = equals + 1;
    }
    if (at < entry.size() && entry[at] == '"') {
      const std::size_t close = entry.find('"', at + 1);
      if (close == std::string_view::npos || (close + 1 < entry.size() && entry[close + 1] != ' '))
        return fail(ErrorCode::invalid_input, "a quote does not end before a space or the entry's end");
      word.value = entry.substr(at + 1, close - at - 1);
      at = close + 1;
    } else {
      word.value = entry.substr(at, end - at);
      at = end;
    }
    if (word.value.empty()) return fail(ErrorCode::invalid_input, "'" + word.name + "' has no value");
    for (const Word& before : words)
      if (named && before.name == word.name)
        return fail(ErrorCode::invalid_input, "'" + word.name + "' is given twice");
    words.push_back(std::move(word));
  }
  return words;
}

Result<void> check_expression(const std::string& text) {
  const std::string bad = check_pattern(text);
  if (bad.empty()) return {};
  return fail(ErrorCode::invalid_input, shown(text) + " is not a regular expression of RE2: " + bad);
}

// Compiles a text that was checked before.
UrlPatterns compiled(const std::string& text) {
  if (text.empty()) return {};
  Result<UrlPatterns> made = UrlPatterns::compile({text});
  return made ? std::move(*made) : UrlPatterns();
}

std::optional<CanonicalUrl> unwrapped(const CanonicalUrl& link, std::string_view name,
                                      const Canonicaliser& canonicaliser) {
  const std::string_view path = link.path_and_query();
  std::size_t at = path.find('?');
  while (at != std::string_view::npos) {
    const std::size_t end = path.find('&', at + 1);
    std::string_view pair = path.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=') {
      std::string value(pair.substr(name.size() + 1));
      std::replace(value.begin(), value.end(), '+', ' ');
      if (Result<CanonicalUrl> url = canonicaliser.parse(url_text::percent_decode(value))) return std::move(*url);
      return std::nullopt;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace

Result<ResultPageEntry> parse_result_page(std::string_view entry) {
  const auto words = words_of(entry);
  if (!words) return tl::make_unexpected(words.error());
  if (words->empty()) return fail(ErrorCode::invalid_input, "an entry begins with an expression for the page's URL");
  ResultPageEntry made;
  made.pattern = words->front().value;
  for (std::size_t i = 1; i < words->size(); ++i) {
    const Word& word = (*words)[i];
    if (word.name == "url") {
      made.url = word.value;
    } else if (word.name == "select") {
      made.select = word.value;
    } else if (word.name == "unwrap") {
      made.unwrap = word.value;
    } else {
      return fail(ErrorCode::invalid_input, "'" + word.name + "' is not one of url, select, unwrap");
    }
  }
  if (Result<void> checked = check_expression(made.pattern); !checked) return tl::make_unexpected(checked.error());
  if (!made.url.empty())
    if (Result<void> checked = check_expression(made.url); !checked) return tl::make_unexpected(checked.error());
  return made;
}

ResultPages::ResultPages(const std::vector<std::string>& entries) {
  std::vector<std::string> patterns;
  for (const std::string& text : entries) {
    Result<ResultPageEntry> entry = parse_result_page(text);
    if (!entry) continue;
    std::string pattern = entry->pattern;
    UrlPatterns url = compiled(entry->url);
    patterns.push_back(pattern);
    rules_.try_emplace(std::move(pattern), Rule{std::move(*entry), std::move(url)});
  }
  if (Result<UrlPatterns> all = UrlPatterns::compile(patterns)) patterns_ = std::move(*all);
}

const ResultPages::Rule* ResultPages::find(const CanonicalUrl& page) const {
  const std::string* const pattern = patterns_.first_match(page.text());
  if (pattern == nullptr) return nullptr;
  const auto found = rules_.find(*pattern);
  return found == rules_.end() ? nullptr : &found->second;
}

std::vector<CanonicalUrl> results_of(const ResultPages::Rule& rule, const CanonicalUrl& page,
                                     const std::vector<CanonicalUrl>& links, const Canonicaliser& canonicaliser) {
  std::vector<CanonicalUrl> results;
  std::unordered_set<std::string> known;
  const std::string engine = registrable_domain(page.host());
  for (const CanonicalUrl& link : links) {
    std::optional<CanonicalUrl> target;
    if (!rule.entry.unwrap.empty()) target = unwrapped(link, rule.entry.unwrap, canonicaliser);
    const CanonicalUrl& url = target ? *target : link;
    if (registrable_domain(url.host()) == engine) continue;
    if (!rule.url.empty() && rule.url.first_match(url.text()) == nullptr) continue;
    if (results.size() < max_results_per_page && known.insert(url.text()).second) results.push_back(url);
  }
  return results;
}

Result<SiteLinksEntry> parse_site_links(std::string_view entry) {
  const auto words = words_of(entry);
  if (!words) return tl::make_unexpected(words.error());
  SiteLinksEntry made;
  if (!words->empty()) made.site = words->front().value;
  std::string_view host = made.site;
  if (host.starts_with("*.")) host.remove_prefix(2);
  if (made.site != "*" && (host.empty() || host.find_first_of("*/:@") != std::string_view::npos))
    return fail(ErrorCode::invalid_input, "a site is a host, *. and a host, or *: " + shown(made.site));
  for (std::size_t i = 1; i < words->size(); ++i) {
    const Word& word = (*words)[i];
    if (word.name == "keep" || word.name == "drop") {
      if (Result<void> checked = check_expression(word.value); !checked) return tl::make_unexpected(checked.error());
      (word.name == "keep" ? made.keep : made.drop) = word.value;
    } else if (word.name == "same_host") {
      if (word.value != "yes" && word.value != "no")
        return fail(ErrorCode::invalid_input, "same_host is yes or no, not " + shown(word.value));
      made.same_host = word.value == "yes";
    } else {
      return fail(ErrorCode::invalid_input, "'" + word.name + "' is not one of keep, drop, same_host");
    }
  }
  return made;
}

SiteLinks::SiteLinks(const std::vector<std::string>& entries) {
  for (const std::string& text : entries) {
    const Result<SiteLinksEntry> entry = parse_site_links(text);
    if (!entry) continue;
    Rule rule{compiled(entry->keep), compiled(entry->drop), entry->same_host};
    if (entry->site == "*") {
      if (!any_) any_.emplace(std::move(rule));
    } else if (entry->site.starts_with("*.")) {
      below_.try_emplace(entry->site.substr(2), std::move(rule));
    } else {
      exact_.try_emplace(entry->site, std::move(rule));
    }
  }
}

const SiteLinks::Rule* SiteLinks::find(std::string_view host) const {
  if (const auto found = exact_.find(host); found != exact_.end()) return &found->second;
  while (!below_.empty() && !host.empty()) {
    if (const auto found = below_.find(host); found != below_.end()) return &found->second;
    host.remove_prefix(std::min(host.find('.'), host.size() - 1) + 1);
  }
  return any_ ? &*any_ : nullptr;
}

std::uint32_t SiteLinks::filter(const CanonicalUrl& page, std::vector<CanonicalUrl>& links) const {
  const Rule* const rule = find(page.host());
  if (rule == nullptr) return 0;
  const auto gone = std::erase_if(links, [&](const CanonicalUrl& link) {
    return (rule->same_host && link.host() != page.host()) ||
           (!rule->keep.empty() && rule->keep.first_match(link.text()) == nullptr) ||
           rule->drop.first_match(link.text()) != nullptr;
  });
  return static_cast<std::uint32_t>(gone);
}

}  // namespace orbweaver
