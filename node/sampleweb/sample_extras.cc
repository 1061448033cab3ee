#include "node/sampleweb/sample_extras.h"

#include <array>
#include <charconv>

#include "node/sampleweb/sample_page.h"
#include "node/sampleweb/sample_random.h"
#include "node/sampleweb/sample_text.h"

namespace orbweaver::sample {

namespace {

constexpr unsigned chain_length = 5;
constexpr std::string_view html_type = "text/html; charset=utf-8";

struct Redirect {
  std::string_view path;
  int status;
};
constexpr std::array<Redirect, 6> plain_redirects{{{"/moved/relative", 301},
                                                   {"/moved/absolute", 302},
                                                   {"/moved/see", 303},
                                                   {"/moved/kept", 307},
                                                   {"/moved/for-good", 308},
                                                   {"/moved/elsewhere", 302}}};

struct Busy {
  std::string_view path;
  std::string_view after;
  int status;
};
constexpr std::array<Busy, 3> busy_pages{{{"/busy/error.html", "/busy/after-error.html", 500},
                                          {"/busy/unavailable.html", "/busy/after-unavailable.html", 503},
                                          {"/busy/too-many.html", "/busy/after-too-many.html", 429}}};

// One page for each legacy encoding, declared in the header or in a meta element, with a word as a query and as a path.
// The URL standard percent-encodes a query in the page's encoding and a path in UTF-8.
struct Legacy {
  std::string_view path;
  Encoding encoding;
  bool in_header;
  std::string_view bytes;
  std::string_view query;
  std::string_view utf8;
};
constexpr std::array<Legacy, 6> legacy_pages{{
    {"/legacy/windows-1251-header.html", Encoding::windows_1251, true, "\xef\xe0\xf3\xea", "%EF%E0%F3%EA",
     "%D0%BF%D0%B0%D1%83%D0%BA"},
    {"/legacy/windows-1251-meta.html", Encoding::windows_1251, false, "\xed\xe8\xf2\xfc", "%ED%E8%F2%FC",
     "%D0%BD%D0%B8%D1%82%D1%8C"},
    {"/legacy/shift-jis-header.html", Encoding::shift_jis, true, "\x82\xad\x82\xe0", "%82%AD%82%E0",
     "%E3%81%8F%E3%82%82"},
    {"/legacy/shift-jis-meta.html", Encoding::shift_jis, false, "\x82\xa2\x82\xc6", "%82%A2%82%C6",
     "%E3%81%84%E3%81%A8"},
    {"/legacy/iso-8859-1-header.html", Encoding::iso_8859_1, true,
     "F\xe4"
     "den",
     "F%E4den", "F%C3%A4den"},
    {"/legacy/iso-8859-1-meta.html", Encoding::iso_8859_1, false,
     "Gr\xf6\xdf"
     "e",
     "Gr%F6%DFe", "Gr%C3%B6%C3%9Fe"},
}};

// A 1 x 1 PNG.
constexpr std::string_view png(
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9c"
    "c`\0\0\0\2\0\1H\xaf\xa4q\0\0\0\0IEND\xae"
    "B`\x82",
    67);

SampleAnswer html_answer(std::string body, int status = 200) {
  SampleAnswer out;
  out.status = status;
  out.content_type = html_type;
  out.body = std::move(body);
  return out;
}

SampleAnswer redirect_answer(int status, std::string location) {
  SampleAnswer out = html_answer("<!DOCTYPE html><title>Moved</title><p>Moved.", status);
  out.headers.emplace_back("Location", std::move(location));
  return out;
}

std::string drawn_page(const SampleWeb& web, unsigned host, std::string_view path) {
  const auto page = static_cast<unsigned>(mix(web.shape().seed, path) % web.pages(host));
  return web.page_path(host, page);
}

void add_redirects(const SampleWeb& web, unsigned host, std::vector<Extra>& out) {
  const auto linked = [&](std::string_view path) { out.push_back({web.url(host, path), std::string(path)}); };
  const auto hidden = [&](std::string_view path) { out.push_back({web.url(host, path), ""}); };
  for (const Redirect& redirect : plain_redirects) linked(redirect.path);
  linked("/moved/chain-" + std::to_string(chain_length));
  for (unsigned i = 0; i < chain_length; ++i) hidden("/moved/chain-" + std::to_string(i));
  linked("/moved/loop-a");
  hidden("/moved/loop-b");
  linked("/moved/self");
  linked("/moved/into-private");
  linked("/moved/only-way");
  hidden("/moved/arrived.html");
  linked("/moved/refresh.html");
  hidden("/moved/refreshed.html");
}

std::optional<SampleAnswer> redirect_of(const SampleWeb& web, unsigned host, std::string_view path) {
  for (const Redirect& redirect : plain_redirects) {
    if (path != redirect.path) continue;
    const unsigned other = (host + 1) % web.hosts();
    if (path == "/moved/elsewhere")
      return redirect_answer(redirect.status, web.url(other, drawn_page(web, other, path)));
    const std::string page = drawn_page(web, host, path);
    if (path == "/moved/relative") return redirect_answer(redirect.status, ".." + page);
    if (path == "/moved/absolute") return redirect_answer(redirect.status, web.url(host, page));
    return redirect_answer(redirect.status, page);
  }
  constexpr std::string_view chain = "/moved/chain-";
  if (path.starts_with(chain) && path.size() == chain.size() + 1) {
    const int step = path.back() - '0';
    if (step < 0 || step > static_cast<int>(chain_length)) return std::nullopt;
    if (step == 0) return redirect_answer(302, drawn_page(web, host, path));
    return redirect_answer(step % 2 == 0 ? 301 : 302, "chain-" + std::to_string(step - 1));
  }
  if (path == "/moved/loop-a") return redirect_answer(302, "/moved/loop-b");
  if (path == "/moved/loop-b") return redirect_answer(302, "/moved/loop-a");
  if (path == "/moved/self") return redirect_answer(301, "/moved/self");
  if (path == "/moved/into-private") {
    return redirect_answer(302, web.url(web.host_with(Feature::forbidden), "/private/secret-1.html"));
  }
  if (path == "/moved/only-way") return redirect_answer(301, "arrived.html");
  if (path == "/moved/arrived.html") return html_answer(small_html("Arrived", {"/"}));
  if (path == "/moved/refresh.html") {
    return html_answer(
        "<!DOCTYPE html><html><head><meta http-equiv=\"Refresh\" content=\"0; URL='refreshed.html'\">"
        "<title>Wait</title></head><body></body></html>");
  }
  if (path == "/moved/refreshed.html") return html_answer(small_html("Refreshed", {"/"}));
  return std::nullopt;
}

void add_spellings(const SampleWeb& web, unsigned host, std::vector<Extra>& out) {
  const std::string path = "/spell/~user/page.html";
  const std::string target = web.url(host, path);
  const std::string port = std::to_string(web.shape().port);
  std::string shouted = web.host_name(host);
  for (char& c : shouted) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  for (const std::string& spelling :
       {path, "HTTP://" + shouted + ":" + port + path, "http://" + web.host_name(host) + ":0" + port + path,
        std::string("/spell/%7Euser/page.html"), std::string("/spell/%7euser/page.html#top"),
        std::string("/spell/./~user/../~user/page.html"), std::string("/spell/%2e/~user/x/%2E%2e/page.html"),
        std::string("/spell\\~user\\page.html"), std::string("/spell/~us\ner/page.html"),
        std::string("  /spell/~user/page.html\t"), std::string("/../../spell/~user/p%61ge.html"),
        std::string("/spell/~user/page.html?")}) {
    out.push_back({target, spelling});
  }
}

SampleAnswer calendar_month(std::string_view path) {
  constexpr std::string_view prefix = "/calendar/";
  unsigned month = 0;  // months since the year 0
  const std::string_view number = path.substr(prefix.size());
  if (std::from_chars(number.data(), number.data() + number.size(), month).ec != std::errc{}) month = 0;
  const auto link = [&](unsigned to) { return std::string(prefix) + std::to_string(to); };
  return html_answer(
      small_html("Month " + std::to_string(month), {link(month + 1), link(month - 1), link(month + 12)}));
}

std::optional<SampleAnswer> legacy_answer(std::string_view path) {
  for (const Legacy& page : legacy_pages) {
    if (path != page.path) continue;
    SampleAnswer out;
    out.content_type = "text/html";
    if (page.in_header) out.content_type.append("; charset=").append(encoding_label(page.encoding));
    out.body = "<!DOCTYPE html><html><head>";
    if (!page.in_header) out.body.append("<meta charset=\"").append(encoding_label(page.encoding)).append("\">");
    out.body.append("<title>").append(page.bytes).append("</title></head><body><p><a href=\"/legacy/find?q=");
    out.body.append(page.bytes).append("\">query</a> <a href=\"/legacy/").append(page.bytes);
    out.body.append("\">path</a></p></body></html>\n");
    return out;
  }
  if (path.starts_with("/legacy/")) return html_answer(small_html("Found", {"/"}));
  return std::nullopt;
}

std::optional<SampleAnswer> file_answer(std::string_view path) {
  SampleAnswer out;
  if (path == "/files/notes.txt") {
    out.content_type = "text/plain; charset=utf-8";
    out.body = "Plain text. <a href=\"/fake/plain-text\">This is no link.</a>\n";
  } else if (path == "/files/logo.png" || path.starts_with("/img/")) {
    out.content_type = "image/png";
    out.body = png;
  } else if (path == "/files/paper.pdf") {
    out.content_type = "application/pdf";
    out.body = "%PDF-1.4\n% <a href=\"/fake/pdf\">no link</a>\n%%EOF\n";
  } else if (path == "/files/empty.html") {
    out.content_type = html_type;
  } else if (path == "/static/site.css" || path == "/static/site.js") {
    out.content_type = path.ends_with("css") ? "text/css" : "text/javascript";
    out.body = "/* <a href=\"/fake/static\"> */\n";
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<SampleAnswer> busy_answer(std::string_view path, std::uint64_t times_asked) {
  for (const Busy& busy : busy_pages) {
    if (path == busy.after) return html_answer(small_html("After all", {"/"}));
    if (path != busy.path) continue;
    if (times_asked > 0) return html_answer(small_html("Back again", {std::string(busy.after)}));
    SampleAnswer out = html_answer("<!DOCTYPE html><title>Not now</title>", busy.status);
    if (busy.status != 500) out.headers.emplace_back("Retry-After", "1");
    return out;
  }
  return std::nullopt;
}

std::string sitemap_xml(const SampleWeb& web, unsigned host) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out.append("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
  for (unsigned page = 0; page < web.pages(host) && page < 10; ++page) {
    out.append("<url><loc>");
    append_attribute(out, web.url(host, web.page_path(host, page)));
    out.append("</loc></url>\n");
  }
  return out.append("</urlset>\n");
}

}  // namespace

std::string robots_txt(const SampleWeb& web, unsigned host) {
  const bool rules =
      web.has(host, Feature::forbidden) || web.has(host, Feature::trap) || web.has(host, Feature::crawl_delay);
  if (!rules && host % 3 == 0) return "";
  std::string out =
      "# robots.txt of " + web.host_name(host) + "\nUser-agent: greedybot\nDisallow: /\n\nUser-agent: *\n";
  if (web.has(host, Feature::forbidden)) out.append("Disallow: /private/   # keep out\nAllow: /private/open/\n");
  if (web.has(host, Feature::trap)) {
    out.append("Disallow: /trap/\n");
    if (web.shape().forbidden_trap) out.append("Disallow: /calendar/\n");
  }
  if (web.has(host, Feature::crawl_delay)) out.append("Crawl-delay: 1\n");
  if (!rules) out.append("Disallow:\n");
  if (web.has(host, Feature::forbidden)) out.append("\nSitemap: ").append(web.url(host, "/sitemap.xml")).append("\n");
  return out;
}

std::vector<Extra> extras_of(const SampleWeb& web, unsigned host) {
  std::vector<Extra> out;
  if (web.shape().calm) return out;
  const auto linked = [&](std::string_view path, bool fetched = true) {
    out.push_back({web.url(host, path), std::string(path), fetched});
  };
  if (web.has(host, Feature::redirects)) add_redirects(web, host, out);
  if (web.has(host, Feature::errors)) {
    for (const auto path : {"/gone/missing.html", "/gone/removed.html", "/gone/closed.html"}) linked(path);
  }
  if (web.has(host, Feature::healing)) {
    for (const Busy& busy : busy_pages) {
      out.push_back({web.url(host, busy.path), std::string(busy.path), true, true});
      out.push_back({web.url(host, busy.after), ""});
    }
  }
  if (web.has(host, Feature::files)) {
    for (const auto path : {"/files/notes.txt", "/files/logo.png", "/files/paper.pdf", "/files/empty.html"})
      linked(path);
  }
  if (web.has(host, Feature::spellings)) add_spellings(web, host, out);
  if (web.has(host, Feature::forbidden)) {
    for (const auto path : {"/private/secret-1.html", "/private/secret-2.html", "/%70rivate/secret-3.html"}) {
      linked(path, false);
    }
    linked("/private/open/read.html");
    linked("/sitemap.xml");  // its robots.txt names it too
  }
  if (web.has(host, Feature::trap)) {
    linked("/trap/door.html", false);
    if (web.shape().open_trap) linked("/calendar/24312", !web.shape().forbidden_trap);
  }
  if (web.has(host, Feature::legacy)) {
    for (const Legacy& page : legacy_pages) {
      linked(page.path);
      out.push_back({web.url(host, "/legacy/find?q=" + std::string(page.query)), ""});
      out.push_back({web.url(host, "/legacy/" + std::string(page.utf8)), ""});
    }
  }
  return out;
}

std::optional<SampleAnswer> extra_answer(const SampleWeb& web, unsigned host, std::string_view path_and_query,
                                         std::uint64_t times_asked) {
  const std::string_view path = path_and_query;
  if (path == "/robots.txt") {
    SampleAnswer out;
    out.body = robots_txt(web, host);
    out.content_type = "text/plain";
    if (out.body.empty()) out.status = 404;
    return out;
  }
  if (auto file = file_answer(path)) return file;
  if (web.shape().calm) return std::nullopt;
  if (path == "/sitemap.xml" && web.has(host, Feature::forbidden)) {
    SampleAnswer out;
    out.content_type = "application/xml";
    out.body = sitemap_xml(web, host);
    return out;
  }
  if (web.has(host, Feature::redirects)) {
    if (auto redirect = redirect_of(web, host, path)) return redirect;
  }
  if (path == "/gone/removed.html") return html_answer("<!DOCTYPE html><title>Gone</title>", 410);
  if (path == "/gone/closed.html") return html_answer("<!DOCTYPE html><title>Closed</title>", 403);
  if (web.has(host, Feature::healing)) {
    if (auto busy = busy_answer(path, times_asked)) return busy;
  }
  if (web.has(host, Feature::spellings) && path == "/spell/~user/page.html") {
    return html_answer(small_html("One page", {"/"}));
  }
  if (web.has(host, Feature::forbidden) && path.starts_with("/private/")) {
    return html_answer(small_html("Private", {"/private/deeper.html"}));
  }
  if (web.has(host, Feature::trap)) {
    if (path == "/trap/door.html") return html_answer(small_html("Door", {"/calendar/24312"}));
    if (path.starts_with("/calendar/")) return calendar_month(path);
  }
  if (web.has(host, Feature::legacy)) {
    if (auto legacy = legacy_answer(path)) return legacy;
  }
  return std::nullopt;
}

}  // namespace orbweaver::sample
