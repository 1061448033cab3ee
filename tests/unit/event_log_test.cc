// What has happened, for people: bounded, and not to be flooded by strangers.
#include "node/crawl/event_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace orbweaver {
namespace {

LogEntry line(std::string_view event, LogLevel level = LogLevel::info, bool limited = false) {
  return {level, "ring", event, {{"peer", "ab"}}, limited};
}

TEST(EventLog, GoesOnWhereItsReaderWas) {
  EventLog log;
  log.note(Time{}, line("first"));
  log.note(Time{}, line("second", LogLevel::warning));
  const nlohmann::json all = log.after(0, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["number"], 1);
  EXPECT_EQ(all[1]["level"], "warning");
  EXPECT_EQ(all[1]["fields"], (nlohmann::json{{"peer", "ab"}}));
  EXPECT_EQ(log.after(1, 10).size(), 1u);
  EXPECT_EQ(log.after(0, 1)[0]["event"], "first");
  EXPECT_TRUE(log.after(2, 10).empty());
}

TEST(EventLog, WhatStrangersCanCauseAndWhatIsForDebuggingIsLeftOut) {
  EventLog log;
  log.note(Time{}, line("malformed message", LogLevel::warning, true));
  log.note(Time{}, line("detail", LogLevel::debug));
  EXPECT_EQ(log.size(), 0u);
  EXPECT_EQ(log.last(), 0u);
}

TEST(EventLog, IsBounded) {
  EventLog log;
  for (std::size_t i = 0; i < EventLog::max_events + 10; ++i)
    log.note(Time{}, {LogLevel::info, "ring", "many", {{"cause", std::string(10'000, 'x')}}, false});
  EXPECT_EQ(log.size(), EventLog::max_events);
  EXPECT_EQ(log.last(), EventLog::max_events + 10);
  const nlohmann::json first = log.after(0, 1)[0];
  EXPECT_EQ(first["number"], 11);
  EXPECT_EQ(first["fields"]["cause"].get<std::string>().size(), EventLog::max_value_bytes);
}

}  // namespace
}  // namespace orbweaver
