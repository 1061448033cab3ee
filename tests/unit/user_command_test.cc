// A user's command on a body: what comes back, and what bounds it. The commands are those of every Unix.
#include "node/run/user_command.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "node/config/text_command.h"
#include "node/run/process_tree.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t enough = 1 << 20;
constexpr CommandLimits usual{.timeout = 60s, .output_bytes_max = enough, .memory_bytes = std::uint64_t{1} << 30};

CommandLimits within(Duration timeout) {
  CommandLimits limits = usual;
  limits.timeout = timeout;
  return limits;
}

// With namespaces of their own where this machine allows them, and without.
class UserCommand : public testing::TestWithParam<UserCommands::Namespaces> {
 protected:
  CommandOutput run(const std::vector<std::string>& arguments, std::string_view input = {},
                    const CommandLimits& limits = usual) {
    return commands_.run(arguments, input, limits);
  }
  CommandOutput shell(const std::string& script, const CommandLimits& limits = usual) {
    return run({"sh", "-c", script}, {}, limits);
  }
  UserCommands commands_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Both, UserCommand,
                         testing::Values(UserCommands::Namespaces::where_allowed, UserCommands::Namespaces::never),
                         [](const auto& chosen) {
                           return chosen.param == UserCommands::Namespaces::never ? "without" : "where_allowed";
                         });

bool runs(const std::string& word) {
  for (const ProcessEntry& process : processes()) {
    std::ifstream file("/proc/" + std::to_string(process.pid) + "/cmdline");
    const std::string line(std::istreambuf_iterator<char>(file), {});
    if (process.state != 'Z' && line.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST_P(UserCommand, InputGoesInAndOutputComesOut) {
  const CommandOutput out = run({"tr", "a-z", "A-Z"}, "text of a page");
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "TEXT OF A PAGE");
  EXPECT_FALSE(out.truncated);
}

TEST_P(UserCommand, MoreThanAPipeHoldsGoesBothWaysAtOnce) {
  const std::string body(4 << 20, 'x');
  CommandLimits limits = usual;
  limits.output_bytes_max = body.size();
  const CommandOutput out = run({"cat"}, body, limits);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, body);
}

TEST_P(UserCommand, InputThatItDoesNotReadIsDropped) {
  const CommandOutput out = run({"head", "-c", "3"}, std::string(4 << 20, 'x'));
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "xxx");
}

TEST_P(UserCommand, OutputIsBounded) {
  CommandLimits limits = usual;
  limits.output_bytes_max = 1000;
  const CommandOutput out = run({"yes"}, "", limits);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text.size(), 1000u);
  EXPECT_TRUE(out.truncated);
}

TEST_P(UserCommand, TimeIsBoundedForAllThatItStarted) {
  const CommandOutput out = shell("cat /dev/zero | cat > /dev/null", within(50ms));
  EXPECT_EQ(out.fault, "did not end in time (50ms)");
  EXPECT_EQ(out.text, "");
}

TEST_P(UserCommand, ClosedOutputIsNotTheEnd) {
  EXPECT_EQ(shell("exec >&-; cat /dev/zero > /dev/null", within(50ms)).fault, "did not end in time (50ms)");
}

TEST_P(UserCommand, FaultsAreTold) {
  EXPECT_EQ(shell("echo x; exit 3").fault, "exit code 3");
  // In a namespace of its own it is the first process, which its own signals do not reach.
  EXPECT_EQ(shell("sh -c 'kill -9 $$'; exit $?").fault, "exit code 137");
  EXPECT_EQ(shell("ulimit -t 1; while :; do :; done").fault, "ended by signal 9");
  EXPECT_NE(run({"/nonexistent/command"}).fault.find("No such file"), std::string::npos);
  EXPECT_NE(run({"nonexistent-command"}).fault.find("No such file"), std::string::npos);
  EXPECT_NE(run({"/etc/passwd"}).fault.find("Permission denied"), std::string::npos);
}

