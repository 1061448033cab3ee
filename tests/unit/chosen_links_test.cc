// Links other than navigation (extra_links, page_requisites): elements and attributes, srcset, styles, scripts,
// JSON-LD, plain text, header fields; with both extractors where both read them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/html/css.h"
#include "node/html/header_links.h"
#include "node/html/link_rules.h"
#include "node/html/text_links.h"
#include "node/terminal/json_line.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using Texts = std::vector<std::string>;

LinkChoice everything() {
  return LinkChoice::from({"resources", "styles", "cites", "forms", "json-ld", "scripts", "text"});
}

std::string shown_links(const PageLinks& page) {
  std::string out;
  for (const PageLink& link : page.links)
    out += (out.empty() ? "" : " ") + std::string(link_kind_name(link.kind)) + ":" + link.href;
  return out;
}

// The links found by both extractors, which must agree.
std::string found(std::string_view html, LinkChoice choice = everything()) {
  const std::string stream = shown_links(make_stream_extractor(choice)->extract(html));
  const std::string tree = shown_links(make_tidy_extractor(choice)->extract(html));
  EXPECT_EQ(stream, tree) << html;
  return stream;
}

std::string by_stream(std::string_view html, LinkChoice choice = everything()) {
  return shown_links(make_stream_extractor(choice)->extract(html));
}

TEST(ChosenLinks, NothingBesideNavigationUnlessAsked) {
  EXPECT_EQ(by_stream("<body background=b><img src=i srcset='s 1x'><form action=f></form><q cite=c></q><style>a{"
                      "background:url(u)}</style><script src=j>'/path'</script><a href=a>",
                      {}),
            "a:a");
}

TEST(ChosenLinks, Html_AttributesOfResources) {
  const std::string head = "<!DOCTYPE html><title>t</title><body>";
  EXPECT_EQ(found(head + "<img src=a srcset='b 1x, c 2x' longdesc=d alt=''>"), "image:a cite:d image:b image:c");
  EXPECT_EQ(found(head + "<video src=a poster=b><source src=c><track src=d></video>"),
            "media:a image:b media:c media:d");
  EXPECT_EQ(found(head + "<audio src=a></audio>"), "media:a");
  EXPECT_EQ(found(head + "<object data=a></object><embed src=b>"), "object:a object:b");
  EXPECT_EQ(found(head + "<input type=image src=a alt=b><input type=text src=c>"), "image:a");
  EXPECT_EQ(
      found("<!DOCTYPE html><title>t</title><body background=a><table background=b><tr><td background=c>x</table>"),
      "image:a image:b image:c");
  EXPECT_EQ(found(head + "<script src=a></script>"), "script:a");
  EXPECT_EQ(by_stream(head + "<picture><source srcset='a, b 2x'><img src=c></picture>"), "image:a image:b image:c");
  EXPECT_EQ(by_stream("<html manifest=a>"), "resource:a");
}

TEST(ChosenLinks, Html_LinkElementsByTheirRel) {
  EXPECT_EQ(found("<!DOCTYPE html><title>t</title><link rel=stylesheet href=a><link rel='shortcut icon' href=b><link "
                  "rel='alternate stylesheet' href=c><link rel=preload href=d><link rel=canonical href=e>"),
            "stylesheet:a icon:b stylesheet:c resource:d canonical:e");
  EXPECT_EQ(by_stream("<link rel=preload as=image href=a imagesrcset='b 1x, c 2x'>"), "resource:a image:b image:c");
  EXPECT_EQ(by_stream("<link rel=dns-prefetch href=a><link rel=stylesheet href=''>"), "");
}

TEST(ChosenLinks, Svg_ImagesButNotPartsOfThePage) {
  EXPECT_EQ(by_stream("<svg><image href=a /><image xlink:href=b></image><use href='#c'/><use href='d#e'/></svg>"),
            "image:a image:b image:d#e");
  EXPECT_EQ(by_stream("<template><img src=a><svg><image href=b /></svg></template>"), "");
}

TEST(ChosenLinks, Forms_MethodGetAlone) {
  const std::string head = "<!DOCTYPE html><title>t</title><body>";
  EXPECT_EQ(found(head + "<form action=a><p>x</form><form action=b method=POST><p>x</form>"), "form:a");
  EXPECT_EQ(by_stream("<form><button formaction=a>x</button><button formaction=b formmethod=post>x</button></form>"),
            "form:a");
}

TEST(ChosenLinks, Cites) {
  EXPECT_EQ(found("<!DOCTYPE html><title>t</title><body><blockquote cite=a>x</blockquote><p><q cite=b>x</q> <del "
                  "cite=c>x</del> <ins cite=d>x</ins>"),
            "cite:a cite:b cite:c cite:d");
}

TEST(ChosenLinks, Styles_ElementAndAttribute) {
  EXPECT_EQ(
      found("<!DOCTYPE html><html><head><title>t</title><style>@import 'a'; b{background:url(c)}</style></head><body "
            "style=\"background:url('d')\"><p>x"),
      "stylesheet:a style-url:c style-url:d");
}

