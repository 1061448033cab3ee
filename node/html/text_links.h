// URLs in what is no markup: plain text, scripts, JSON-LD. All but the last are guesses, made by choice only
// (extra_links). Pure functions, linear in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orbweaver::html {

// Longer ones are no URLs that anybody wrote.
inline constexpr std::size_t text_url_bytes_max = 2048;

// "http://…" and "https://…" in plain text, up to white space, '<', '>', '"' or a character that no URL holds; without
// the punctuation that ends a sentence, and without a ')' or ']' that was opened before the URL (RFC 3986, appendix C).
std::vector<std::string> plain_text_urls(std::string_view text);

// String literals of a script that look like URLs: absolute http(s) ones; "//host.tld/…"; "/path" and "./path",
// "../path" of two characters or more; names that end as pages do ("a/b.html"). JavaScript's escapes are decoded.
std::vector<std::string> script_urls(std::string_view script);

// Absolute http(s) URLs among the strings of a JSON document, but for "@context" and "@type", which are names; and any
// string under a key that holds a URL by JSON-LD or schema.org: "@id", "url", "sameAs", "contentUrl", "embedUrl",
// "thumbnailUrl", "logo", "image", "mainEntityOfPage", "item". Of a broken document, those before the fault.
std::vector<std::string> json_ld_urls(std::string_view json);

}  // namespace orbweaver::html
