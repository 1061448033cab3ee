// What the streaming extractor treats as a link, and what resolve_links() makes of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/html/link_rules.h"
#include "node/html/links.h"

namespace orbweaver {
namespace {

using namespace std::literals;

PageLinks links_in(std::string_view page) { return make_stream_extractor()->extract(page); }

std::string hrefs(const PageLinks& page) {
  std::string out;
  for (const PageLink& link : page.links) out += (out.empty() ? "" : " ") + link.href;
  return out;
}

std::string hrefs(std::string_view page) { return hrefs(links_in(page)); }

ResolvedLinks resolved(std::string_view page, const std::string& document = "http://d.test/p/q.html") {
  return resolve_links(links_in(page), *Url::parse(document), nullptr);
}

std::vector<std::string> urls(std::string_view page) {
  std::vector<std::string> out;
  for (const CanonicalUrl& url : resolved(page).urls) out.push_back(url.text());
  return out;
}

using Strings = std::vector<std::string>;

TEST(StreamLinks, WhatIsFollowed) {
  const PageLinks page = links_in(
      "<link rel=canonical href=c><link rel='NEXT' href=n><link rel=prev href=p><link rel=alternate href=l>"
      "<meta http-equiv=Refresh content='3; url=r'><a href=a>x</a><map><area href=b></map><iframe src=i></iframe>");
  const std::vector<LinkKind> kinds = {LinkKind::canonical, LinkKind::next,   LinkKind::prev, LinkKind::alternate,
                                       LinkKind::refresh,   LinkKind::anchor, LinkKind::area, LinkKind::iframe};
  ASSERT_EQ(page.links.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(page.links[i].kind, kinds[i]) << page.links[i].href;
  EXPECT_EQ(hrefs("<frameset><frame src=f></frameset>"), "f");
}

TEST(StreamLinks, WhatIsNotFollowed) {
  EXPECT_EQ(hrefs("<img src=a><script src=b></script><link rel=stylesheet href=c><form action=d></form>"
                  "<video src=e></video><embed src=f><object data=g></object><a name=h>x</a><input src=i>"),
            "");
  EXPECT_EQ(hrefs("<link rel='alternate stylesheet' href=a><link href=b><link rel=icon href=c>"), "");
  EXPECT_EQ(hrefs("<iframe src=''></iframe><link rel=next href=''>"), "");
}

TEST(StreamLinks, Html13_2_5_HiddenFromTheTokenizer) {
  EXPECT_EQ(hrefs("<!-- <a href=x> --><script>'<a href=x>'</script><style><a href=x></style><title><a href=x></title>"
                  "<textarea><a href=x></textarea><xmp><a href=x></xmp><iframe><a href=x></iframe>"
                  "<noembed><a href=x></noembed><noframes><a href=x></noframes><a href=y>"),
            "y");
  EXPECT_EQ(hrefs("<plaintext><a href=x></plaintext><a href=y>"), "");
}

TEST(StreamLinks, Html13_2_6_4_4_ScriptingIsOff) {
  EXPECT_EQ(hrefs("<head><noscript><link rel=next href=n></noscript></head><noscript><a href=a></a></noscript>"),
            "n a");
}

TEST(StreamLinks, Html13_2_6_TreeContext) {
  EXPECT_EQ(hrefs("<template><a href=x></a></template><a href=y>"), "y");
  EXPECT_EQ(hrefs("<select><a href=x></a></select><a href=y>"), "y");
  EXPECT_EQ(hrefs("<table><tr><td><select><a href=x><td><a href=y>"), "y");
  EXPECT_EQ(hrefs("<svg><a href=x></a><title><a href=y></a></title></svg><a href=z>"), "x y z");
  EXPECT_EQ(hrefs("<svg><style><a href=x></style></svg><a href=y>"), "x y");
  EXPECT_EQ(hrefs("<svg><![CDATA[<a href=x>]]></svg><![CDATA[<a href=y>]]><a href=z>"), "z");
  EXPECT_EQ(hrefs("<div><svg></div><a href=y>"), "y");
  EXPECT_EQ(hrefs("<math><mi><a href=x></a></mi><mo></mo><a href=y></a></math>"), "x");
  EXPECT_EQ(hrefs("<frame src=x>"), "");
}

TEST(StreamLinks, Html13_2_6_4_7_AFramesetTakesTheBodysPlace) {
  EXPECT_EQ(
      hrefs("<link rel=next href=n><div><a href=x></a></div><frameset><frame src=f><a href=y></frameset><a href=z>"),
      "n f");
  EXPECT_EQ(hrefs("<a href=x>text</a><frameset><frame src=f></frameset>"), "x");
}

TEST(StreamLinks, Html4_2_5_3_RefreshIntoAPageOnlyWithAUrl) {
  EXPECT_EQ(hrefs("<base href=/b/><meta http-equiv=refresh content=5>"), "");
  EXPECT_EQ(hrefs("<meta http-equiv=refresh content=\"0;URL='x&amp;y'\">"), "x&y");
  EXPECT_EQ(html::parse_refresh("99999999999999; x")->delay_seconds, 4294967295u);
}

TEST(StreamLinks, Nofollow_RelAndMeta) {
  const PageLinks page =
      links_in("<a rel='x NoFollow' href=a></a><area rel=nofollow href=b><a rel=nofollows href=c></a>");
  ASSERT_EQ(page.links.size(), 3u);
  EXPECT_TRUE(page.links[0].nofollow);
  EXPECT_TRUE(page.links[1].nofollow);
  EXPECT_FALSE(page.links[2].nofollow);
  EXPECT_TRUE(links_in("<meta name=ROBOTS content='index, NoFollow'>").meta_nofollow);
  EXPECT_FALSE(links_in("<meta name=ROBOTS content='index, nofollow'>").meta_noindex);
  EXPECT_TRUE(links_in("<meta content=none name=robots>").meta_nofollow);
  EXPECT_TRUE(links_in("<meta content=none name=robots>").meta_noindex);
  EXPECT_FALSE(links_in("<meta name=description content='none nofollow'>").meta_nofollow);
}

TEST(ResolveLinks, Nofollow_IsCountedAndLeftOut) {
  const ResolvedLinks some = resolved("<a rel=nofollow href=/a></a><a href=/b></a><a href=/a></a>");
  EXPECT_EQ(some.nofollow, 1u);
  EXPECT_EQ(some.urls.size(), 2u);
  const ResolvedLinks none = resolved("<meta name=robots content=nofollow><a href=/b></a>");
  EXPECT_EQ(none.nofollow, 1u);
  EXPECT_TRUE(none.urls.empty());
}

TEST(ResolveLinks, Html2_4_3_TheFirstBaseWithAnHref) {
  EXPECT_EQ(urls("<a href=x></a>"), Strings{"http://d.test/p/x"});
  EXPECT_EQ(urls("<base target=t><base href=/one/><base href=/two/><a href=x></a>"), Strings{"http://d.test/one/x"});
  EXPECT_EQ(urls("<a href=x></a><base href=//e.test/late/>"), Strings{"http://e.test/late/x"});
  EXPECT_EQ(urls("<base href=data:/,t><base href=/two/><a href=x></a>"), Strings{"http://d.test/p/x"});
  EXPECT_EQ(urls("<base href=JavaScript:1><base href=/two/><a href=x></a>"), Strings{"http://d.test/p/x"});
  EXPECT_EQ(urls("<base href=http://[><base href=/two/><a href=x></a>"), Strings{"http://d.test/p/x"});
  EXPECT_EQ(urls("<base href=''><a href=x></a>"), Strings{"http://d.test/p/x"});
  EXPECT_EQ(urls("<svg><base href=/svg/></svg><base href=/html/><a href=x></a>"), Strings{"http://d.test/html/x"});
}

TEST(ResolveLinks, PartsOfOnePageAreOneLink) {
  EXPECT_EQ(urls("<a href=a#1></a><a href=a#2></a><a href=a></a><a href=#></a><a href=#3></a>"),
            (Strings{"http://d.test/p/a", "http://d.test/p/q.html"}));
  EXPECT_EQ(urls("<a href='a #1'></a><a href='a '></a>"), (Strings{"http://d.test/p/a%20", "http://d.test/p/a"}));
  const std::string too_long(max_url_input_bytes, 'x');
  EXPECT_EQ(urls("<a href=a#" + too_long + "></a><a href=a></a>"), Strings{"http://d.test/p/a"});
}

TEST(ResolveLinks, EachOnceInOrderAndOnlyHttp) {
  const ResolvedLinks links = resolved(
      "<a href=b></a><a href=' a\n'></a><a href=b#frag></a><a href=mailto:x@y></a><a href=javascript:1></a><a "
      "href=http://[></a>"
      "<a href=#></a>");
  ASSERT_EQ(links.urls.size(), 3u);
  EXPECT_EQ(links.urls[0].text(), "http://d.test/p/b");
  EXPECT_EQ(links.urls[1].text(), "http://d.test/p/a");
  EXPECT_EQ(links.urls[2].text(), "http://d.test/p/q.html");
  EXPECT_EQ(links.skipped_scheme, 2u);
  EXPECT_EQ(links.malformed, 1u);
}

TEST(ResolveLinks, ALinkBeyondUrlBytesMaxIsMalformed) {
  const std::string page = "<a href='/" + std::string(max_url_bytes, 'x') + "'></a>";
  EXPECT_EQ(resolved(page).malformed, 1u);
}

TEST(StreamLinks, Svg2_16_2_AnAInSvgIsALink) {
  EXPECT_EQ(hrefs("<svg><a href=1>x</a></svg>"), "1");
  EXPECT_EQ(hrefs("<svg><A xlink:HREF=1>x</A></svg>"), "1");
  EXPECT_EQ(hrefs("<svg><g><a xlink:href=2 href=1>x</a></g><a href=3 /></svg>"), "1 3");
  EXPECT_EQ(hrefs("<math><mtext><svg><a href=1></a></svg></mtext></math>"), "1");
  EXPECT_EQ(hrefs("<a xlink:href=1></a><math><a href=2></a></math><template><svg><a href=3></svg></template>"), "");
  EXPECT_TRUE(links_in("<svg><a rel=nofollow href=1></a></svg>").links.at(0).nofollow);
}

TEST(StreamLinks, Html13_2_6_5_AnItemsEndTagEndsTheSvgInIt) {
  EXPECT_EQ(hrefs("<li><svg></li><a href=1><iframe src=2>"), "1 2");
  EXPECT_EQ(hrefs("<dl><dd><svg></dd><iframe src=1></iframe><dt><math></dt><iframe src=2>"), "1 2");
  // An item ends the previous one; an end tag without an item in scope ends nothing.
  EXPECT_EQ(hrefs("<ul><li><b><li><svg></li><iframe src=1>"), "1");
  EXPECT_EQ(hrefs("<li><ul><svg></li><iframe src=1>"), "");
  EXPECT_EQ(hrefs("<li><table><td><svg></li><iframe src=1>"), "");
}

// An iframe shows the present namespace: in SVG it is not a link.
TEST(StreamLinks, Html13_2_6_4_7_ABlockEndsAParagraphInForeignContent) {
  EXPECT_EQ(hrefs("<svg><foreignObject><p>s<div></div></foreignObject><iframe src=1>"), "");
  EXPECT_EQ(hrefs("<svg><foreignObject><p>s<span></span></foreignObject><iframe src=1>"), "1");
  EXPECT_EQ(hrefs("<svg><foreignObject><p><button><div></div></button></foreignObject><iframe src=1>"), "1");
  const std::string table = "<svg><foreignObject><p>s<table></table></foreignObject><iframe src=1>";
  EXPECT_EQ(hrefs(" <!-- x --> <!DOCTYPE html>" + table), "");
  EXPECT_EQ(hrefs("<!doctype html public '-//W3C//DTD HTML 4.01//EN'>" + table), "");
  EXPECT_EQ(hrefs("<!doctype HTML SYSTEM 'about:legacy-compat'>" + table), "");
  EXPECT_EQ(hrefs("<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN' 'x'>" + table), "");
  for (const char* quirks :
       {"", "<!DOCTYPE>", "<!doctype svg>", "x<!doctype html>", "<p><!doctype html>", "<!doctype html public>",
        "<!doctype html public '-//W3C//DTD HTML 4.01 Transitional//EN'>",
        "<!doctype html public '-//IETF//DTD HTML//'>", "<!doctype html x>", "<!-- <!doctype html> -->"}) {
    EXPECT_EQ(hrefs(quirks + table), "1") << quirks;
  }
}

TEST(StreamLinks, Html13_2_4_3_FormattingElementsComeAgainBeforeText) {
  EXPECT_EQ(hrefs("<svg><foreignObject><p><i></p>a</svg><iframe src=1>"), "1");
  EXPECT_EQ(hrefs("<svg><foreignObject><p><i></p></svg><iframe src=1>"), "1");
  EXPECT_EQ(hrefs("<svg><foreignObject><p><i></i></p>a</svg><iframe src=1></svg>"), "1");
  EXPECT_EQ(hrefs("<svg><g><foreignObject><p><i></p>a</g><iframe src=1>"), "1");
  EXPECT_EQ(hrefs("<svg><g><foreignObject><p><i></p></g><iframe src=1>"), "");
  EXPECT_EQ(hrefs("<svg><g><foreignObject><p><i></p></i>a</g><iframe src=1>"), "");
}

TEST(StreamLinks, Html13_2_5_33_ANulIsACharacterOfAnAttributesName) {
  EXPECT_EQ(hrefs("<a \0href=1><a href=2>"sv), "2");
  EXPECT_EQ(hrefs("<meta http-equiv=\"Refresh\"\0content=\"0;url=1\"><a href=2>"sv), "2");
}

TEST(StreamLinks, BoundedByLinksPerPage) {
  std::string page;
  for (std::size_t i = 0; i < max_links_per_page + 10; ++i) page += "<a href=x>";
  EXPECT_EQ(links_in(page).links.size(), max_links_per_page);
}

TEST(StreamLinks, DeepNestingCostsNoMoreThanItsLength) {
  for (const std::string tag : {"div", "b", "a", "svg", "template", "select", "table", "table><td", "math><mi"}) {
    std::string page;
    for (int i = 0; i < 30'000; ++i) page += "<" + tag + ">";
    for (int i = 0; i < 30'000; ++i) page += "</b></div></td></template>";
    links_in(page);
  }
  // After all this, an ordinary link is still found.
  std::string page;
  for (int i = 0; i < 100'000; ++i) page += "<div><b>";
  EXPECT_EQ(hrefs(page + "<a href=x>"), "x");
}

}  // namespace
}  // namespace orbweaver
