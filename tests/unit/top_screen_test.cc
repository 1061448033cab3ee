// What the keys of `orbweaver top` do, and what its screen shows then.
#include "node/cli/top_screen.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using Key = Screen::Key;

RingView ring_of(std::size_t hosts) {
  RingView view;
  view.ring = "0123456789abcdef";
  view.health = "healthy";
  for (const char* id : {"aaaa", "bbbb"}) {
    PeerView& peer = view.peers.emplace_back();
    peer.id = id;
    peer.queued = id[0] == 'b' ? 9 : 1;
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    HostView& host = view.hosts.emplace_back();
    host.host = "host-" + std::to_string(i) + ".test";
    host.queued = hosts - i;
    host.delay_seconds = 2;
  }
  return view;
}

class TopScreenTest : public testing::Test {
 protected:
  TopScreenTest() { screen_.see(ring_of(30)); }
  TopScreen::Acted press(char letter) { return screen_.press({.key = Key::other, .letter = letter}); }
  TopScreen::Acted press(Key key) { return screen_.press({.key = key}); }
  TopScreen::Page page() { return screen_.page(120, 20); }
  std::string at_cursor() {
    const TopScreen::Page shown = page();
    return shown.cursor ? shown.lines.at(*shown.cursor) : "";
  }

  TopScreen screen_{TopTable::peers};
};

TEST_F(TopScreenTest, ShowsPeersThenHosts) {
  TopScreen::Page shown = page();
  EXPECT_EQ(shown.lines.size(), 20u);
  EXPECT_TRUE(shown.lines[shown.head].starts_with("PEER"));
  EXPECT_FALSE(shown.cursor);
  EXPECT_TRUE(shown.lines.back().starts_with("q ends"));
  press('h');
  shown = page();
  EXPECT_TRUE(shown.lines[shown.head].starts_with("HOST"));
  EXPECT_TRUE(at_cursor().starts_with("host-0.test"));
  EXPECT_TRUE(press('q').ends);
}

TEST_F(TopScreenTest, TheCursorStaysInTheTableAndInSight) {
  press('h');
  press(Key::up);
  EXPECT_TRUE(at_cursor().starts_with("host-0.test"));
  for (int i = 0; i < 100; ++i) {
    press(Key::down);
    EXPECT_TRUE(page().cursor);
  }
  EXPECT_TRUE(at_cursor().starts_with("host-29.test"));
  EXPECT_LT(*page().cursor, 19u);
  press(Key::up);
  EXPECT_TRUE(at_cursor().starts_with("host-28.test"));
  screen_.see(ring_of(2));
  EXPECT_EQ(at_cursor(), "") << "its host is gone";
  EXPECT_FALSE(press(' ').order);
  press(Key::down);
  EXPECT_TRUE(at_cursor().starts_with("host-1.test"));
  screen_.see(ring_of(0));
  EXPECT_FALSE(page().cursor);
  EXPECT_FALSE(press(' ').order);
}

TEST_F(TopScreenTest, OrdersAreForTheHostAtTheCursor) {
  EXPECT_FALSE(press(' ').order) << "no host is shown";
  press('h');
  press(Key::down);
  const auto paused = press(' ').order;
  ASSERT_TRUE(paused);
  EXPECT_EQ(paused->verb, "order");
  EXPECT_EQ(paused->body, (nlohmann::json{{"kind", "pause"}, {"host", "host-1.test"}, {"value", "yes"}}));
  EXPECT_EQ(press('+').order->body["value"], "4000000");
  EXPECT_EQ(press('-').order->body["value"], "1000000");
  EXPECT_EQ(press('=').order->body["value"], "");
  EXPECT_EQ(press('r').order->verb, "retry");
  EXPECT_EQ(press('r').order->body["host"], "host-1.test");
  RingView view = ring_of(2);
  view.hosts[1].state = "paused";
  screen_.see(view);
  EXPECT_EQ(press(' ').order->body["value"], "") << "it goes on";
}

TEST_F(TopScreenTest, TheCursorStaysAtItsHostWhereverThatIsNow) {
  press('h');
  press(Key::down);
  RingView view = ring_of(30);
  std::swap(view.hosts[1], view.hosts[20]);
  screen_.see(view);
  EXPECT_TRUE(at_cursor().starts_with("host-1.test"));
  EXPECT_EQ(press(' ').order->body["host"], "host-1.test");
}

TEST_F(TopScreenTest, AFilterIsTypedAndTakenBack) {
  press('/');
  for (const char letter : std::string("host-1q")) press(letter);
  EXPECT_EQ(page().lines.back(), "/host-1q_");
  press(Key::backspace);
  press(Key::enter);
  EXPECT_TRUE(at_cursor().starts_with("host-1.test"));
  press(Key::down);
  EXPECT_TRUE(at_cursor().starts_with("host-10.test"));
  EXPECT_EQ(press(' ').order->body["host"], "host-10.test");
  EXPECT_NE(page().lines.back().find("only with 'host-1'"), std::string::npos);
  press(Key::escape);
  EXPECT_TRUE(at_cursor().starts_with("host-0.test")) << "the row of the filtered table is another host's";
  EXPECT_EQ(press('q').ends, true);
}

TEST_F(TopScreenTest, ShowsWhyUrlsFailedAndWereExcluded) {
  RingView view = ring_of(1);
  view.outcomes = {{"fetched", "none", 9}, {"failed", "dns", 4}, {"excluded", "robots", 3}, {"failed", "tls", 2}};
  screen_.see(view);
  press('e');
  TopScreen::Page shown = page();
  EXPECT_TRUE(shown.lines[shown.head].starts_with("REASON"));
  EXPECT_TRUE(shown.lines[shown.head + 1].starts_with("dns "));
  EXPECT_TRUE(shown.lines[shown.head + 2].starts_with("tls "));
  EXPECT_EQ(shown.lines[shown.head + 3], "");
  EXPECT_FALSE(shown.cursor) << "no key acts there";
  press('x');
  shown = page();
  EXPECT_TRUE(shown.lines[shown.head + 1].starts_with("robots "));
  EXPECT_FALSE(press(' ').order);
}

TEST_F(TopScreenTest, PeersAreSortedByTheNextColumn) {
  press('s');
  press('s');
  const TopScreen::Page shown = page();
  EXPECT_TRUE(shown.lines[shown.head + 1].starts_with("bbbb")) << "the longest queue";
}

TEST_F(TopScreenTest, NewsStaysUntilTheNextKey) {
  screen_.say("host-1.test is paused; 2 peers know it");
  EXPECT_EQ(page().lines.back(), "host-1.test is paused; 2 peers know it");
  press(Key::none);
  EXPECT_EQ(page().lines.back(), "host-1.test is paused; 2 peers know it");
  press(Key::down);
  EXPECT_TRUE(page().lines.back().starts_with("q ends"));
}

TEST_F(TopScreenTest, FitsAnyTerminal) {
  for (const char table : {'p', 'h', '?'}) {
    press(table);
    for (const std::size_t height : {0u, 1u, 2u, 6u, 9u, 60u})
      for (const std::size_t width : {1u, 10u, 80u, 300u}) {
        const TopScreen::Page shown = screen_.page(width, height);
        EXPECT_EQ(shown.lines.size(), height);
        if (shown.cursor && height > 9) {
          EXPECT_LT(*shown.cursor, height);
        }
      }
  }
}

}  // namespace
}  // namespace orbweaver