TEST(ChosenLinks, Scripts_JsonLdAndStrings) {
  const std::string page =
      "<!DOCTYPE html><html><head><title>t</title><script>load('/a/b')</script><script type='application/ld+json'>"
      "{\"@context\":\"https://schema.org\",\"url\":\"c\"}</script><script type=text/template>'/d/e'</script></head>";
  EXPECT_EQ(found(page), "script-text:/a/b json-ld:c");
}

TEST(ChosenLinks, Rel_OfAnchorsIsInTheirKind) {
  EXPECT_EQ(
      found("<!DOCTYPE html><title>t</title><body><a rel=next href=a>x</a> <a rel='nofollow prev' href=b>x</a> <a "
            "rel=canonical href=c>x</a> <a rel=me href=d>x</a>"),
      "next:a prev:b canonical:c a:d");
}

TEST(Srcset, WebPlatformTests_All) {
  if (!test::suite_exists("html/srcset_wpt.json")) GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites";
  const auto suite = parse_json(test::read_file(test::suite_path("html/srcset_wpt.json")));
  ASSERT_TRUE(suite);
  std::size_t checked = 0;
  for (const auto& item : suite->at("cases")) {
    EXPECT_EQ(html::parse_srcset(item.at("srcset").get<std::string>()), item.at("candidates").get<Texts>())
        << item.dump();
    ++checked;
  }
  EXPECT_EQ(checked, 229u);
}

std::string css(std::string_view text) {
  std::string out;
  for (const html::CssUrl& found : html::css_urls(text)) {
    if (!out.empty()) out += ' ';
    if (found.import) out += "import:";
    out += found.url;
  }
  return out;
}

TEST(Css, Syntax3_UrlsAndStrings) {
  EXPECT_EQ(css("a{b:url(c)}d{e:url( 'f' )}g{h:URL(\"i\")}"), "c f i");
  EXPECT_EQ(css("a{b:\"url(c)\"; d: 'e'}"), "");
  EXPECT_EQ(css("a{b:url()c:url('')d:url(#e)}"), "");
  EXPECT_EQ(css("a{b:image-set('c' 1x, url(d) 2x, 'e' type('image/png'))}"), "c d e");
  EXPECT_EQ(css("a{b:src('c')} d{e:attr('f')}"), "c");
}

TEST(Css, Syntax3_Imports) {
  EXPECT_EQ(css("@import 'a'; @import url(b); @IMPORT url('c') print;"), "import:a import:b import:c");
  EXPECT_EQ(css("@namespace url(a); @namespace p 'b'; c{d:url(e)}"), "e");
  EXPECT_EQ(css("@media print{@import 'a';} @font-face{src:url(b) format('c')}"), "import:a b");
}

TEST(Css, Syntax3_4_3_CommentsEscapesAndBadTokens) {
  EXPECT_EQ(css("/* url(a) */ b{c:url(/*d*/)} e:url(f/* g */"), "/*d*/");
  EXPECT_EQ(css("a{b:url(c\\29 d)} e{f:\\75 rl(g)} h{i:url('j\\\nk')}"), "c)d g jk");
  EXPECT_EQ(css("a{b:url(c d)} e{f:url(g'h)} i{j:url(k)}"), "k");
  EXPECT_EQ(css("a{b:'c\nd:url(e)}"), "e");
  EXPECT_EQ(css("a{b:10url(c)} <!-- d{e:url(f)} -->"), "f");
  EXPECT_EQ(css("a{b:url(c"), "c");
  EXPECT_EQ(css("a{b:url('c"), "c");
}

TEST(PlainText, Rfc3986_AppendixC_Delimiters) {
  EXPECT_EQ(
      html::plain_text_urls("See http://a.b/c. And <https://d.e/f?g=h>, (HTTP://i.j/k(l)), \"http://m/\" ftp://n/"),
      (Texts{"http://a.b/c", "https://d.e/f?g=h", "HTTP://i.j/k(l)", "http://m/"}));
  EXPECT_EQ(html::plain_text_urls("http:// https://. ://x xhttp://y z://"), Texts{});
  EXPECT_EQ(html::plain_text_urls("http://\xc3\xbc.example/\xc3\xbc"), Texts{"http://\xc3\xbc.example/\xc3\xbc"});
}

