// Result pages, sites' links and selectors (node/scope/page_rules.h, node/html/selector.h; docs/how-to/keywords.md).
// Selectors Level 4, in the subset documented there; HTML standard, 13.1.2.4 for omitted end tags.
#include "node/scope/page_rules.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "node/html/selector.h"
#include "node/scope/scope.h"

namespace orbweaver {
namespace {

using Texts = std::vector<std::string>;

CanonicalUrl url(std::string_view text) { return *CanonicalUrl::parse(text); }

std::vector<CanonicalUrl> urls(const Texts& texts) {
  std::vector<CanonicalUrl> out;
  for (const std::string& text : texts) out.push_back(url(text));
  return out;
}

Texts texts(const std::vector<CanonicalUrl>& of) {
  Texts out;
  for (const CanonicalUrl& one : of) out.push_back(one.text());
  return out;
}

Texts selected(std::string_view html, std::string_view selector) {
  Texts out;
  for (const PageLink& link : html::selected_links(html, *html::Selector::parse(selector))) out.push_back(link.href);
  return out;
}

constexpr std::string_view page = R"(<!DOCTYPE html><div id=top><a href=own>x</a></div>
<ol id=results class="list wide"><li class="web result"><h3><a class=title href=one>1</a></h3><p>text <a href=more>m</a>
<li class="result ad"><h3><a class="title" href=advert>2</a></h3>
<li class=result><p class=odd>open<p><a class="title big" href=two>3</a></ol><A CLASS=title HREF=after>4</A>)";

TEST(Selector, TagsClassesIdsDescendantsAndLists) {
  EXPECT_EQ(selected(page, "#results a.title"), (Texts{"one", "advert", "two"}));
  EXPECT_EQ(selected(page, "li.web.result h3"), (Texts{"one"}));
  EXPECT_EQ(selected(page, "ol#results.wide h3 a"), (Texts{"one", "advert"}));
  EXPECT_EQ(selected(page, "div ol"), (Texts{}));
  EXPECT_EQ(selected(page, "#top , A.big"), (Texts{"own", "two"}));
  EXPECT_EQ(selected(page, "* .title"), (Texts{"one", "advert", "two", "after"}));
  EXPECT_EQ(selected(page, "a"), (Texts{"own", "one", "more", "advert", "two", "after"}));
  EXPECT_EQ(selected(page, ".Title"), (Texts{})) << "classes are reported apart by case";
}

TEST(Selector, ElementsWithoutEndTagsEndWhereTheStandardEndsThem) {
  EXPECT_EQ(selected(page, "p.odd a"), (Texts{})) << "a <p> ends a <p>";
  EXPECT_EQ(selected(page, "li.web a"), (Texts{"one", "more"})) << "an <li> ends an <li>";
  EXPECT_EQ(selected("<ul><li class=x><ul><li>in<li><a href=deep>a</a></ul></ul>", ".x a"), (Texts{"deep"}));
  EXPECT_EQ(selected("<table><tr><td class=x>1<td><a href=b>2</a></table>", ".x a"), (Texts{}));
  EXPECT_EQ(selected("<div class=x><br><img></div><a href=b>2</a>", ".x a"), (Texts{}));
}

TEST(Selector, WhatIsNoLinkOfTheDocumentIsNone) {
  EXPECT_EQ(selected("<script>'<a href=s>'</script><!-- <a href=c> --><template><a href=t></a></template>"
                     "<textarea><a href=x></textarea><a name=n>no</a><a href=yes>y</a>",
                     "a"),
            (Texts{"yes"}));
}

TEST(Selector, DeepPagesAreBounded) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<div class=x>";
  EXPECT_EQ(selected(deep + "<a href=in>x</a>", ".x a"), (Texts{"in"}));
}

TEST(Selector, WhatIsNotKnownIsRefused) {
  for (const char* bad : {"", " ", "a > b", "a[href]", "a:hover", "a..b", "#a#b", "a,", "a + b", ".", "a*"})
    EXPECT_FALSE(html::Selector::parse(bad)) << bad;
}

TEST(ResultPages, AnEntryIsAPatternAndItsWords) {
  const auto entry = parse_result_page("^http://s[.]example/q select=\"#r li a\" url=^https: unwrap=u");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->pattern, "^http://s[.]example/q");
  EXPECT_EQ(entry->select, "#r li a");
  EXPECT_EQ(entry->url, "^https:");
  EXPECT_EQ(entry->unwrap, "u");
}

TEST(ResultPages, BadEntriesAreRefused) {
  for (const char* bad :
       {"", "(", "a url=(", "a colour=red", "a select=\"x", "a select=\"x\"y", "a url=", "a b", "a url=b url=c"})
    EXPECT_FALSE(parse_result_page(bad)) << bad;
}

