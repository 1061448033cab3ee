#include "node/sitemap/sitemap_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "node/text/web_date.h"

namespace orbweaver {
namespace {

// How much of one element's text is kept: a URL longer than max_url_bytes is refused anyway.
constexpr std::size_t max_field_bytes = 2 * max_url_bytes;
// Declarations kept at a time, and their length: the relevant ones are few and short, and each element looks some up.
constexpr std::size_t max_namespaces = 64;
constexpr std::size_t max_namespace_bytes = 256;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view prefix_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

std::string_view local_of(std::string_view name) { return name.substr(name.find(':') + 1); }  // npos + 1 is 0

std::string_view attribute(const XmlHandler::Attributes& attributes, std::string_view name) {
  for (const auto& [key, value] : attributes)
    if (same(key, name)) return value;
  return {};
}

void append(std::string& to, std::string_view text) {
  to.append(text.substr(0, max_field_bytes - std::min(max_field_bytes, to.size())));
}

bool is_web_url(std::string_view text) {
  return text.size() > 8 && (same(text.substr(0, 7), "http://") || same(text.substr(0, 8), "https://"));
}

// RSS 0.90, 1.0 and 1.1; and the namespaces that some feeds give RSS 2.0, though it has none.
bool is_rss_namespace(std::string_view uri) {
  constexpr std::array<std::string_view, 7> known = {"http://my.netscape.com/rdf/simple/0.9/",
                                                     "http://channel.netscape.com/rdf/simple/0.9/",
                                                     "http://purl.org/rss/1.0/",
                                                     "http://purl.org/net/rss1.1#",
                                                     "http://backend.userland.com/rss",
                                                     "http://backend.userland.com/rss2",
                                                     "http://blogs.law.harvard.edu/tech/rss"};
  return std::any_of(known.begin(), known.end(), [&](std::string_view one) { return same(one, uri); });
}

std::optional<Time> any_date(std::string_view text) {
  const std::optional<Time> date = parse_w3c_date(text);
  return date ? date : parse_mail_date(text);
}

}  // namespace

std::string_view trim_unicode(std::string_view text) {
  // ASCII's, U+0085, U+00A0, U+1680, U+2000-U+200D, U+2028, U+2029, U+202F, U+205F, U+2060, U+3000, U+FEFF.
  const auto length_at_start = [](std::string_view t) -> std::size_t {
    const auto c = static_cast<unsigned char>(t[0]);
    if (c == ' ' || (c >= 9 && c <= 13)) return 1;
    if (t.starts_with("\xC2\x85") || t.starts_with("\xC2\xA0")) return 2;
    if (t.size() < 3) return 0;
    const auto third = static_cast<unsigned char>(t[2]);
    if (t.starts_with("\xE2\x80"))
      return (third >= 0x80 && third <= 0x8D) || third == 0xA8 || third == 0xA9 || third == 0xAF ? 3 : 0;
    if (t.starts_with("\xE2\x81")) return third == 0x9F || third == 0xA0 ? 3 : 0;
    return t.starts_with("\xE1\x9A\x80") || t.starts_with("\xE3\x80\x80") || t.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  };
  while (!text.empty()) {
    const std::size_t length = length_at_start(text);
    if (length == 0) break;
    text.remove_prefix(length);
  }
  while (!text.empty()) {
    std::size_t length = 0;
    for (std::size_t n = 1; n <= 3 && n <= text.size() && length == 0; ++n)
      if (length_at_start(text.substr(text.size() - n)) == n) length = n;
    if (length == 0) break;
    text.remove_suffix(length);
  }
  return text;
}

SitemapKind kind_of_root(std::string_view name) {
  const std::string_view local = local_of(name);
  if (same(local, "urlset")) return SitemapKind::urlset;
  if (same(local, "sitemapindex")) return SitemapKind::index;
  if (same(local, "rss") || local == "RDF") return SitemapKind::rss;
  if (same(local, "feed")) return SitemapKind::atom;
  return SitemapKind::unknown;
}

bool SitemapReader::is_entry(std::string_view prefix, std::string_view local) const {
  switch (sitemap_.kind) {
    case SitemapKind::urlset:
    case SitemapKind::index:
      return depth_ == 2 && is_own(prefix) && (same(local, "url") || same(local, "sitemap"));
    case SitemapKind::rss:
      return is_own(prefix) && same(local, "item");
    case SitemapKind::atom:
      return is_own(prefix) && same(local, "entry");
    case SitemapKind::text:
    case SitemapKind::unknown:
      break;
  }
  return false;
}

void SitemapReader::take_namespaces(const Attributes& attributes) {
  for (const auto& [name, uri] : attributes) {
    if (namespaces_.size() >= max_namespaces || uri.size() > max_namespace_bytes) continue;
    if (name == "xmlns") namespaces_.push_back({depth_, std::string(), std::string(uri)});
    if (name.starts_with("xmlns:")) namespaces_.push_back({depth_, std::string(name.substr(6)), std::string(uri)});
  }
}

std::string_view SitemapReader::namespace_of(std::string_view prefix) const {
  const auto found = std::find_if(namespaces_.rbegin(), namespaces_.rend(),
                                  [&](const Namespace& declared) { return declared.prefix == prefix; });
  return found == namespaces_.rend() ? std::string_view() : std::string_view(found->uri);
}

// By namespace where the prefixes distinguish several;
// files with wrong or missing declarations are read by their prefixes.
bool SitemapReader::is_own(std::string_view prefix) const {
  const std::string_view uri = namespace_of(prefix);
  if (sitemap_.kind != SitemapKind::rss)
    return prefix == root_prefix_ || (!uri.empty() && uri == namespace_of(root_prefix_));
  if (is_rss_namespace(uri)) return true;
  const auto is_rss = [](const Namespace& declared) {
    return !declared.prefix.empty() && is_rss_namespace(declared.uri);
  };
  if (!prefix.empty()) return false;
  return uri.empty() || std::none_of(namespaces_.begin(), namespaces_.end(), is_rss);
}

SitemapReader::Field SitemapReader::field_of(std::string_view prefix, std::string_view local,
                                             const Attributes& attributes) {
  if (sitemap_.kind == SitemapKind::rss) {
    const bool dublin_core = prefix == "dc" || namespace_of(prefix) == "http://purl.org/dc/elements/1.1/";
    if (dublin_core && same(local, "date")) return Field::other_date;
    if (!is_own(prefix)) return Field::none;
    if (same(local, "link")) return Field::url;
    // It counts when it is a URL, there is no <link>, and it does not declare that it is not an address (RSS 2.0).
    if (same(local, "guid")) return same(attribute(attributes, "isPermaLink"), "false") ? Field::none : Field::guid;
    return same(local, "pubDate") ? Field::date : Field::none;
  }
  if (!is_own(prefix)) return Field::none;
  if (sitemap_.kind == SitemapKind::atom) {
    if (same(local, "link") && entry_.url.empty()) {
      const std::string_view rel = attribute(attributes, "rel");
      if (rel.empty() || same(rel, "alternate")) entry_.url = trim_unicode(attribute(attributes, "href"));
    }
    if (same(local, "updated") || same(local, "modified")) return Field::date;
    return same(local, "published") ? Field::other_date : Field::none;
  }
  if (same(local, "loc")) return Field::url;
  if (same(local, "lastmod")) return Field::date;
  if (same(local, "changefreq")) return Field::change_frequency;
  return same(local, "priority") ? Field::priority : Field::none;
}

bool SitemapReader::start_element(std::string_view name, const Attributes& attributes) {
  const std::string_view prefix = prefix_of(name);
  const std::string_view local = local_of(name);
  ++depth_;
  take_namespaces(attributes);
  if (depth_ == 1) {
    sitemap_.kind = kind_of_root(name);
    root_prefix_ = prefix;
    return sitemap_.kind != SitemapKind::unknown;
  }
  if (entry_depth_ == 0) {
    if (is_entry(prefix, local)) entry_depth_ = depth_;
    return true;
  }
  // The content of a field belongs to it: some files have <loc><url>http://…</url></loc>.
  if (field_ != Field::none) return true;
  if (feed() && depth_ != entry_depth_ + 1) return true;
  field_ = field_of(prefix, local, attributes);
  if (field_ == Field::none) return true;
  field_depth_ = depth_;
  text_.clear();
  // Another address begins another entry: its <url> or <sitemap> is missing.
  if (field_ == Field::url && !feed()) {
    if (loc_seen_ && !flush()) return false;
    loc_seen_ = true;
  }
  return true;
}

void SitemapReader::text(std::string_view text) {
  if (field_ != Field::none) {
    append(text_, text);
  } else if (entry_depth_ != 0 && depth_ == entry_depth_ && !loc_seen_ && !feed()) {
    append(loose_, text);
  }
}

void SitemapReader::take_field() {
  constexpr std::array<std::string_view, 7> frequencies{"always",  "hourly", "daily", "weekly",
                                                        "monthly", "yearly", "never"};
  const std::string_view value = trim_unicode(text_);
  switch (std::exchange(field_, Field::none)) {
    case Field::url:
      if (entry_.url.empty()) entry_.url = value;
      break;
    case Field::guid:
      if (is_web_url(value)) guid_ = value;
      break;
    case Field::date:
      if (const auto date = any_date(value)) entry_.lastmod = date;
      break;
    case Field::other_date:
      if (!entry_.lastmod) entry_.lastmod = any_date(value);
      break;
    case Field::change_frequency:
      for (const std::string_view frequency : frequencies)
        if (same(value, frequency)) entry_.change_frequency = frequency;
      break;
    case Field::priority: {
      double priority = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), priority);
      if (error == std::errc() && end == value.data() + value.size() && priority >= 0 && priority <= 1)
        entry_.priority = priority;
      break;
    }
    case Field::none:
      break;
  }
}

