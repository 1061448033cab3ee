// URLs in texts without markup: plain text, scripts, JSON-LD. All but the last are guesses, and made only if chosen
// (extra_links). Pure functions, linear in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orbweaver::html {

// A longer string is not a URL that a person wrote.
inline constexpr std::size_t max_text_url_bytes = 2048;

// "http://…" and "https://…" in plain text, up to white space, '<', '>', '"' or a character that no URL contains.
// Without punctuation that ends a sentence, or a ')' or ']' opened before the URL (RFC 3986, appendix C).
std::vector<std::string> plain_text_urls(std::string_view text);

// String literals of a script that look like URLs: absolute http(s) ones; "//host.tld/…"; "/path", "./path" and
// "../path" of two characters or more; names that end like pages ("a/b.html"). JavaScript's escapes are decoded.
std::vector<std::string> script_urls(std::string_view script);

// Absolute http(s) URLs among the strings of a JSON document, except those of "@context" and "@type", which are names.
// Also strings under keys with URLs by JSON-LD or schema.org: "@id", "url", "sameAs", "contentUrl", "embedUrl",
// "thumbnailUrl", "logo", "image", "mainEntityOfPage", "item". In a broken document, those before the fault.
std::vector<std::string> json_ld_urls(std::string_view json);

}  // namespace orbweaver::html
