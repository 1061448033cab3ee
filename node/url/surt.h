// SURT, the Sort-friendly URI Reordering Transform of web archives: the host's labels reversed, so that a domain's URLs
// sort together. Thread rule: free functions.
#pragma once

#include <string>

#include "node/url/canonical_url.h"

namespace orbweaver {

// "com,example,www:8080)/path?query" of "http://www.example.com:8080/path?query": scheme dropped, port only where the
// URL has one, IP addresses not reversed. Lossless but for the scheme.
std::string surt(const CanonicalUrl& url);

// The key that CDX and CDXJ tools look URLs up by: the SURT in the Internet Archive's canonical form, which maps many
// URLs to one on purpose. Lower case; "www." and "www12." dropped; session ids dropped; parameters sorted; a path's
// last '/' dropped.
std::string cdx_key(const CanonicalUrl& url);

}  // namespace orbweaver