// Adds the current entry. False: there is no room for another.
bool SitemapReader::flush() {
  SitemapEntry entry = std::exchange(entry_, {});
  const std::string guid = std::exchange(guid_, {});
  const std::string loose = std::exchange(loose_, {});
  const bool loc_seen = std::exchange(loc_seen_, false);
  if (entry.url.empty() && sitemap_.kind == SitemapKind::rss) entry.url = guid;
  // An address directly in its <sitemap>, without a <loc>.
  if (entry.url.empty() && !loc_seen && is_web_url(trim_unicode(loose))) entry.url = trim_unicode(loose);
  if (entry.url.empty() || entry.url.size() > max_url_bytes) return true;
  if (sitemap_.entries.size() >= max_entries_) {
    sitemap_.cut = true;
    return false;
  }
  sitemap_.entries.push_back(std::move(entry));
  return true;
}

bool SitemapReader::end_element(std::string_view) {
  bool go_on = true;
  if (field_ != Field::none && depth_ == field_depth_) take_field();
  if (entry_depth_ != 0 && depth_ == entry_depth_) {
    go_on = flush();
    entry_depth_ = 0;
  }
  while (!namespaces_.empty() && namespaces_.back().depth == depth_) namespaces_.pop_back();
  --depth_;
  return go_on;
}

void SitemapReader::finish(bool whole_text) {
  if (entry_depth_ == 0) return;
  if (field_ != Field::none && whole_text) take_field();
  field_ = Field::none;
  if (!whole_text) loose_.clear();
  flush();
}

}  // namespace orbweaver