TEST(Scripts, StringsThatLookLikeUrls) {
  EXPECT_EQ(html::script_urls(R"(a="http:\/\/b\/c"; d='/e/f'; g=`./h`; i="j/k.html?l"; m="//n.example/o")"),
            (Texts{"http://b/c", "/e/f", "./h", "j/k.html?l", "//n.example/o"}));
  EXPECT_EQ(html::script_urls(R"(a="b"; c="/"; d="// e"; f='text/html'; g="h i.html"; j="${k}/l.html"; m="n: o.php")"),
            Texts{});
  EXPECT_EQ(html::script_urls("// don't\nload('/a/b')"), Texts{"/a/b"});
  EXPECT_EQ(html::script_urls(R"("\u002fa\x2fb.html")"), Texts{"/a/b.html"});
}

TEST(Scripts, UnclosedQuotesCostNoMoreThanTheirLength) {
  std::string script;
  for (int i = 0; i < 400000; ++i) script += "\"\\";
  EXPECT_TRUE(html::script_urls(script).size() < script.size());
}

TEST(JsonLd, UrlsByTheirKeysAndAbsoluteOnes) {
  EXPECT_EQ(html::json_ld_urls(R"({"@context":"https://schema.org","@type":"Article","@id":"/a","name":"b",
            "author":{"sameAs":["https://c.d/","e f"],"x":"http://g.h/"},"image":"i.png","@graph":[{"url":"j"}]})"),
            (Texts{"/a", "https://c.d/", "http://g.h/", "i.png", "j"}));
  EXPECT_EQ(html::json_ld_urls(R"({"url":"a", oops)"), Texts{"a"});
  EXPECT_EQ(html::json_ld_urls(std::string(1000000, '[')), Texts{});
}

std::string from_fields(const Texts& fields, LinkChoice choice = {}) {
  PageLinks page;
  html::note_link_fields(fields, choice, page);
  for (const PageLink& link : page.links) EXPECT_TRUE(link.from_header);
  return shown_links(page);
}

TEST(HeaderLinks, Rfc8288_RelationsThatAreFollowed) {
  EXPECT_EQ(
      from_fields({"<a>; rel=next, <b>; rel=\"prev canonical\"; title=\"c, <d>; rel=next\", <e>; REL = Alternate"}),
      "next:a prev:b alternate:e");
  EXPECT_EQ(from_fields({"<a>; rel=stylesheet, <b>;rel=preload;as=font"}), "");
  EXPECT_EQ(from_fields({"<a>; rel=stylesheet, <b>;rel=preload;as=font"}, everything()), "stylesheet:a resource:b");
  EXPECT_EQ(from_fields({"<a>; rel=next; rel=prev", "<b>; rel=next; anchor=\"/c\"", "<d>", "<e; rel=next"}), "next:a");
  EXPECT_EQ(from_fields({"<a>; title=\"\\\"; rel=prev\"; rel=next"}), "next:a");
}

TEST(HeaderLinks, RefreshField) {
  PageLinks page;
  html::note_refresh_field("5; url=/a", page);
  html::note_refresh_field("5", page);
  EXPECT_EQ(shown_links(page), "refresh:/a");
}

TEST(ResolveLinks, AHeadersUrlsAreNotOfTheDocument) {
  PageLinks page;
  page.base = "http://other.test/x/";
  html::add_link(page, "a", LinkKind::anchor);
  html::note_link_fields({"<a>; rel=next"}, {}, page);
  const Url document = *Url::parse("http://d.test/p/q");
  const ResolvedLinks links = resolve_links(page, document, nullptr);
  ASSERT_EQ(links.urls.size(), 2u);
  EXPECT_EQ(links.urls[0].text(), "http://other.test/x/a");
  EXPECT_EQ(links.urls[1].text(), "http://d.test/p/a");
}

TEST(ResolveLinks, RequisitesApartAndWhateverNofollowSays) {
  PageLinks page;
  page.meta_nofollow = true;
  html::add_link(page, "a", LinkKind::anchor);
  html::add_link(page, "i", LinkKind::image);
  html::add_link(page, "s", LinkKind::stylesheet);
  html::add_link(page, "f", LinkKind::form);
  const Url document = *Url::parse("http://d.test/");
  LinkRules rules;
  rules.requisites = true;
  const ResolvedLinks with = resolve_links(page, document, nullptr, rules);
  EXPECT_TRUE(with.urls.empty());
  ASSERT_EQ(with.requisites.size(), 2u);
  EXPECT_EQ(with.requisites[1].text(), "http://d.test/s");
  page.meta_nofollow = false;
  EXPECT_EQ(resolve_links(page, document, nullptr).urls.size(), 1u);
  rules = {};
  rules.follow.forms = true;
  EXPECT_EQ(resolve_links(page, document, nullptr, rules).urls.size(), 2u);
}

TEST(ResolveLinks, TheCrawlsCanonicalFormJoins) {
  PageLinks page;
  html::add_link(page, "/a?utm_source=b", LinkKind::anchor);
  html::add_link(page, "/a", LinkKind::anchor);
  Settings settings = default_settings();
  settings.strip_tracking = true;
  const LinkRules rules{Canonicaliser(settings), {}, false};
  EXPECT_EQ(resolve_links(page, *Url::parse("http://d.test/"), nullptr, rules).urls.size(), 1u);
}

TEST(ResolveLinks, FragmentsThatTheCrawlKeepsAreLinksOfTheirOwn) {
  PageLinks page;
  for (const char* const href : {"/a#!b", "/a#!c", "/a#d", "/a"}) html::add_link(page, href, LinkKind::anchor);
  Settings settings = default_settings();
  settings.hash_bang = HashBang::keep;
  const LinkRules rules{Canonicaliser(settings), {}, false};
  EXPECT_EQ(resolve_links(page, *Url::parse("http://d.test/"), nullptr, rules).urls.size(), 3u);
}

}  // namespace
}  // namespace orbweaver
