#include "node/scope/scope_lists.h"

#include <algorithm>

#include "node/url/surt.h"

namespace orbweaver {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower_text(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

// The end of the host: its ')' or the ':' of a port; npos when the text ends before.
std::size_t host_end(std::string_view surt) {
  const std::size_t from = surt.starts_with('[') ? std::min(surt.find(']'), surt.size()) : 0;
  return surt.find_first_of("):", from);
}

// Archives end the host with a comma, so that "org,example," is a prefix of the host and of all hosts below it.
// Addresses, which are not reversed, have none.
std::string with_comma(std::string text) {
  const std::size_t end = host_end(text);
  if (end == std::string::npos || end == 0) return text;
  const std::string_view host = std::string_view(text).substr(0, end);
  if (host.back() != ',' && host.find_first_of(".[") == std::string_view::npos) text.insert(end, 1, ',');
  return text;
}

// Empty: the entry cannot be understood.
std::string normal_prefix(std::string_view entry) {
  if (entry.starts_with('+')) entry.remove_prefix(1);  // as in the seed files of other crawlers
  const std::size_t scheme = entry.find("://");
  if (scheme != std::string_view::npos && entry.substr(scheme + 3, 1) != "(") {
    const Result<CanonicalUrl> url = CanonicalUrl::parse(entry);
    if (!url) return {};
    std::string text = with_comma(surt(*url));
    text.erase(std::min(text.find('?'), text.size()));
    text.erase(text.rfind('/') + 1);
    return text;
  }
  if (scheme != std::string_view::npos) entry.remove_prefix(scheme + 3);
  if (entry.starts_with('(')) entry.remove_prefix(1);
  std::string text(entry);
  const std::size_t end = std::min(host_end(text), text.size());
  std::transform(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), text.begin(), lower);
  return with_comma(std::move(text));
}

std::string_view last_segment(const CanonicalUrl& url) {
  std::string_view path = url.path_and_query();
  path = path.substr(0, path.find('?'));
  return path.substr(path.rfind('/') + 1);
}

TextSet endings(const std::vector<std::string>& entries) {
  TextSet out;
  for (const std::string& entry : entries) out.insert(lower_text(entry.starts_with('.') ? entry.substr(1) : entry));
  return out;
}

const std::string* ending_in(const TextSet& set, std::string_view segment) {
  const std::string name = lower_text(segment);
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
    if (const auto found = set.find(std::string_view(name).substr(dot + 1)); found != set.end()) return &*found;
  return nullptr;
}

bool type_matches(std::string_view entry, std::string_view type) {
  if (entry.ends_with("/*")) return type.starts_with(entry.substr(0, entry.size() - 1));
  return entry == type;
}

UrlPatterns compiled(const std::vector<std::string>& patterns) {
  Result<UrlPatterns> made = UrlPatterns::compile(patterns);
  return made ? std::move(*made) : UrlPatterns();
}

}  // namespace

SurtPrefixes::SurtPrefixes(const std::vector<std::string>& entries) {
  std::vector<std::string> all;
  for (const std::string& entry : entries)
    if (std::string prefix = normal_prefix(entry); !prefix.empty()) all.push_back(std::move(prefix));
  std::sort(all.begin(), all.end());
  for (std::string& prefix : all)
    if (prefixes_.empty() || !prefix.starts_with(prefixes_.back())) prefixes_.push_back(std::move(prefix));
}

const std::string* SurtPrefixes::match(const CanonicalUrl& url) const {
  if (prefixes_.empty()) return nullptr;
  const std::string key = with_comma(surt(url));
  // No prefix begins with another, so only the last one that is not after the key can be a prefix of it.
  const auto after = std::upper_bound(prefixes_.begin(), prefixes_.end(), key);
  if (after == prefixes_.begin()) return nullptr;
  const std::string& candidate = *std::prev(after);
  return key.starts_with(candidate) ? &candidate : nullptr;
}

std::string check_surt_prefix(std::string_view entry) {
  if (!normal_prefix(entry).empty()) return {};
  return "'" + std::string(entry) +
         "' is no SURT prefix, for example http://(org,example,www,)/docs/, org,example, or " +
         "http://example.org/docs/";
}

std::string check_ending(std::string_view entry) {
  if (entry.starts_with('.')) entry.remove_prefix(1);
  const bool good = !entry.empty() && entry.find_first_of("/?# *") == std::string_view::npos;
  return good ? std::string() : "'" + std::string(entry) + "' is not a file ending, for example pdf or tar.gz";
}

std::string check_content_type(std::string_view entry) {
  const std::size_t slash = entry.find('/');
  const bool good =
      slash != std::string_view::npos && slash > 0 && slash + 1 < entry.size() &&
      std::none_of(entry.begin(), entry.end(), [](char c) { return c <= ' ' || c == ';' || lower(c) != c; });
  return good ? std::string()
              : "'" + std::string(entry) + "' is not a media type in lower case, for example text/html or image/*";
}

bool content_type_wanted(const Settings& settings, std::string_view type) {
  if (type.empty()) return true;
  const auto listed = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& entry) { return type_matches(entry, type); });
  };
  if (listed(settings.content_types_deny)) return false;
  return settings.content_types_allow.empty() || listed(settings.content_types_allow);
}

ScopeLists::ScopeLists(const Settings& settings)
    : result_pages_(settings.result_pages),
      url_deny_(compiled(settings.url_deny)),
      url_allow_(compiled(settings.url_allow)),
      surt_reject_(settings.surt_reject),
      surt_accept_(settings.surt_accept),
      endings_deny_(endings(settings.extensions_deny)),
      endings_allow_(endings(settings.extensions_allow)) {
  any_refuse_ = !url_deny_.empty() || !url_allow_.empty() || !surt_reject_.empty() || !endings_deny_.empty() ||
                !endings_allow_.empty();
}

ScopeLists::Hit ScopeLists::refused(const CanonicalUrl& url) const {
  if (!any_refuse_) return {};
  if (const std::string* const hit = surt_reject_.match(url)) return {"surt_reject", *hit};
  if (!endings_deny_.empty())
    if (const std::string* const hit = ending_in(endings_deny_, last_segment(url))) return {"extensions_deny", *hit};
  if (!endings_allow_.empty()) {
    const std::string_view segment = last_segment(url);
    if (segment.find('.') != std::string_view::npos && ending_in(endings_allow_, segment) == nullptr)
      return {"extensions_allow", {}};
  }
  if (const std::string* const hit = url_deny_.first_match(url.text())) return {"url_deny", *hit};
  if (!url_allow_.empty() && url_allow_.first_match(url.text()) == nullptr) return {"url_allow", {}};
  return {};
}

ScopeLists::Hit ScopeLists::accepted(const CanonicalUrl& url) const {
  if (const std::string* const hit = surt_accept_.match(url)) return {"surt_accept", *hit};
  return {};
}

}  // namespace orbweaver
