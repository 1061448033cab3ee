// A user's command on a body: what comes back, and what bounds it. The commands are those of every Unix.
#include "node/run/user_command.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "node/config/text_command.h"

namespace orbweaver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t enough = 1 << 20;

TEST(UserCommand, InputGoesInAndOutputComesOut) {
  const CommandOutput out = run_user_command({"tr", "a-z", "A-Z"}, "text of a page", 60s, enough);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "TEXT OF A PAGE");
  EXPECT_FALSE(out.truncated);
}

TEST(UserCommand, MoreThanAPipeHoldsGoesBothWaysAtOnce) {
  const std::string body(4 << 20, 'x');
  const CommandOutput out = run_user_command({"cat"}, body, 60s, body.size());
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, body);
}

TEST(UserCommand, InputThatItDoesNotReadIsDropped) {
  const CommandOutput out = run_user_command({"head", "-c", "3"}, std::string(4 << 20, 'x'), 60s, enough);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "xxx");
}

TEST(UserCommand, OutputIsBounded) {
  const CommandOutput out = run_user_command({"yes"}, "", 60s, 1000);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text.size(), 1000u);
  EXPECT_TRUE(out.truncated);
}

TEST(UserCommand, TimeIsBoundedForAllThatItStarted) {
  const CommandOutput out = run_user_command({"sh", "-c", "cat /dev/zero | cat > /dev/null"}, "", 50ms, enough);
  EXPECT_EQ(out.fault, "did not end in time (50ms)");
  EXPECT_EQ(out.text, "");
}

TEST(UserCommand, ClosedOutputIsNotTheEnd) {
  const CommandOutput out = run_user_command({"sh", "-c", "exec >&-; cat /dev/zero > /dev/null"}, "", 50ms, enough);
  EXPECT_EQ(out.fault, "did not end in time (50ms)");
}

TEST(UserCommand, FaultsAreTold) {
  EXPECT_EQ(run_user_command({"sh", "-c", "echo x; exit 3"}, "", 60s, enough).fault, "exit code 3");
  EXPECT_EQ(run_user_command({"sh", "-c", "kill -9 $$"}, "", 60s, enough).fault, "ended by signal 9");
  EXPECT_NE(run_user_command({"/nonexistent/command"}, "", 60s, enough).fault.find("No such file"), std::string::npos);
}

TEST(TextCommand, TypeAndWords) {
  const Result<TextCommand> command = TextCommand::parse("Application/PDF=pdftotext  - -");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->type, "application/pdf");
  EXPECT_EQ(command->arguments, (std::vector<std::string>{"pdftotext", "-", "-"}));
  EXPECT_TRUE(command->takes("application/pdf"));
  EXPECT_FALSE(command->takes("application/pdfx"));
  EXPECT_TRUE(TextCommand::parse("audio/*=x")->takes("audio/ogg"));
  EXPECT_FALSE(TextCommand::parse("audio/*=x")->takes("video/ogg"));
  for (const char* bad : {"", "pdf=x", "application/pdf", "application/pdf=", "application/pdf= ", "/=x"})
    EXPECT_FALSE(TextCommand::parse(bad)) << bad;
}

}  // namespace
}  // namespace orbweaver