TEST(ResultPages, LinksOfTheEnginesDomainAreNoResultsAndEachIsThereOnce) {
  const ResultPages pages({"^http://s[.]example/q"});
  const CanonicalUrl at = url("http://s.example/q?x");
  ASSERT_NE(pages.find(at), nullptr);
  EXPECT_EQ(pages.find(url("http://s.example/about")), nullptr);
  EXPECT_EQ(texts(results_of(*pages.find(at), at,
                             urls({"http://s.example/2", "http://help.s.example/", "http://a.test/", "http://a.test/",
                                   "http://b.test/x"}),
                             {})),
            (Texts{"http://a.test/", "http://b.test/x"}));
}

TEST(ResultPages, UrlNarrowsAndUnwrapLooksBehindCountedLinks) {
  const ResultPages pages({"/q unwrap=to url=[.]html$"});
  const CanonicalUrl at = url("http://s.example/q?x");
  EXPECT_EQ(
      texts(results_of(*pages.find(at), at,
                       urls({"http://s.example/out?a=1&to=http%3A%2F%2Fa.test%2Fx.html&r=2",
                             "http://s.example/out?to=http%3A%2F%2Fa.test%2Fx.pdf", "http://b.test/y.html",
                             "http://s.example/out?to=nonsense", "http://s.example/out?to=http://s.example/z.html"}),
                       {})),
      (Texts{"http://a.test/x.html", "http://b.test/y.html"}));
}

TEST(SiteLinks, KeepDropAndSameHost) {
  const SiteLinks sites({"a.test keep=/docs/ drop=old", "*.b.test same_host=yes", "* drop=[.]pdf$"});
  const auto kept = [&](std::string_view from, const Texts& links) {
    std::vector<CanonicalUrl> of = urls(links);
    sites.filter(url(from), of);
    return texts(of);
  };
  const Texts links = {"http://a.test/docs/1", "http://a.test/docs/old", "http://x.b.test/2", "http://c.test/3.pdf"};
  EXPECT_EQ(kept("http://a.test/", links), (Texts{"http://a.test/docs/1"}));
  EXPECT_EQ(kept("http://x.b.test/", links), (Texts{"http://x.b.test/2"}));
  EXPECT_EQ(kept("http://b.test/", links), (Texts{}));
  EXPECT_EQ(kept("http://z.test/", links), (Texts{links[0], links[1], links[2]}));
}

TEST(SiteLinks, WithoutAnEntryAllAreKept) {
  std::vector<CanonicalUrl> links = urls({"http://a.test/", "http://b.test/"});
  EXPECT_EQ(SiteLinks({"c.test keep=x"}).filter(url("http://a.test/"), links), 0U);
  EXPECT_EQ(links.size(), 2U);
}

TEST(SiteLinks, BadEntriesAreRefused) {
  for (const char* bad : {"", "a*.test", "http://a.test", "a.test keep=(", "a.test same_host=maybe", "a.test colour=x"})
    EXPECT_FALSE(parse_site_links(bad)) << bad;
}

TEST(Scope, ASeedThatIsAResultPageWidensNothing) {
  Settings settings = default_settings();
  ASSERT_TRUE(set_setting(settings, "result_pages", "^http://s[.]example/q"));
  Scope scope(settings, urls({"http://s.example/q?x", "http://a.test/"}));
  EXPECT_EQ(scope.place(url("http://s.example/q?x")), Scope::Place::in);
  EXPECT_EQ(scope.place(url("http://s.example/q?y")), Scope::Place::off_site);
  EXPECT_EQ(scope.place(url("http://s.example/")), Scope::Place::off_site);
  EXPECT_NE(scope.explain(url("http://s.example/q?x")).find("a page of results"), std::string::npos);
  EXPECT_EQ(scope.place(url("http://b.test/z")), Scope::Place::off_site);
  scope.add_seeds(urls({"http://b.test/"}));
  EXPECT_EQ(scope.place(url("http://b.test/z")), Scope::Place::in);
  EXPECT_EQ(scope.place(url("http://a.test/z")), Scope::Place::in);
}

TEST(Settings, BadRulesOfPagesNameTheEntry) {
  Settings settings = default_settings();
  const auto refused = [&](const char* name, const char* text) {
    const Result<void> set = set_setting(settings, name, text);
    return set ? std::string() : set.error().message;
  };
  EXPECT_NE(refused("result_pages", "^a;b select=\"a > b\"").find("b select"), std::string::npos);
  EXPECT_NE(refused("site_links", "a.test keep=(").find("a.test"), std::string::npos);
  ASSERT_TRUE(set_setting(settings, "result_pages", "a{1,3} select=\"x, y\"; b"));
  EXPECT_EQ(settings.result_pages.size(), 2U) << "commas are part of an entry";
}

}  // namespace
}  // namespace orbweaver
