// Sitemaps of all five forms, and the mistakes in real files.
#include "node/sitemap/sitemap.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "node/text/web_date.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;
using std::chrono::sys_days;
using namespace std::chrono_literals;

constexpr std::string_view head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
constexpr std::string_view urlset = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

std::string set_of(std::string_view inner) {
  return std::string(head) + std::string(urlset) + std::string(inner) + "</urlset>";
}

std::vector<std::string> urls_of(const Sitemap& sitemap) {
  std::vector<std::string> urls;
  for (const SitemapEntry& entry : sitemap.entries) urls.push_back(entry.url);
  return urls;
}

using Urls = std::vector<std::string>;

std::string gzipped(const std::string& bytes) {
  std::string out(compressBound(static_cast<uLong>(bytes.size())) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Sitemap, Protocol_UrlsetGivesEveryField) {
  const Sitemap sitemap = read_sitemap(
      set_of("<url><loc> http://a.test/?x=1&amp;y=2 </loc><lastmod>2005-01-01</lastmod><changefreq>Monthly"
             "</changefreq><priority>0.8</priority></url><url><loc>http://a.test/b</loc><priority>7</priority>"
             "<lastmod>soon</lastmod><changefreq>often</changefreq></url>"),
      "");
  EXPECT_EQ(sitemap.kind, SitemapKind::urlset);
  EXPECT_EQ(urls_of(sitemap), (Urls{"http://a.test/?x=1&y=2", "http://a.test/b"}));
  ASSERT_EQ(sitemap.entries.size(), 2u);
  EXPECT_EQ(sitemap.entries[0].lastmod, Time(sys_days{2005y / 1 / 1}));
  EXPECT_EQ(sitemap.entries[0].change_frequency, "monthly");
  EXPECT_EQ(sitemap.entries[0].priority, 0.8);
  EXPECT_FALSE(sitemap.entries[1].lastmod || sitemap.entries[1].priority);
  EXPECT_EQ(sitemap.entries[1].change_frequency, "");
  EXPECT_FALSE(sitemap.damaged || sitemap.cut);
  EXPECT_EQ(sitemap.problem, "");
}

TEST(Sitemap, Protocol_IndexTextRssAtom) {
  EXPECT_EQ(read_sitemap("<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap></sitemapindex>", "").kind,
            SitemapKind::index);
  const Sitemap text = read_sitemap("\xEF\xBB\xBFhttp://a.test/1\r\n\r\nnot one\nHTTPS://a.test/2", "text/plain");
  EXPECT_EQ(text.kind, SitemapKind::text);
  EXPECT_EQ(urls_of(text), (Urls{"http://a.test/1", "HTTPS://a.test/2"}));
  EXPECT_NE(text.problem.find("1 lines"), std::string::npos) << text.problem;
  const Sitemap rss = read_sitemap(
      "<rss version='2.0'><channel><link>http://a.test/</link><item><link>http://a.test/1</link><pubDate>Sun, 06 Sep "
      "2009 16:20:00 +0000</pubDate></item><item><guid>http://a.test/2</guid></item><item><guid isPermaLink='false'>"
      "urn:3</guid></item></channel></rss>",
      "");
  EXPECT_EQ(rss.kind, SitemapKind::rss);
  EXPECT_EQ(urls_of(rss), (Urls{"http://a.test/1", "http://a.test/2"}));
  EXPECT_EQ(rss.entries.at(0).lastmod, Time(sys_days{2009y / 9 / 6}) + 16h + 20min);
  const Sitemap atom = read_sitemap(
      "<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://a.test/'/><entry><link rel='self' "
      "href='http://a.test/self'/><link rel='alternate' href='http://a.test/1'/><source><link href='http://b.test/'/>"
      "</source><updated>2003-12-13T18:30:02Z</updated></entry></feed>",
      "");
  EXPECT_EQ(atom.kind, SitemapKind::atom);
  EXPECT_EQ(urls_of(atom), (Urls{"http://a.test/1"}));
}

TEST(Sitemap, Rss2_AGuidThatIsNotAPermalinkIsNotAnAddress) {
  EXPECT_EQ(
      urls_of(read_sitemap("<rss><channel><item><guid isPermaLink='false'>http://a.test/1</guid></item><item><guid "
                           "isPermaLink='true'>http://a.test/2</guid></item><item><guid isPermaLink='false'>"
                           "http://a.test/x</guid><link>http://a.test/3</link></item></channel></rss>",
                           "")),
      (Urls{"http://a.test/2", "http://a.test/3"}));
}

TEST(Sitemap, XmlNames_AVocabularyIsItsNamespaceWhateverItsPrefix) {
  const std::string rdf = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' ";
  EXPECT_EQ(urls_of(read_sitemap(rdf + "xmlns:r='http://purl.org/rss/1.0/'><r:item><r:link>http://a.test/1</r:link>"
                                       "</r:item></rdf:RDF>",
                                 "")),
            (Urls{"http://a.test/1"}));
  // A <link> of another vocabulary with the same local name.
  EXPECT_EQ(urls_of(read_sitemap(rdf + "xmlns:r='http://purl.org/rss/1.0/' xmlns='http://other.test/'><r:item><link>"
                                       "http://b.test/</link><r:link>http://a.test/1</r:link></r:item></rdf:RDF>",
                                 "")),
            (Urls{"http://a.test/1"}));
  EXPECT_EQ(
      urls_of(read_sitemap("<rss xmlns:x='http://other.test/'><channel><item><x:link>http://b.test/</x:link><link>"
                           "http://a.test/1</link></item></channel></rss>",
                           "")),
      (Urls{"http://a.test/1"}));
  EXPECT_EQ(urls_of(read_sitemap("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
                                 "xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'><s:url><s:loc>http://a.test/1"
                                 "</s:loc></s:url></urlset>",
                                 "")),
            (Urls{"http://a.test/1"}));
  // A declaration ends with its element.
  EXPECT_EQ(
      urls_of(read_sitemap("<rss><channel><item xmlns:r='http://purl.org/rss/1.0/'><r:link>http://a.test/1</r:link>"
                           "</item><item><r:link>http://a.test/2</r:link></item></channel></rss>",
                           "")),
      (Urls{"http://a.test/1"}));
}

TEST(Sitemap, RealFiles_ForeignPrefixesAreNotEntriesAndNamespacesDoNotMatter) {
  EXPECT_EQ(urls_of(read_sitemap("<s:urlset><s:url><s:loc>http://a.test/1</s:loc><image:image><image:loc>"
                                 "http://a.test/i.png</image:loc></image:image></s:url></s:urlset>",
                                 "")),
            (Urls{"http://a.test/1"}));
  EXPECT_EQ(
      urls_of(read_sitemap("<urlset xmlns='http://wrong.test/'><url><loc>http://a.test/1</loc></url></urlset>", "")),
      (Urls{"http://a.test/1"}));
}

TEST(Sitemap, RealFiles_BareAmpersandsAndUnknownEntitiesAreMended) {
  const Sitemap sitemap = read_sitemap(
      set_of("<url><loc>http://a.test/?x=1&y=2&copy=3&nbsp;4&#0;&#x41;&amp;z</loc></url><!-- & --><url><loc>"
             "<![CDATA[http://a.test/?a=1&b=2]]></loc></url><url><loc>http://a.test/\x01z</loc></url>"),
      "");
  EXPECT_EQ(urls_of(sitemap),
            (Urls{"http://a.test/?x=1&y=2&copy=3&nbsp;4&#0;A&z", "http://a.test/?a=1&b=2", "http://a.test/z"}));
  EXPECT_FALSE(sitemap.damaged);
  EXPECT_NE(sitemap.problem, "");
}

TEST(Sitemap, RealFiles_WhatStandsBeforeAFaultIsKept) {
  const std::string two = std::string(head) + std::string(urlset) + "<url><loc>http://a.test/1</loc></url>";
  for (const std::string_view rest : {"", "<url>", "<url><loc>", "<url><loc>http://a.te", "</nonsense>", "<url><loc",
                                      "\xFF\xFE<", "<url><loc>http://a.test/1</loc></urlset>"}) {
    const Sitemap sitemap = read_sitemap(two + std::string(rest), "");
    EXPECT_EQ(urls_of(sitemap).at(0), "http://a.test/1") << rest;
    for (const SitemapEntry& entry : sitemap.entries) EXPECT_EQ(entry.url, "http://a.test/1") << rest;
    EXPECT_TRUE(sitemap.damaged) << rest;
    EXPECT_NE(sitemap.problem.find("line 2"), std::string::npos) << rest << ": " << sitemap.problem;
  }
  // The URL is complete when the next tag has begun.
  EXPECT_EQ(read_sitemap(two + "<url><loc>http://a.test/2</lo", "").entries.size(), 2u);
}

TEST(Sitemap, RealFiles_TruncatedGzipGivesWhatCouldBeUnpacked) {
  std::string inner;
  for (int i = 0; i < 5000; ++i) inner += "<url><loc>http://a.test/" + std::to_string(i * 7919) + "</loc></url>";
  const std::string packed = gzipped(set_of(inner));
  EXPECT_EQ(read_sitemap(packed, "application/x-gzip").entries.size(), 5000u);
  EXPECT_EQ(read_sitemap(gzipped(packed), "").entries.size(), 5000u);
  const Sitemap half = read_sitemap(packed.substr(0, packed.size() / 2), "");
  EXPECT_GT(half.entries.size(), 1000u);
  EXPECT_LT(half.entries.size(), 4000u);
  EXPECT_TRUE(half.damaged);
}

TEST(Sitemap, Protocol_LimitsCutAndSaySo) {
  std::string inner;
  for (int i = 0; i < 100; ++i) inner += "<url><loc>http://a.test/" + std::to_string(i) + "</loc></url>";
  const Sitemap exact = read_sitemap(set_of(inner), "", {1 << 20, 100});
  EXPECT_EQ(exact.entries.size(), 100u);
  EXPECT_FALSE(exact.cut);
  const Sitemap fewer = read_sitemap(set_of(inner), "", {1 << 20, 99});
  EXPECT_EQ(fewer.entries.size(), 99u);
  EXPECT_TRUE(fewer.cut);
  EXPECT_FALSE(fewer.damaged);
  const Sitemap shorter = read_sitemap(gzipped(set_of(inner)), "", {2000, 100});
  EXPECT_GT(shorter.entries.size(), 10u);
  EXPECT_LT(shorter.entries.size(), 60u);
  EXPECT_TRUE(shorter.cut);
  EXPECT_TRUE(read_sitemap("http://a.test/1\nhttp://a.test/2\n", "text/plain", {1 << 20, 1}).cut);
}

TEST(Sitemap, Security_NothingOutsideIsReadAndNoEntityGrows) {
  const Sitemap sitemap = read_sitemap(
      "<!DOCTYPE urlset [<!ENTITY f SYSTEM \"file:///etc/passwd\"><!ENTITY a \"http://a.test/aaaa\"><!ENTITY b "
      "\"&a;&a;&a;&a;\">]><urlset><url><loc>http://a.test/1</loc></url><url><loc>&f;</loc></url><url><loc>&b;</loc>"
      "</url></urlset>",
      "");
  EXPECT_EQ(urls_of(sitemap), (Urls{"http://a.test/1"}));
  std::string deep(head);
  deep += urlset;
  for (int i = 0; i < 100'000; ++i) deep += "<url>";
  EXPECT_TRUE(read_sitemap(deep, "").damaged);
}

TEST(Sitemap, Charset_DeclarationHeaderAndByteOrderMark) {
  const std::string latin =
      "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.test/\xE9</loc>"
      "</url></urlset>";
  EXPECT_EQ(urls_of(read_sitemap(latin, "text/xml")), (Urls{"http://a.test/\xC3\xA9"}));
  std::string wide("\xFF\xFE");
  for (const char c : set_of("<url><loc>http://a.test/1</loc></url>")) wide += std::string{c, '\0'};
  EXPECT_TRUE(looks_like_sitemap(wide, "text/xml"));
  EXPECT_EQ(urls_of(read_sitemap(wide, "text/xml")), (Urls{"http://a.test/1"}));
  EXPECT_EQ(urls_of(read_sitemap(set_of("<url><loc>http://a.test/\xFF</loc></url>"), "text/xml; charset=utf-8")),
            (Urls{"http://a.test/\xEF\xBF\xBD"}));
}

TEST(Sitemap, Recognised_ByItsFirstBytesAlone) {
  EXPECT_TRUE(
      looks_like_sitemap(" \n<?xml version='1.0'?><!-- <html> --><?style x?><!DOCTYPE urlset [<!ENTITY a 'b>'>]>"
                         "\n<urlset>",
                         "text/html"));
  EXPECT_TRUE(looks_like_sitemap(gzipped(set_of("")), "application/octet-stream"));
  EXPECT_TRUE(looks_like_sitemap("<rdf:RDF xmlns='x'>", "application/rdf+xml"));
  EXPECT_TRUE(looks_like_sitemap("http://a.test/1\nhttp://a.test/2\n", "text/plain; charset=utf-8"));
  for (const std::string_view no : {"<!DOCTYPE html><html><urlset>", "<html><body><rss>", "<svg>", "", "<", "<?xml",
                                    "<!-- <urlset>", "plain words", "\x1F\x8B\x08"})
    EXPECT_FALSE(looks_like_sitemap(no, "text/plain")) << no;
  EXPECT_FALSE(looks_like_sitemap("http://a.test/1\nsee http://a.test/2\n", "text/plain"));
  EXPECT_FALSE(looks_like_sitemap("http://a.test/1\n", "text/html"));
  EXPECT_TRUE(looks_like_sitemap("http://a.test/1\n" + std::string(9000, 'x'), "text/plain"))
      << "only whole lines of the first 4 KiB are looked at";
}

TEST(Sitemap, Resolve_AgainstTheSitemapEachOnce) {
  const Result<Url> location = Url::parse("http://a.test/dir/sitemap.xml");
  ASSERT_TRUE(location);
  const SitemapUrls urls = resolve_entries(
      read_sitemap(set_of("<url><loc>/x#f</loc></url><url><loc>http://a.test/x</loc></url><url><loc>www.b.test/y</loc>"
                          "</url><url><loc>mailto:a@b.test</loc></url><url><loc>http://[bad/</loc></url>"),
                   ""),
      *location);
  ASSERT_EQ(urls.urls.size(), 2u);
  EXPECT_EQ(urls.urls[0].text(), "http://a.test/x");
  EXPECT_EQ(urls.urls[1].text(), "http://www.b.test/y");
  EXPECT_EQ(urls.skipped, 2u);
}

TEST(WebDate, W3c_NoteDatetime) {
  const Time day(sys_days{1997y / 7 / 16});
  EXPECT_EQ(parse_w3c_date("1997"), Time(sys_days{1997y / 1 / 1}));
  EXPECT_EQ(parse_w3c_date("1997-07"), Time(sys_days{1997y / 7 / 1}));
  EXPECT_EQ(parse_w3c_date(" 1997-07-16\n"), day);
  EXPECT_EQ(parse_w3c_date("1997-07-16T19:20+01:00"), day + 18h + 20min);
  EXPECT_EQ(parse_w3c_date("1997-07-16T19:20:30-08:00"), day + 27h + 20min + 30s);
  EXPECT_EQ(parse_w3c_date("1997-07-16T19:20:30.45Z"), day + 19h + 20min + 30s);
  EXPECT_EQ(parse_w3c_date("1997-07-16 19:20:30"), day + 19h + 20min + 30s);
  EXPECT_EQ(parse_w3c_date("1997-07-16T19:20:30+0530"), day + 13h + 50min + 30s);
  for (const std::string_view bad : {"", "97", "1997-13-01", "1997-02-30", "1997-07-16T", "1997-07-16T25:00Z",
                                     "1997-07-16T19:20:30+", "1997-07-16x", "19970716", "yesterday"})
    EXPECT_FALSE(parse_w3c_date(bad)) << bad;
}

TEST(WebDate, Rfc5322_AndItsElders) {
  const Time day(sys_days{2017y / 1 / 5});
  EXPECT_EQ(parse_mail_date("Thu, 05 Jan 2017 13:34:51 +0100"), day + 12h + 34min + 51s);
  EXPECT_EQ(parse_mail_date("05 Jan 17 13:34 GMT"), day + 13h + 34min);
  EXPECT_EQ(parse_mail_date("Thursday, 05-Jan-17 13:34:51 PST"), day + 21h + 34min + 51s);
  EXPECT_EQ(parse_mail_date("05 January 1995 00:00:00 Z"), Time(sys_days{1995y / 1 / 5}));
  for (const std::string_view bad :
       {"", "05 Jan 17 13:34:55", "32 Jan 2017 00:00:00 GMT", "05 Foo 2017 00:00:00 GMT", "Thu, 05 Jan 2017"})
    EXPECT_FALSE(parse_mail_date(bad)) << bad;
}

}  // namespace
}  // namespace orbweaver
