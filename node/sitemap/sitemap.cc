#include "node/sitemap/sitemap.h"

#include <algorithm>
#include <set>

#include "node/charset/charset.h"
#include "node/http/http_message.h"
#include "node/sitemap/sitemap_reader.h"

namespace orbweaver {
namespace {

// How many bytes are checked to recognise a sitemap.
constexpr std::size_t max_sniff_bytes = 4096;
// Nested layers: "sitemap.xml.gz" compressed once more by a server configured to do so.
constexpr int max_gzip_layers = 2;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() &&
         std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }
bool is_utf16(std::string_view bytes) { return bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE"); }
bool is_web_url(std::string_view text) {
  return starts_ignoring_case(text, "http://") || starts_ignoring_case(text, "https://");
}

void tell(Sitemap& sitemap, std::string_view what) {
  if (!sitemap.problem.empty()) sitemap.problem += "; ";
  sitemap.problem += what;
}

// The name of the first element, after what may precede it; empty when there is none in these bytes.
std::string_view root_name(std::string_view text) {
  text = trim_unicode(text);
  while (text.starts_with('<')) {
    std::string_view end = ">";
    if (text.starts_with("<?")) {
      end = "?>";
    } else if (text.starts_with("<!--")) {
      end = "-->";
    } else if (text.starts_with("<!")) {
      const std::size_t subset = text.substr(0, text.find('>')).find('[');
      if (subset != std::string_view::npos) end = "]>";
    } else {
      const std::size_t stop = text.find_first_of(" \t\r\n/>", 1);
      return stop == std::string_view::npos ? std::string_view() : text.substr(1, stop - 1);
    }
    const std::size_t stop = text.find(end);
    if (stop == std::string_view::npos) return {};
    text = trim_unicode(text.substr(stop + end.size()));
  }
  return {};
}

// Calls see(line) with each line that is not blank, until it returns false.
template <class See>
void each_line(std::string_view text, See see) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trim_unicode(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && !see(line)) return;
  }
}

bool all_lines_are_urls(std::string_view text, bool cut) {
  if (cut) text = text.substr(0, text.find_last_of("\r\n") + 1);  // npos + 1 is 0: no whole line
  std::size_t urls = 0;
  bool all = true;
  each_line(text, [&](std::string_view line) {
    all = (is_web_url(line) || starts_ignoring_case(line, "www.")) &&
          line.find_first_of(" \t<") == std::string_view::npos;
    ++urls;
    return all;
  });
  return all && urls > 0;
}

void read_text(std::string_view text, std::size_t max_entries, Sitemap& sitemap) {
  std::size_t other = 0;
  each_line(text, [&](std::string_view line) {
    const bool url = is_web_url(line) || starts_ignoring_case(line, "www.");
    if (!url || line.size() > max_url_bytes) {
      ++other;
      return true;
    }
    sitemap.cut = sitemap.cut || sitemap.entries.size() >= max_entries;
    if (sitemap.cut) return false;
    sitemap.entries.push_back({std::string(line), {}, {}, {}});
    return true;
  });
  if (sitemap.entries.empty()) return;
  sitemap.kind = SitemapKind::text;
  if (other > 0) tell(sitemap, std::to_string(other) + " lines are no URLs");
}

// The encoding that an XML declaration names (XML 1.0, 4.3.3) as a Content-Type; empty when it names none.
std::string declared_type(std::string_view bytes) {
  bytes = bytes.substr(0, 256);
  const std::size_t begin = bytes.find("<?xml");
  if (begin == std::string_view::npos) return {};
  const std::string_view declaration = bytes.substr(begin, bytes.find("?>", begin) - begin);
  std::size_t at = declaration.find("encoding");
  if (at == std::string_view::npos) return {};
  at = declaration.find_first_of("\"'", at);
  if (at == std::string_view::npos) return {};
  const std::size_t end = declaration.find(declaration[at], at + 1);
  if (end == std::string_view::npos) return {};
  const std::string_view label = declaration.substr(at + 1, end - at - 1);
  // A declaration that is readable as ASCII cannot be UTF-16, whatever it says.
  if (starts_ignoring_case(label, "utf-16") || label.find_first_of("\"'; \t") != std::string_view::npos) return {};
  return "text/xml; charset=" + std::string(label);
}

void read_decoded(std::string_view utf8, const SitemapLimits& limits, Sitemap& sitemap) {
  utf8 = trim_unicode(utf8);
  if (!utf8.starts_with('<')) {
    read_text(utf8, limits.max_entries, sitemap);
  } else {
    SitemapReader reader(sitemap, limits.max_entries);
    const XmlOutcome outcome = read_xml(utf8, reader);
    if (sitemap.kind != SitemapKind::unknown) {
      if (!outcome.stopped) reader.finish(outcome.well_formed || outcome.in_markup);
      if (outcome.mended) tell(sitemap, "it has a '&' that begins no reference, or characters that XML does not have");
      // Cut off by our own limit: the file is not at fault for ending in the middle.
      sitemap.damaged = sitemap.damaged || (!outcome.well_formed && !sitemap.cut);
    }
    if (!outcome.well_formed && !sitemap.cut) tell(sitemap, outcome.problem);
  }
  if (sitemap.cut)
    tell(sitemap, "longer than a sitemap may be (" + std::to_string(limits.max_entries) + " URLs, " +
                      std::to_string(limits.max_bytes >> 20) + " MiB): the rest is not read");
  if (sitemap.kind == SitemapKind::unknown) tell(sitemap, "neither a sitemap nor a feed");
}

