// orbweaver-sim: simulated rings from seeds.
//
//   orbweaver-sim --seed S              one run: all drawn parameters, the outcome, on failure the last events
//   orbweaver-sim --seed S --seeds N    N runs, one line per failed run, and a summary
//   orbweaver-sim --parameters FILE     one run with the parameters that an earlier run, or --minimize, printed
//   --trace                             with one run: every event
//   --follow URL                        with one run: also where that URL's record is, among the events
//   --minimize                          with one run that fails: the smallest parameters that still fail with the same
//                                       checker, and their event log, in the form that --parameters reads
//   --runs N                            with --minimize: at most N tries [2000]
//   --digests                           with many seeds: one line each, "digest SEED HEX", of all events: two builds
//                                       that print the same digests behave the same
//   --keep-going                        with many seeds: do not stop after ten failures
//   --with KINDS, --without KINDS       kinds of faults and of uncommon work that seeds may be given, separated by
//                                       commas: members, cuts, pauses, skews, disks, disk_gone, deaths, strikes,
//                                       power_cut, mirrors, budgets, recrawls, detours, questions, pieces, killers,
//                                       clocks, reads, late_seeds, long_cuts, late_leaves, archives, loops, moves,
//                                       connections, hand_offs, copies; or all
// Exit code 0: all passed; 1: some failed; 2: a bad argument.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "node/settings/units.h"
#include "tests/sim/minimize.h"
#include "tests/sim/world.h"

namespace {

using namespace orbweaver::sim;

constexpr std::uint64_t failures_shown = 10;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::uint64_t runs = 2000;
  std::string parameters;
  std::string follow;
  FaultKinds kinds;
  bool trace = false;
  bool keep_going = false;
  bool minimize = false;
  bool digests = false;
};

bool read_number(const char* text, std::uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  return error == std::errc() && stopped == end;
}

bool switch_kinds(const std::string& list, bool on, FaultKinds& kinds) {
  const std::map<std::string, bool*> known = {{"members", &kinds.members},
                                              {"cuts", &kinds.cuts},
                                              {"pauses", &kinds.pauses},
                                              {"skews", &kinds.skews},
                                              {"disks", &kinds.disks},
                                              {"disk_gone", &kinds.disk_gone},
                                              {"deaths", &kinds.deaths},
                                              {"strikes", &kinds.strikes},
                                              {"power_cut", &kinds.power_cut},
                                              {"mirrors", &kinds.mirrors},
                                              {"budgets", &kinds.budgets},
                                              {"recrawls", &kinds.recrawls},
                                              {"detours", &kinds.canonical_redirects},
                                              {"questions", &kinds.questions},
                                              {"pieces", &kinds.pieces},
                                              {"killers", &kinds.killers},
                                              {"clocks", &kinds.clocks},
                                              {"reads", &kinds.reads},
                                              {"late_seeds", &kinds.late_seeds},
                                              {"long_cuts", &kinds.long_cuts},
                                              {"late_leaves", &kinds.late_leaves},
                                              {"archives", &kinds.archives},
                                              {"loops", &kinds.loops},
                                              {"moves", &kinds.moves},
                                              {"connections", &kinds.connections},
                                              {"hand_offs", &kinds.hand_offs},
                                              {"orders", &kinds.orders},
                                              {"copies", &kinds.copies}};
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "all") {
      for (const auto& [kind, flag] : known) *flag = on;
    } else if (const auto found = known.find(name); found != known.end()) {
      *found->second = on;
    } else {
      return false;
    }
  }
  return true;
}

bool read(int count, char** arguments, Options& options) {
  const std::map<std::string, bool*> flags = {{"--trace", &options.trace},
                                              {"--keep-going", &options.keep_going},
                                              {"--minimize", &options.minimize},
                                              {"--digests", &options.digests}};
  const std::map<std::string, std::uint64_t*> numbers = {
      {"--seed", &options.seed}, {"--seeds", &options.seeds}, {"--runs", &options.runs}};
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    if (++i == count) return false;
    if (const auto number = numbers.find(name); number != numbers.end()) {
      if (!read_number(arguments[i], *number->second)) return false;
    } else if (name == "--parameters") {
      options.parameters = arguments[i];
    } else if (name == "--follow") {
      options.follow = arguments[i];
    } else if (name == "--with" || name == "--without") {
      if (!switch_kinds(arguments[i], name == "--with", options.kinds)) return false;
    } else {
      return false;
    }
  }
  return options.seeds == 1 || (!options.minimize && options.parameters.empty());
}

unsigned long long wide(std::uint64_t number) { return number; }

