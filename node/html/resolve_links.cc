// A page's links as URLs: resolved, canonical, each once.
#include <cstring>
#include <unordered_set>

#include "node/html/links.h"

namespace orbweaver {
namespace {

struct DigestHash {
  std::size_t operator()(const ring::Md5& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
  }
};

// What decides which URL a link is: all of it, or what comes before its fragment. The parser drops spaces at the end of
// a link, but not before a fragment (URL standard 4.4), and refuses a link that is too long with its fragment.
std::string_view without_fragment(std::string_view href) {
  const std::size_t end = href.find('#');
  if (end == std::string_view::npos || href.size() > max_url_input_bytes) return href;
  const bool spaced = end > 0 && static_cast<unsigned char>(href[end - 1]) <= ' ';
  return spaced ? href : href.substr(0, end);
}

}  // namespace

Url document_base(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder) {
  if (!page.base) return document;
  Result<Url> base = Url::parse(*page.base, &document, query_encoder);
  if (!base || base->scheme() == "data" || base->scheme() == "javascript") return document;
  return *std::move(base);
}

ResolvedLinks resolve_links(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder,
                            const LinkRules& rules) {
  ResolvedLinks out;
  const Url base = document_base(page, document, query_encoder);
  // As written: pages often repeat a link, or link to many parts of one page, and parsing costs more than this look-up.
  std::unordered_set<std::string_view> hrefs;
  std::unordered_set<std::string_view> requisite_hrefs;
  std::unordered_set<ring::Md5, DigestHash> digests;
  std::unordered_set<ring::Md5, DigestHash> requisite_digests;
  hrefs.reserve(page.links.size());
  digests.reserve(page.links.size());
  out.urls.reserve(page.links.size());
  std::uint64_t bytes = 0;
  out.over_budget = page.over_budget;
  for (const PageLink& link : page.links) {
    const LinkGroup group = group_of(link.kind);
    const bool requisite = rules.requisites && (group == LinkGroup::resources || group == LinkGroup::styles);
    if (!requisite && group != LinkGroup::navigation && !rules.follow.has(group)) continue;
    if (!requisite && (link.nofollow || page.meta_nofollow)) {
      ++out.nofollow;
      continue;
    }
    if (out.over_budget > page.over_budget) {
      ++out.over_budget;
      continue;
    }
    const std::string_view href = rules.canonicaliser.keeps_fragments() ? link.href : without_fragment(link.href);
    if (!link.from_header && !(requisite ? requisite_hrefs : hrefs).insert(href).second) continue;
    // A header's URLs are not part of the document, so neither its base nor its charset applies.
    const Result<Url> url =
        link.from_header ? Url::parse(link.href, &document) : Url::parse(link.href, &base, query_encoder);
    if (!url) {
      ++out.malformed;
      continue;
    }
    if (!url->is_http()) {
      ++out.skipped_scheme;
      continue;
    }
    Result<CanonicalUrl> canonical = rules.canonicaliser.from(*url);
    if (!canonical) {
      ++out.malformed;
    } else if ((requisite ? requisite_digests : digests).insert(canonical->digest()).second) {
      bytes += canonical->text().size();
      if (bytes > rules.max_bytes) {
        ++out.over_budget;
      } else {
        (requisite ? out.requisites : out.urls).push_back(*std::move(canonical));
      }
    }
  }
  return out;
}

}  // namespace orbweaver
