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
  // As written: pages often repeat a link, and parsing is more expensive than this look-up.
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
    if (!link.from_header && !(requisite ? requisite_hrefs : hrefs).insert(link.href).second) continue;
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
