// `orbweaver url`: the report on one URL and the line protocol.
#include "node/tools/url_command.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "node/terminal/json_line.h"

namespace orbweaver {
namespace {

TEST(UrlReport, TellsWhatTheCrawlerMakesOfAUrl) {
  const auto report = url_report("../A?#top", "http://u@WWW.Example.co.uk.:8080/x/y/");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->at("input"), "../A?#top");
  EXPECT_EQ(report->at("href"), "http://u@www.example.co.uk.:8080/x/A?#top");
  EXPECT_EQ(report->at("canonical"), "http://www.example.co.uk:8080/x/A");
  EXPECT_EQ(report->at("scheme"), "http");
  EXPECT_EQ(report->at("host"), "www.example.co.uk");
  EXPECT_EQ(report->at("port"), 8080);
  EXPECT_EQ(report->at("registrable_domain"), "example.co.uk");
  EXPECT_EQ(report->at("surt"), "uk,co,example,www:8080)/x/A");
  EXPECT_EQ(report->at("cdx_key"), "uk,co,example:8080)/x/a");
  // MD5("www.example.co.uk") begins with a58e: its twelve leading bits.
  EXPECT_EQ(report->at("partition"), 0xa58e >> 4);
}

TEST(UrlReport, OtherSchemesAreRefusedWithTheReason) {
  const auto report = url_report("mailto:a@example.com");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->at("href"), "mailto:a@example.com");
  EXPECT_TRUE(report->at("canonical").is_null());
  EXPECT_TRUE(report->at("host").is_null());
  EXPECT_TRUE(report->at("partition").is_null());
  EXPECT_EQ(report->at("refused"), "URL 'mailto:a@example.com': neither http nor https");
}

TEST(UrlReport, WhatIsNoUrlIsAnError) {
  EXPECT_FALSE(url_report("no scheme"));
  EXPECT_FALSE(url_report("a", "no base either"));
  EXPECT_FALSE(url_report("http://h:99999/"));
}

TEST(UrlReport, AnyBytesGiveValidJson) {
  const auto report = url_report("x:\xff\xfe", "http://h/\xff");
  ASSERT_TRUE(report);
  EXPECT_NO_THROW(static_cast<void>(report->dump()));
}

std::string batch(const std::string& input, int expected_exit = 0) {
  std::istringstream in(input);
  std::ostringstream out;
  EXPECT_EQ(url_batch(in, out), expected_exit);
  return out.str();
}

TEST(UrlBatch, OneAnswerForEachLine) {
  EXPECT_EQ(batch(R"({"input": "b#c", "base": "http://h/a"})"
                  "\n"
                  R"({"input": "b", "base": null})"
                  "\n"
                  R"({"input": "http://h"})"),
            R"({"href":"http://h/b#c"})"
            "\n"
            R"({"href":null})"
            "\n"
            R"({"href":"http://h/"})"
            "\n");
  EXPECT_EQ(batch(""), "");
}

TEST(UrlBatch, MalformedLinesAreAnsweredWithAnError) {
  const std::string lines =
      "\nnot json\n[]\n{}\n{\"input\": 1}\n{\"input\": \"http://h/\", \"base\": 1}\n{\"input\": \"\\ud8\"}\n\xff\n";
  const std::string answers = batch(lines, 2);
  std::istringstream in(answers);
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    const auto answer = parse_json(line);
    ASSERT_TRUE(answer) << line;
    EXPECT_TRUE(answer->at("href").is_null());
    EXPECT_TRUE(answer->at("error").is_string());
  }
  EXPECT_EQ(count, 8);
}

TEST(UrlBatch, LinesAreBounded) {
  const std::string answer =
      batch("{\"input\": \"" + std::string(1 << 20, 'a') + "\"}\n{\"input\": \"http://h/\"}\n", 2);
  EXPECT_EQ(answer, "{\"error\":\"the line is too long\",\"href\":null}\n{\"href\":\"http://h/\"}\n");
}

TEST(JsonLine, Encoding_LoneSurrogatesAreReplacementCharacters) {
  const auto text = [](const std::string& json) { return parse_json(json)->get<std::string>(); };
  EXPECT_EQ(text(R"("\ud83d\ude00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(text(R"("\ud800")"), "\xef\xbf\xbd");
  EXPECT_EQ(text(R"("\udfff\ud800")"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(text(R"("\ud800\ud83d\ude00")"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(text(R"("\\ud800")"), "\\ud800");  // an escaped backslash, then letters
  EXPECT_FALSE(parse_json(R"("\u12")"));
  EXPECT_FALSE(parse_json("\\"));
}

}  // namespace
}  // namespace orbweaver