// Review, finding 12: what a reader of hostile bytes had of the peer, each in turn.
TEST_P(UserCommand, Attack12_TheEnvironmentIsSixVariables) {
  ::setenv("MY_SECRET_TOKEN", "hunter2", 1);
  ::setenv("ORBWEAVER_PROXY", "http://u:hunter2@proxy/", 1);
  ::setenv("LANG", "C.UTF-8", 1);
  const CommandOutput out = run({"env"});
  ::unsetenv("MY_SECRET_TOKEN");
  ::unsetenv("ORBWEAVER_PROXY");
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text.find("hunter2"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("LANG=C.UTF-8\n"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("PATH="), std::string::npos) << out.text;
  std::istringstream lines(out.text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(std::string(" PATH HOME LANG LC_ALL LC_CTYPE TZ ").find(" " + line.substr(0, line.find('=')) + " ") !=
                std::string::npos)
        << line;
}

TEST_P(UserCommand, Attack12_NoDescriptorOfThePeerIsInherited) {
  const test::TempDir directory;
  const int log = ::open(directory.file("peer.log").c_str(), O_WRONLY | O_CREAT, 0600);  // not close-on-exec
  const int far_away = ::fcntl(log, F_DUPFD, 700);
  ASSERT_GE(far_away, 700);
  const CommandOutput out = shell("for fd in /proc/self/fd/*; do test -e $fd && echo ${fd##*/}; done; true");
  ::close(log);
  ::close(far_away);
  EXPECT_EQ(out.fault, "");
  // The shell's own: 0, 1, 2, and what it reads the directory with.
  EXPECT_EQ(out.text.substr(0, 6), "0\n1\n2\n");
  EXPECT_LE(out.text.size(), 9u) << out.text;
}

TEST_P(UserCommand, Attack12_ADaemonInASessionOfItsOwnDoesNotOutliveIt) {
  const std::string word = "31415926." + std::to_string(::getpid());
  // Left behind by a parent that ended, twice over, while the command goes on, and when it ends by itself.
  for (const char* last : {"", "; cat /dev/zero >/dev/null"}) {
    const std::string daemon = "(setsid sh -c 'sleep " + word + " & sleep " + word + "' </dev/null >/dev/null 2>&1 &)";
    const CommandOutput out = shell(daemon + "; sleep 0.3" + last, within(*last == '\0' ? 60s : 1s));
    EXPECT_EQ(out.fault, *last == '\0' ? "" : "did not end in time (1s)");
    EXPECT_FALSE(runs(word));
  }
}

TEST_P(UserCommand, Attack12_OneCommandsEndIsNotAnothersEnd) {
  CommandOutput longer;
  std::thread other([&] { longer = shell("(sleep 1; echo orphan) & sleep 1.2; echo done"); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(shell("echo x").text, "x\n");
  other.join();
  EXPECT_EQ(longer.fault, "");
  EXPECT_EQ(longer.text, "orphan\ndone\n");
}

TEST_P(UserCommand, Attack12_OneThatTakesTooMuchMemoryEnds) {
  CommandLimits limits = usual;
  limits.memory_bytes = 64 << 20;
  const std::string hog = "head -c 200000000 /dev/zero | tail -c 199999999 | wc -c";
  EXPECT_EQ(shell(hog).text, "199999999\n");
  EXPECT_EQ(shell(hog, limits).text.find("199999999"), std::string::npos);
}

TEST_P(UserCommand, Attack12_NothingIsWritten) {
  const test::TempDir directory;
  std::ofstream(directory.file("log")) << "as it was";
  const std::string there = directory.file("");
  EXPECT_EQ(shell("echo more > " + there + "log; echo x > " + there + "new; true").fault, "");
  std::ifstream log(directory.file("log"));
  const std::string text(std::istreambuf_iterator<char>(log), {});
  if (ConfinedProcesses::landlock_abi() >= 3) {
    EXPECT_EQ(text, "as it was");
    EXPECT_FALSE(std::filesystem::exists(directory.file("new")));
    EXPECT_NE(shell("mkdir " + there + "made").fault, "");
    EXPECT_NE(shell("rm " + there + "log").fault, "");
  }
  // FSIZE 0, with or without Landlock: nothing grows.
  EXPECT_EQ(text.find("more"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory.file("new")) && std::filesystem::file_size(directory.file("new")) > 0);
}

TEST_P(UserCommand, Attack12_RightsAndSession) {
  const CommandOutput out = shell("grep -E '^(NoNewPrivs|CapEff):' /proc/self/status; ulimit -c; ulimit -f; ulimit -n");
  EXPECT_EQ(out.fault, "");
  EXPECT_NE(out.text.find("NoNewPrivs:\t1\n"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("0\n0\n64\n"), std::string::npos) << out.text;
}

TEST_P(UserCommand, Attack12_ThereIsNoNetwork) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening, 8), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string script = "import socket; socket.create_connection(('127.0.0.1', " +
                             std::to_string(ntohs(address.sin_port)) + "), 5); print('out')";
  const CommandOutput out = run({"python3", "-c", script});
  ::close(listening);
  if (GetParam() == UserCommands::Namespaces::never && ConfinedProcesses::landlock_abi() < 4)
    GTEST_SKIP() << "this kernel's Landlock has no TCP";
  EXPECT_EQ(out.text, "");
  EXPECT_NE(out.fault, "");
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