// Makes http://www.example.com/ of "www.example.com/", which lacks its scheme.
std::string with_scheme(const std::string& text) {
  return starts_ignoring_case(text, "www.") ? "http://" + text : text;
}

void resolve(const std::string& text, const Url& base, const Canonicaliser& rules, std::set<ring::Md5>& known,
             SitemapUrls& out) {
  const Result<Url> url = Url::parse(with_scheme(text), &base);
  if (!url || !url->is_http()) {
    ++out.skipped;
    return;
  }
  Result<CanonicalUrl> canonical = rules.from(*url);
  if (!canonical) {
    ++out.skipped;
  } else if (known.insert(canonical->digest()).second) {
    out.urls.push_back(std::move(*canonical));
  }
}

}  // namespace

std::string_view sitemap_kind_name(SitemapKind kind) {
  switch (kind) {
    case SitemapKind::urlset:
      return "urlset";
    case SitemapKind::index:
      return "index";
    case SitemapKind::text:
      return "text";
    case SitemapKind::rss:
      return "rss";
    case SitemapKind::atom:
      return "atom";
    case SitemapKind::unknown:
      break;
  }
  return "unknown";
}

Sitemap read_sitemap(std::string_view body, std::string_view content_type, const SitemapLimits& limits) {
  Sitemap sitemap;
  std::string unpacked;
  for (int layer = 0; layer < max_gzip_layers && is_gzip(body); ++layer) {
    Decoded decoded = decode_content(body, "gzip", limits.max_bytes);
    sitemap.cut = sitemap.cut || decoded.cut;
    sitemap.damaged = sitemap.damaged || decoded.damaged;
    if (decoded.damaged) tell(sitemap, decoded.problem);
    unpacked = std::move(decoded.bytes);
    body = unpacked;
  }
  if (body.size() > limits.max_bytes) {
    body = body.substr(0, limits.max_bytes);
    sitemap.cut = true;
  }
  // Junk before the document is accepted, so the byte order mark may come late.
  const std::string_view bytes = is_utf16(body) ? body : trim_unicode(body);
  std::string type(content_type);
  if (type.find("charset") == std::string::npos)
    if (std::string declared = declared_type(bytes); !declared.empty()) type = std::move(declared);
  DecodedText text;
  decode_html(bytes, type, text);
  read_decoded(text.utf8, limits, sitemap);
  return sitemap;
}

bool looks_like_sitemap(std::string_view body, std::string_view content_type) {
  std::string unpacked;
  bool cut = body.size() > max_sniff_bytes;
  if (is_gzip(body)) {
    Decoded decoded = decode_content(body, "gzip", max_sniff_bytes);
    cut = decoded.cut || decoded.damaged;
    unpacked = std::move(decoded.bytes);
    body = unpacked;
  }
  const bool packed = !unpacked.empty();
  DecodedText text;
  if (is_utf16(body)) {
    decode_html(body.substr(0, max_sniff_bytes), {}, text);
    body = text.utf8;
  }
  body = trim_unicode(body.substr(0, max_sniff_bytes));
  if (body.starts_with('<')) return kind_of_root(root_name(body)) != SitemapKind::unknown;
  return (packed || media_type(std::string(content_type)) == "text/plain") && all_lines_are_urls(body, cut);
}

bool may_be_sitemap(std::string_view media_type) {
  const auto has = [&](std::string_view part) { return media_type.find(part) != std::string_view::npos; };
  if (media_type.empty() || media_type == "text/plain" || media_type == "text/html") return true;
  return has("xml") || has("zip") || has("rss") || has("atom") || has("octet-stream");
}

SitemapUrls resolve_entries(const Sitemap& sitemap, const Url& location, const Canonicaliser& rules,
                            std::uint64_t max_bytes) {
  SitemapUrls out;
  std::set<ring::Md5> known;
  std::uint64_t bytes = 0;
  for (const SitemapEntry& entry : sitemap.entries) {
    const std::size_t before = out.urls.size();
    resolve(entry.url, location, rules, known, out);
    if (out.urls.size() == before) continue;
    bytes += out.urls.back().text().size();
    if (bytes > max_bytes) {
      out.urls.pop_back();
      out.over_budget = static_cast<std::uint32_t>(sitemap.entries.data() + sitemap.entries.size() - &entry);
      break;
    }
    out.lastmods.push_back(entry.lastmod.value_or(Time{}));
  }
  return out;
}

SitemapUrls resolve_sitemap_lines(const std::vector<std::string>& lines, const Url& robots_txt,
                                  const Canonicaliser& rules) {
  SitemapUrls out;
  std::set<ring::Md5> known;
  for (const std::string& line : lines) resolve(line, robots_txt, rules, known, out);
  return out;
}

}  // namespace orbweaver
