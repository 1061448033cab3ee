// Text written by strangers, as it reaches a terminal.
#include "node/text/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace orbweaver {
namespace {

TEST(Printable, EscapesAreShownAndNotObeyed) {
  EXPECT_EQ(printable("\x1b]0;owned\x07 \x1b[31m"), "\\x1b]0;owned\\x07 \\x1b[31m");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\x7f"),
            "\\xc2\\x9b31m\\x7f")
      << "CSI as a C1 control; DEL";
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b"
            "31m")
      << "a byte that is not UTF-8 is C1 in an old terminal";
  EXPECT_EQ(printable("a\r\nb\tc"), "a\\r\\nb\\tc");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj.exe"),
            "\\xe2\\x80\\xae"
            "gpj.exe")
      << "turns the direction of writing";
  EXPECT_EQ(printable("Zürich \"日本\" \\"), "Zürich \"日本\" \\") << "what can be printed is";
}

// PropList.txt of Unicode 15: Bidi_Control.
TEST(Printable, EveryMarkThatTurnsTheDirectionOfWritingIsShown) {
  for (const std::string mark : {"\u061c", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                 "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_TRUE(printable("a" + mark + "b").starts_with("a\\x")) << printable(mark);
    EXPECT_EQ(printable_json("\"" + mark + "\"").find(mark), std::string::npos);
  }
}

TEST(Printable, LinesMayBeKept) {
  std::string out;
  EXPECT_TRUE(append_printable(out, "a\tb\nc\rd\x1b", Escape::none));
  EXPECT_EQ(out, "a\tb\nc\\rd\\x1b");
}

TEST(Printable, JsonStaysTheSameJson) {
  const nlohmann::json value = {{"rule",
                                 "\x1b]0;x\x07\xc2\x9b"
                                 "31m\x7f\xe2\x80\xae Zürich \"\\ \n"}};
  for (const int indent : {-1, 2}) {
    const std::string text = printable_json(value.dump(indent));
    for (const char* bad : {"\x1b", "\x07", "\xc2\x9b", "\x7f", "\xe2\x80\xae"})
      EXPECT_EQ(text.find(bad), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(text), value);
  }
}

}  // namespace
}  // namespace orbweaver
