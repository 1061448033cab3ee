#include "node/cli/support_bundle.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "node/cli/doctor_command.h"
#include "node/cli/doctor_findings.h"
#include "node/cli/peer_directories.h"
#include "node/cli/ring_commands.h"
#include "node/cli/stopped_ring.h"
#include "node/cli/url_source.h"
#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "node/process/peer_file.h"
#include "node/system/clock.h"
#include "node/system/memory_available.h"
#include "node/system/scratch_directory.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"
#include "node/try.h"

namespace orbweaver {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* inside = "orbweaver-support";  // the directory in the archive
// Of each peer's log, from its end.
constexpr std::size_t max_log_bytes = 4u << 20;
constexpr std::size_t max_summary_bytes = 64u << 20;

struct Options {
  PeerTarget target;
  std::string file;
  bool no_logs = false;
};

Result<void> write(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (error || !file) return fail(ErrorCode::io, "cannot write " + path.string() + ": is the disk full?");
  return {};
}

Result<void> write(const fs::path& path, const json& value) {
  return write(path, value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

// The last bytes of a regular file, from the beginning of a line on; a link is not followed. Nothing: there is no such
// file.
std::optional<std::string> tail_of(const fs::path& path, std::size_t most) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat status {};
  std::string text;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
    const auto size = static_cast<std::size_t>(status.st_size);
    const std::size_t start = size > most ? size - most : 0;
    text.resize(size - start);
    const ssize_t got = ::pread(file, text.data(), text.size(), static_cast<off_t>(start));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (start > 0) text.erase(0, text.find('\n') + 1);
  }
  ::close(file);
  return text;
}

// The newest of the logs that were full, then the one that is written.
std::string logs_of(const fs::path& directory) {
  std::set<fs::path> full;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with("peer.") && at->path().filename() != "peer.log")
      full.insert(at->path());
  std::string text = full.empty() ? std::string() : tail_of(*full.rbegin(), max_log_bytes).value_or("");
  return text + tail_of(directory / "peer.log", max_log_bytes).value_or("");
}

json libraries() {
  std::set<std::string> names;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.rfind('/');
    if (slash != std::string::npos && line.find(".so", slash) != std::string::npos)
      names.insert(line.substr(slash + 1));
  }
  return names;
}

json about() {
  utsname system{};
  ::uname(&system);
  return {{"version", ORBWEAVER_VERSION},
          {"made", utc(Clock().now())},
          {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine},
          {"processors", std::thread::hardware_concurrency()},
          {"memory_bytes", memory_of_machine()},
          {"libraries", libraries()}};
}

// The ring's answer, or that of the directories where no peer runs; what is missing, and why, goes into the account.
Result<void> add_answer(const PeerTarget& target, const std::string& verb, const fs::path& path, json& missing) {
  const Result<bool> runs = any_runs(target);
  const Result<json> answer = !runs.value_or(false) ? ask_stopped(target.directory, verb, json::object())
                                                    : ask_peer(target, verb, json::object(), true);
  if (answer) return write(path, *answer);
  missing[path.filename().string()] = answer.error().message;
  return {};
}

Result<void> add_doctor(const PeerTarget& target, const fs::path& path, json& missing) {
  Findings findings;
  try {
    look_at_all(target, findings);
  } catch (const json::exception& cause) {  // a peer's answer has another form than expected
    missing[path.filename().string()] = cause.what();
  }
  return write(path, json{{"checks", findings.to_json()}});
}

Result<void> add_directories(const Options& options, const fs::path& root) {
  const auto directories = possible_peer_directories(options.target.directory);
  for (const std::string& directory : directories.value_or(std::vector<std::string>())) {
    if (!read_peer_file(directory)) continue;
    std::error_code error;
    const fs::path from = fs::weakly_canonical(directory, error);
    const fs::path to = root / "peers" / from.filename();
    if (const auto text = tail_of(from / "peer.json", max_log_bytes)) ORBWEAVER_TRY(write(to / "peer.json", *text));
    if (const std::string text = options.no_logs ? "" : logs_of(from / "log"); !text.empty())
      ORBWEAVER_TRY(write(to / "peer.log", text));
  }
  const fs::path summary = fs::path(options.target.directory) / "summary.json";
  if (const auto text = tail_of(summary, max_summary_bytes); text && !options.no_logs)
    ORBWEAVER_TRY(write(root / "summary.json", *text));
  return {};
}

Result<void> gather(const Options& options, const fs::path& root) {
  json told = about();
  json missing = json::object();
  ORBWEAVER_TRY(add_answer(options.target, "status", root / "status.json", missing));
  ORBWEAVER_TRY(add_answer(options.target, "settings", root / "settings.json", missing));
  ORBWEAVER_TRY(add_doctor(options.target, root / "doctor.json", missing));
  ORBWEAVER_TRY(add_directories(options, root));
  told["missing"] = std::move(missing);
  return write(root / "about.json", told);
}

// tar writes to its standard output: so it takes no name for an option or another machine.
Result<void> pack(const fs::path& from, int to) {
  const std::string directory = from.string();
  std::vector<const char*> words = {"tar", "-C", directory.c_str(), "-czf", "-", inside, nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "tar", &actions, nullptr, const_cast<char* const*>(words.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(ErrorCode::io, "cannot run tar: " + std::string(std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorCode::io, "tar failed: is the disk full?");
  return {};
}

Result<void> make_bundle(const Options& options) {
  const auto workplace = ScratchDirectory::make("", "orbweaver-support");
  if (!workplace) return tl::make_unexpected(workplace.error());
  // Nobody else may read it, from its first byte on.
  const int file = ::open(options.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == EEXIST)
    return fail(ErrorCode::invalid_input, options.file + " exists: name another file with --file");
  if (file < 0) return fail(ErrorCode::io, "cannot write " + options.file + ": " + std::strerror(errno));
  Result<void> made = gather(options, fs::path((*workplace)->path()) / inside);
  if (made) made = pack((*workplace)->path(), file);
  if (::close(file) != 0 && made) made = fail(ErrorCode::io, "cannot write " + options.file + ": is the disk full?");
  if (!made) ::unlink(options.file.c_str());
  return made;
}

int support_bundle(Options options) {
  if (options.file.empty()) {
    std::string now = utc(Clock().now());
    std::erase_if(now, [](char c) { return c == '-' || c == ':'; });
    options.file = std::string(inside) + "-" + now + ".tar.gz";
  }
  if (const Result<void> made = make_bundle(options); !made) return failed(made.error());
  say("%s\n", options.file.c_str());
  return 0;
}

}  // namespace

void add_support_bundle_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("support-bundle", "puts what a helper wants to know of a ring into one file, without secrets");
  add_target_options(*command, options->target);
  command->add_option("--file", options->file, "the file to write; without it one in this directory, named by the time")
      ->type_name("FILE");
  command->add_flag("--no-logs", options->no_logs, "without the peers' logs and the crawl's summary, which name URLs");
  command->callback([options, &code] { code = support_bundle(*options); });
}

}  // namespace orbweaver
