// A user's command on a body: its result, and its limits. The commands are those of every Unix.
#include "node/process/user_command.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include "node/settings/text_command.h"
#include "node/system/process_tree.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t enough = 1 << 20;
constexpr CommandLimits usual{.timeout = 60s, .max_output_bytes = enough, .memory_bytes = std::uint64_t{1} << 30};

CommandLimits within(Duration timeout) {
  CommandLimits limits = usual;
  limits.timeout = timeout;
  return limits;
}

// With separate namespaces where this machine allows them, and without.
class UserCommand : public testing::TestWithParam<UserCommands::Namespaces> {
 protected:
  CommandOutput run(const std::vector<std::string>& arguments, std::string_view input = {},
                    const CommandLimits& limits = usual) {
    return commands_.run(arguments, input, limits);
  }
  CommandOutput shell(const std::string& script, const CommandLimits& limits = usual) {
    return run({"sh", "-c", script}, {}, limits);
  }
  // reported(): prints all but refusals with EPERM. call(): a system call by its number; returns its errno, or 0.
  CommandOutput python(const std::string& script) {
    return run({"python3", "-c", R"(
import ctypes, errno, fcntl, mmap, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    return 0 if libc.syscall(ctypes.c_long(number), *arguments) >= 0 else ctypes.get_errno()
def check(number):
    if number: raise OSError(number, os.strerror(number))
def reported(what, act):
    try: print(what, 'is done:', act())
    except OSError as error:
        if error.errno != errno.EPERM: print(what, error)
)" + script});
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
  limits.max_output_bytes = body.size();
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
  limits.max_output_bytes = 1000;
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
  // In its own namespace the command is the first process, which its own signals do not reach.
  EXPECT_EQ(shell("sh -c 'kill -9 $$'; exit $?").fault, "exit code 137");
  EXPECT_EQ(shell("ulimit -t 1; while :; do :; done").fault, "ended by signal 9");
  EXPECT_NE(run({"/nonexistent/command"}).fault.find("No such file"), std::string::npos);
  EXPECT_NE(run({"nonexistent-command"}).fault.find("No such file"), std::string::npos);
  EXPECT_NE(run({"/etc/passwd"}).fault.find("Permission denied"), std::string::npos);
}

// Review, finding 12: what an attacked command could reach of the peer, item by item.
TEST_P(UserCommand, TheEnvironmentIsSixVariables) {
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

TEST_P(UserCommand, NoDescriptorOfThePeerIsInherited) {
  const test::TempDir directory;
  const int log = ::open(directory.file("peer.log").c_str(), O_WRONLY | O_CREAT, 0600);  // not close-on-exec
  const int far_away = ::fcntl(log, F_DUPFD, 700);
  ASSERT_GE(far_away, 700);
  const CommandOutput out = shell("for fd in /proc/self/fd/*; do test -e $fd && echo ${fd##*/}; done; true");
  ::close(log);
  ::close(far_away);
  EXPECT_EQ(out.fault, "");
  // The shell's own: 0, 1, 2, and the one for reading the directory.
  EXPECT_EQ(out.text.substr(0, 6), "0\n1\n2\n");
  EXPECT_LE(out.text.size(), 9u) << out.text;
}

TEST_P(UserCommand, ADaemonInASessionOfItsOwnDoesNotOutliveIt) {
  const std::string word = "31415926." + std::to_string(::getpid());
  // A process left behind by a parent that ended, twice over: while the command continues, and when it ends by itself.
  for (const char* last : {"", "; cat /dev/zero >/dev/null"}) {
    const std::string daemon = "(setsid sh -c 'sleep " + word + " & sleep " + word + "' </dev/null >/dev/null 2>&1 &)";
    const CommandOutput out = shell(daemon + "; sleep 0.3" + last, within(*last == '\0' ? 60s : 1s));
    EXPECT_EQ(out.fault, *last == '\0' ? "" : "did not end in time (1s)");
    EXPECT_FALSE(runs(word));
  }
}

// Killed at any moment of the start, a peer leaves none of its commands behind.
TEST_P(UserCommand, OneThatIsBeingStartedDoesNotOutliveItsPeer) {
  const std::string word = "27182818." + std::to_string(::getpid());
  for (int round = 0; round < 300; ++round) {
    const pid_t peer = ::fork();
    ASSERT_GE(peer, 0);
    if (peer == 0) {
      run({"sleep", word});
      ::_exit(0);
    }
    for (int i = 0; i < 100 * round; ++i) static_cast<void>(::getppid());  // up to some milliseconds
    ASSERT_EQ(::kill(peer, SIGKILL), 0);
    ASSERT_EQ(::waitpid(peer, nullptr, 0), peer);
  }
  for (int tries = 0; tries < 2000 && runs(word);) ++tries;
  EXPECT_FALSE(runs(word));
}

TEST_P(UserCommand, OneCommandsEndIsNotAnothersEnd) {
  CommandOutput longer;
  std::thread other([&] { longer = shell("(sleep 1; echo orphan) & sleep 1.2; echo done"); });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(shell("echo x").text, "x\n");
  other.join();
  EXPECT_EQ(longer.fault, "");
  EXPECT_EQ(longer.text, "orphan\ndone\n");
}

TEST_P(UserCommand, OneThatTakesTooMuchMemoryEnds) {
  CommandLimits limits = usual;
  limits.memory_bytes = 64 << 20;
  const std::string hog = "head -c 200000000 /dev/zero | tail -c 199999999 | wc -c";
  EXPECT_EQ(shell(hog).text, "199999999\n");
  EXPECT_EQ(shell(hog, limits).text.find("199999999"), std::string::npos);
}

TEST_P(UserCommand, NothingIsWritten) {
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
  // FSIZE 0, with or without Landlock: no file grows.
  EXPECT_EQ(text.find("more"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory.file("new")) && std::filesystem::file_size(directory.file("new")) > 0);
}

TEST_P(UserCommand, RightsAndSession) {
  const CommandOutput out = shell("grep -E '^(NoNewPrivs|CapEff):' /proc/self/status; ulimit -c; ulimit -f; ulimit -n");
  EXPECT_EQ(out.fault, "");
  EXPECT_NE(out.text.find("NoNewPrivs:\t1\n"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("0\n0\n64\n"), std::string::npos) << out.text;
}

TEST_P(UserCommand, ThereIsNoNetwork) {
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
  EXPECT_EQ(out.text, "");
  EXPECT_NE(out.fault, "");
}

// Second review, finding 1: the rest of the outside world that could still be reached.
TEST_P(UserCommand, NoSocketOfAnyFamily) {
  const test::TempDir directory;
  const int service = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory.file("service");
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(service, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(service, 8), 0);
  const CommandOutput out = python(R"(
for family in range(46):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET:
        reported('%d %d' % (family, kind), lambda: socket.socket(family, kind, 0))
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
a.send(b'by a pair'); print(b.recv(99).decode())
reported('connect', lambda: a.connect(')" +
                                   path +
                                   R"('))
reported('bind', lambda: a.bind(')" +
                                   path +
                                   R"(2'))
reported('sendto', lambda: a.sendto(b'x', ')" +
                                   path + R"('))
# sendmsg() would name another socket, which a filter cannot see.
reported('pair', lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
reported('pair', lambda: socket.socketpair(30, socket.SOCK_STREAM))
)");
  EXPECT_EQ(::recv(service, nullptr, 0, MSG_DONTWAIT), -1);
  ::close(service);
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "by a pair\n") << "all else: EPERM";
}

TEST_P(UserCommand, WhatIsSaidOfAFileStays) {
  const test::TempDir directory;
  const std::string file = directory.file("tool");
  const std::string place = directory.file("place");
  std::ofstream(file) << "as it was";
  std::filesystem::create_directory(place);
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(place.c_str(), 0700), 0);
  struct stat before {};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  const CommandOutput out = python("file, place = '" + file + "', '" + place + R"('
opened = os.open(file, os.O_RDONLY)
here = os.open(place, os.O_RDONLY)
reported('chmod', lambda: os.chmod(file, 0o4755))
reported('fchmod', lambda: os.fchmod(opened, 0o4755))
reported('fchmodat', lambda: os.chmod('.', 0o777, dir_fd=here))
reported('chown', lambda: os.chown(file, os.getuid(), os.getgid()))
reported('lchown', lambda: os.lchown(file, os.getuid(), os.getgid()))
reported('fchown', lambda: os.fchown(opened, os.getuid(), os.getgid()))
reported('utime', lambda: os.utime(file, (1, 1)))
reported('futime', lambda: os.utime(opened, (1, 1)))
reported('setxattr', lambda: os.setxattr(file, 'user.a', b'1'))
reported('fsetxattr', lambda: os.setxattr(opened, 'user.a', b'1'))
reported('removexattr', lambda: os.removexattr(file, 'user.a'))
reported('truncate', lambda: os.truncate(file, 0))
reported('open', lambda: os.open(file, os.O_RDONLY | os.O_TRUNC))
reported('open', lambda: os.open(file, 3 | os.O_TRUNC))
reported('rename', lambda: os.rename(file, file + '2'))
reported('unlink', lambda: os.unlink(file))
reported('link', lambda: os.link(file, file + '2'))
reported('mkdir', lambda: os.mkdir(place + '/made'))
reported('FS_IOC_SETFLAGS', lambda: fcntl.ioctl(opened, 0x40086602, (0x40).to_bytes(8, sys.byteorder)))
# What this release does not know is not there: fchmodat2, setxattrat, removexattrat, file_setattr.
for number in 452, 463, 466, 469:
    print('%d:' % number, call(number, -100, file.encode(), 0o4755, 0))
)");
  EXPECT_EQ(out.fault, "");
  const std::string enosys = std::to_string(ENOSYS);
  EXPECT_EQ(out.text, "452: " + enosys + "\n463: " + enosys + "\n466: " + enosys + "\n469: " + enosys + "\n");
  struct stat after {};
  ASSERT_EQ(::stat(file.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(after.st_ctim.tv_nsec, before.st_ctim.tv_nsec) << "something of it was changed";
  ASSERT_EQ(::stat(place.c_str(), &after), 0);
  EXPECT_EQ(after.st_mode & 07777U, 0700U);
}

TEST_P(UserCommand, NoWayIntoOtherProcessesAndTheKernel) {
  // By number, because Python has no names for them. All are refused whatever their arguments are.
  std::string calls;
  const auto add = [&calls](const char* name, long number) {
    calls += "    ('" + std::string(name) + "', " + std::to_string(number) + "),\n";
  };
  add("ptrace", SYS_ptrace);
  add("process_vm_readv", SYS_process_vm_readv);
  add("process_vm_writev", SYS_process_vm_writev);
  add("add_key", SYS_add_key);
  add("request_key", SYS_request_key);
  add("keyctl", SYS_keyctl);
  add("io_uring_setup", SYS_io_uring_setup);
  add("io_uring_enter", SYS_io_uring_enter);
  add("io_uring_register", SYS_io_uring_register);
  add("mount", SYS_mount);
  add("umount2", SYS_umount2);
  add("move_mount", SYS_move_mount);
  add("fsopen", SYS_fsopen);
  add("unshare", SYS_unshare);
  add("setns", SYS_setns);
  add("bpf", SYS_bpf);
  add("userfaultfd", SYS_userfaultfd);
  add("perf_event_open", SYS_perf_event_open);
  add("shmget", SYS_shmget);
  add("msgget", SYS_msgget);
  add("mq_open", SYS_mq_open);
  const CommandOutput out = python("calls = (\n" + calls + R"()
for name, number in calls:
    reported(name, lambda: check(call(number, 0, 0, 0, 0, 0)))
reported('clone', lambda: check(call()" +
                                   std::to_string(SYS_clone) +
                                   R"(, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)))
)");
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "");
}

#if defined(__x86_64__)
TEST_P(UserCommand, CallsOfOtherArchitecturesEndIt) {
  const std::string killed = "ended by signal " + std::to_string(SIGSYS);
  // mov eax, 20; int 0x80; ret: getpid() of i386.
  EXPECT_EQ(python(R"(
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
print('lived'))")
                .fault,
            killed);
  EXPECT_EQ(python("call(0x40000000 | 39); print('lived')").fault, killed) << "getpid() of x32";
}
#endif

TEST_P(UserCommand, NoOtherProcessIsSeen) {
  if (GetParam() == UserCommands::Namespaces::never ||
      std::system("unshare --user --map-root-user --pid --mount --fork sh -c 'mount -t proc proc /proc' 2>/dev/null") !=
          0)
    GTEST_SKIP() << "a /proc of one's own is not to be had here";
  const CommandOutput out = shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; cd /proc; echo [0-9]*");
  EXPECT_EQ(out.text.find("user_command_test"), std::string::npos);
  EXPECT_EQ(out.text.substr(out.text.find('\n')), "\n1\n");
}

TEST_P(UserCommand, UsualProgramsWork) {
  EXPECT_EQ(
      shell("x=$(printf 'b\\na\\n' | sort | tr -d '\\n'); echo $x | cat; cat /etc/passwd >/dev/null && echo read").text,
      "ab\nread\n");
  const CommandOutput out = python(R"(
import subprocess, tempfile, threading, time
print(subprocess.run(['tr', 'a-z', 'A-Z'], input=b'by a child', stdout=subprocess.PIPE, check=True).stdout.decode())
seen = []
threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(seen), os.path.exists('/proc/self/exe'), os.isatty(1), len(os.listdir('/usr')) > 1)
os.close(os.open('/dev/null', os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
with open('/etc/passwd') as f: print(len(f.read()) > 0)
)");
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.text, "BY A CHILD\n[0, 1, 2, 3] True False True\nTrue\n");
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
