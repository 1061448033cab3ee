// The tidy-html5 tree: links, text, title, language, and inputs that tidy must not get.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "node/html/links.h"
#include "node/html/tidy_guard.h"
#include "node/html/visible_text.h"

namespace orbweaver {
namespace {

std::string repeated(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string hrefs(std::string_view page) {
  std::string out;
  for (const PageLink& link : make_tidy_extractor()->extract(page).links) out += (out.empty() ? "" : " ") + link.href;
  return out;
}

TEST(TidyLinks, SameRulesAsTheStream) {
  EXPECT_EQ(
      hrefs("<!DOCTYPE html><head><title>t</title><link rel=next href=n><meta http-equiv=refresh "
            "content='0;url=r'></head>"
            "<body><a href='a?x=1&amp;y=2'>x</a><map name=m><area href=b></map><iframe src=i></iframe><img src=no>"
            "<!-- <a href=no> --><script>'<a href=no>'</script><template><a href=no></a></template></body>"),
      "n r a?x=1&y=2 b i");
  EXPECT_EQ(hrefs("<frameset><frame src=f></frameset>"), "f");
  const PageLinks page = make_tidy_extractor()->extract(
      "<head><base href=/b/><base href=/c/><meta name=robots content=none></head><a rel=nofollow href=x>x</a>");
  EXPECT_EQ(page.base, "/b/");
  EXPECT_TRUE(page.meta_nofollow);
  EXPECT_TRUE(page.meta_noindex);
  ASSERT_EQ(page.links.size(), 1u);
  EXPECT_TRUE(page.links[0].nofollow);
}

TEST(TidyText, VisibleTextFoldedANewlineBetweenBlocks) {
  const PageText page = extract_text(
      "<!DOCTYPE html><html lang=de-CH><head><title> A\n title &amp; more "
      "</title><style>p{}</style></head><body><h1>Head</h1>"
      "<p>One  <b>bold</b>\n word<br>two<p>caf&eacute; "
      "&#8364;<script>no()</script><ul><li>a<li>b</ul><table><tr><td>c<td>d</table>"
      "<template>no</template></body></html>");
  EXPECT_EQ(page.title, "A title & more");
  EXPECT_EQ(page.language, "de-CH");
  EXPECT_EQ(page.text, "Head\nOne bold word\ntwo\ncaf\u00E9 \u20AC\na\nb\nc d");
}

TEST(TidyText, TheTokenizersTextIsTheSameOnOrdinaryPages) {
  for (const char* html :
       {"<!DOCTYPE html><html lang=en><head><title>T</title></head><body><h1>x</h1><p>a <i>b</i> c</p>d</body></html>",
        "<title>T &lt;</title><body><div>a<div>b</div>c</div><pre>d\n  e</pre>", "<p>no title", "",
        "<title></title><p>x<noscript>shown</noscript><textarea>t</textarea>"}) {
    const PageText tidy = extract_text(html);
    const PageText stream = html::extract_text_by_stream(html);
    EXPECT_EQ(tidy.title, stream.title) << html;
    EXPECT_EQ(tidy.language, stream.language) << html;
    EXPECT_EQ(tidy.text, stream.text) << html;
  }
}

TEST(TidyText, MalformedInputGivesSomething) {
  EXPECT_EQ(extract_text("").text, "");
  EXPECT_EQ(extract_text("plain").text, "plain");
  EXPECT_EQ(extract_text("<p>a<unknown-element>b</unknown-element><foo>c</foo>").text.substr(0, 1), "a");
  EXPECT_NE(extract_text("x\xFF\xFE y").text, "");
}

TEST(TidyGuard, FiftyThousandNestedTagsGoThroughTheTokenizer) {
  for (const char* tag : {"div", "b", "font", "span", "table", "ul", "svg", "x-y", "blockquote", "iframe"}) {
    const std::string page = repeated("<" + std::string(tag) + ">", 50'000) + "<p>deep</p><a href=x>y</a>";
    EXPECT_FALSE(html::tidy_can_take(page)) << tag;
    make_tidy_extractor()->extract(page);
    const bool hides_it = tag == std::string_view("iframe");
    EXPECT_EQ(extract_text(page).text.find("deep") == std::string::npos, hides_it) << tag;
  }
}

TEST(TidyGuard, LongLinesAndManyAttributes) {
  const std::string line = "<a href=x>y</a>" + std::string(10 << 20, 'x');
  EXPECT_FALSE(html::tidy_can_take(line));
  EXPECT_EQ(hrefs(line), "x");
  EXPECT_GT(extract_text(line).text.size(), std::size_t{10} << 20);
  const std::string attributes = "<a " + repeated("x=1 ", 100'000) + "href=x>y</a>";
  EXPECT_FALSE(html::tidy_can_take(attributes));
  EXPECT_EQ(extract_text(attributes).text, "y");
}

TEST(TidyGuard, ManyParagraphsAreNoNesting) {
  EXPECT_TRUE(html::tidy_can_take(repeated("<p>x<br>", 10'000) + repeated("<li>x", 10'000)));
  EXPECT_TRUE(html::tidy_can_take(repeated("<div><span>x</span></div>", 10'000)));
}

TEST(TidyGuard, BoundedMemoryWhereTidyCopiesInlineElementsIntoEveryBlock) {
  const std::string page = repeated("<font color=red><i>", 200) + repeated("<div>x</div>", 20'000) + "<a href=y>z</a>";
  EXPECT_NE(extract_text(page).text, "");
  EXPECT_EQ(hrefs(page), "y");
}

TEST(TidyGuard, ArenaReusesAndGrows) {
  html::TidyArena arena(std::size_t{1} << 20);
  const TidyAllocatorVtbl& memory = *arena.vtbl;
  void* const large = memory.alloc(&arena, 1500);
  memory.free(&arena, large);
  EXPECT_EQ(memory.alloc(&arena, 2048), large);
  // Small blocks are not reused, so that a node that tidy lost track of stays readable.
  void* const small = memory.alloc(&arena, 100);
  memory.free(&arena, small);
  EXPECT_NE(memory.alloc(&arena, 100), small);
  auto* text = static_cast<char*>(memory.realloc(&arena, nullptr, 4));
  for (std::size_t size = 4; size < std::size_t{4} << 20; size *= 2) {
    text[size - 1] = 'z';
    text = static_cast<char*>(memory.realloc(&arena, text, size * 2));
    ASSERT_EQ(text[size - 1], 'z');
  }
}

// Tidy 5.6 loops forever on this page, adding nodes: the arena's bounds end it, and the tokenizer takes over.
TEST(TidyGuard, APageTidyNeverFinishesEndsAtTheBound) {
  const std::string page =
      "text <<tr><li><dl></div></table><table></html><select><<!--<frame><frameset><a "
      "href=x><body></table></ul></html><tr><form><frame>"
      "</i><!--<!--<svg><i>&<title></form></table><svg><p></ul></ul><frameset></"
      "div><h1><b><<center><tr><select><ul><svg></a><head>text "
      "<td><td></script><!--<noframes><table><select></form><b><div><script><frameset>";
  EXPECT_TRUE(html::tidy_can_take(page));
  EXPECT_EQ(extract_text(page).text, html::extract_text_by_stream(page).text);
}

// Tidy 5.6 reads broken markup: it must neither crash nor run away.
TEST(TidyGuard, Property_BrokenMarkupIsSurvived) {
  std::mt19937 random(11);
  constexpr std::string_view pieces[] = {
      "<p>",      "</p>",     "<b>",     "</b>",     "<i>",       "</i>", "<table>",    "<tr>",    "<td>",
      "</table>", "<form>",   "</form>", "<select>", "<option>",  "<ul>", "<li>",       "</ul>",   "<a href=x>",
      "</a>",     "<div>",    "</div>",  "text ",    "<!--",      "-->",  "<frameset>", "<frame>", "<noframes>",
      "<title>",  "</title>", "<body>",  "</html>",  "<svg>",     "<dl>", "<dd>",       "<font>",  "<h1>",
      "</h2>",    "<center>", "<head>",  "<script>", "</script>", "<",    "&"};
  for (int round = 0; round < 300; ++round) {
    std::string page;
    for (int i = 0; i < 60; ++i) page += pieces[random() % std::size(pieces)];
    const PageLinks links = make_tidy_extractor()->extract(page);
    ASSERT_LE(links.links.size(), 100'000u);
    extract_text(page);
  }
}

}  // namespace
}  // namespace orbweaver