void print_stats(const WorldStats& stats) {
  std::printf("steps=%llu messages=%llu bytes=%llu lost=%llu requests=%llu crashes=%llu owners_changed=%llu\n",
              wide(stats.steps), wide(stats.messages), wide(stats.message_bytes), wide(stats.messages_lost),
              wide(stats.requests), wide(stats.crashes), wide(stats.owners_changed));
  for (const auto& [name, times] : stats.faults) std::printf("done: %s, %llu times\n", name.c_str(), wide(times));
  for (const auto& [what, times] : stats.tolerated)
    std::printf("tolerated: %s, %llu times\n", what.c_str(), wide(times));
}

void print_digest(std::uint64_t seed, const World& world) {
  std::printf("digest %llu %016llx\n", wide(seed), wide(world.trace().digest()));
}

int run_one(const Parameters& parameters, const Options& options) {
  std::printf("%s", parameters.text().c_str());
  World world(parameters, options.trace || !options.follow.empty());
  if (!options.follow.empty()) world.follow(options.follow);
  const bool passed = world.run_to_end();
  if (options.trace || !options.follow.empty()) std::printf("%s", world.trace().all().c_str());
  if (!passed && !options.trace)
    for (const std::string& line : world.trace().last()) std::printf("%s\n", line.c_str());
  print_stats(world.stats());
  print_digest(parameters.seed, world);
  std::printf("lines=%llu simulated=%s\n", wide(world.trace().lines()),
              orbweaver::duration_text(world.since_start()).c_str());
  for (const std::string& failure : world.failures())
    std::printf("FAIL seed %llu: %s\n", wide(parameters.seed), failure.c_str());
  if (passed) std::printf("PASS\n");
  return passed ? 0 : 1;
}

int run_minimizer(const Parameters& parameters, const Options& options) {
  const Minimized smallest =
      minimize(parameters, options.runs, [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  if (smallest.failure.empty()) {
    std::printf("PASS: there is nothing to minimize\n");
    return 0;
  }
  // All lines but the parameters are comments, so the output can be read again as it is.
  std::printf("# %s\n%s", smallest.failure.substr(0, smallest.failure.find('\n')).c_str(),
              smallest.parameters.text().c_str());
  std::printf("# the event log, %llu lines, after %llu runs:\n", wide(smallest.lines), wide(smallest.runs));
  std::istringstream log(smallest.log);
  for (std::string line; std::getline(log, line);) std::printf("# %s\n", line.c_str());
  return 1;
}

int run_many(const Options& options) {
  std::uint64_t failed = 0;
  std::uint64_t run = 0;
  std::map<std::string, std::uint64_t> tolerated;
  std::map<std::string, std::uint64_t> done;
  std::uint64_t requests = 0;
  std::uint64_t crashes = 0;
  for (; run < options.seeds && (options.keep_going || failed < failures_shown); ++run) {
    const std::uint64_t seed = options.seed + run;
    World world(Parameters::draw(seed, options.kinds), false);
    if (!world.run_to_end()) {
      ++failed;
      const std::string& failure = world.failures().front();
      std::printf("FAIL seed %llu: %s\n", wide(seed), failure.substr(0, failure.find('\n')).c_str());
      std::fflush(stdout);
    }
    if (options.digests) print_digest(seed, world);
    requests += world.stats().requests;
    crashes += world.stats().crashes;
    for (const auto& [name, times] : world.stats().faults) done[name] += times;
    for (const auto& [what, times] : world.stats().tolerated) tolerated[what] += times;
  }
  for (const auto& [name, times] : done) std::printf("done: %s, %llu times\n", name.c_str(), wide(times));
  for (const auto& [what, times] : tolerated) std::printf("tolerated: %s, %llu times\n", what.c_str(), wide(times));
  std::printf("%s %llu seeds from %llu, %llu failed; %llu requests, %llu crashes\n", failed == 0 ? "PASS" : "FAIL",
              wide(run), wide(options.seed), wide(failed), wide(requests), wide(crashes));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!read(count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: orbweaver-sim --seed S [--seeds N] [--with KINDS] [--without KINDS] [--trace] [--digests] "
                 "[--keep-going]\n"
                 "       orbweaver-sim --seed S | --parameters FILE [--trace] [--minimize [--runs N]]\n");
    return 2;
  }
  if (options.seeds > 1) return run_many(options);
  Parameters parameters = Parameters::draw(options.seed, options.kinds);
  if (!options.parameters.empty()) {
    std::ifstream file(options.parameters);
    std::stringstream text;
    text << file.rdbuf();
    auto read = Parameters::read(text.str());
    if (!file || !read) {
      std::fprintf(stderr, "%s: %s\n", options.parameters.c_str(),
                   read ? "cannot be read" : read.error().message.c_str());
      return 2;
    }
    parameters = std::move(*read);
  }
  return options.minimize ? run_minimizer(parameters, options) : run_one(parameters, options);
}
