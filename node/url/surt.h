// SURT, the Sort-friendly URI Reordering Transform of web archives: the host's labels reversed, so that a domain's URLs
// sort together. Thread rule: free functions.
#pragma once

#include <string>

#include "node/url/canonical_url.h"

namespace orbweaver {

// "com,example,www:8080)/path?query" of "http://www.example.com:8080/path?query": scheme dropped, port only where the
// URL has one, IP addresses not reversed. Lossless except for the scheme.
std::string surt(const CanonicalUrl& url);

// The key by which CDX and CDXJ tools find URLs (CDXJ 0.1.0, "Searchable URL"): the SURT in the Internet Archive's
// canonical form, byte for byte as the tools' common library (surt 0.3.1) makes it. It deliberately maps many URLs to
// one: lower case, escapes undone and redone, "www." and "www12." dropped, "//" in a path made "/", a path's last '/'
// dropped, session ids dropped, parameters sorted. IPv4 addresses are reversed, IPv6 ones lose their brackets.
std::string cdx_key(const CanonicalUrl& url);

}  // namespace orbweaver
