// orbweaver-sim: simulated rings from seeds.
//
//   orbweaver-sim --seed S              one run: every parameter drawn, what came of it, on failure the last events
//   orbweaver-sim --seed S --seeds N    N runs, a line for each that fails, and a summary
//   --trace                             with one seed: every event
//   --keep-going                        with many seeds: do not stop after ten failures
// Exit code 0: all passed.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "tests/sim/world.h"

namespace {

using namespace orbweaver::sim;

constexpr std::uint64_t failures_shown = 10;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  bool trace = false;
  bool keep_going = false;
};

bool read_number(const char* text, std::uint64_t& number) {
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  return error == std::errc() && stopped == end;
}

bool read(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--trace") {
      options.trace = true;
    } else if (name == "--keep-going") {
      options.keep_going = true;
    } else if ((name == "--seed" || name == "--seeds") && i + 1 < count) {
      if (!read_number(arguments[++i], name == "--seed" ? options.seed : options.seeds)) return false;
    } else {
      return false;
    }
  }
  return true;
}

void print_stats(const WorldStats& stats) {
  std::printf("steps=%llu messages=%llu bytes=%llu lost=%llu requests=%llu crashes=%llu owners_changed=%llu\n",
              static_cast<unsigned long long>(stats.steps), static_cast<unsigned long long>(stats.messages),
              static_cast<unsigned long long>(stats.message_bytes),
              static_cast<unsigned long long>(stats.messages_lost), static_cast<unsigned long long>(stats.requests),
              static_cast<unsigned long long>(stats.crashes), static_cast<unsigned long long>(stats.owners_changed));
  for (const auto& [what, times] : stats.tolerated)
    std::printf("tolerated: %s, %llu times\n", what.c_str(), static_cast<unsigned long long>(times));
}

int run_one(const Options& options) {
  const Parameters parameters = Parameters::draw(options.seed);
  std::printf("%s", parameters.text().c_str());
  World world(parameters, options.trace);
  const bool passed = world.run_to_end();
  if (options.trace) std::printf("%s", world.trace().all().c_str());
  if (!passed && !options.trace)
    for (const std::string& line : world.trace().last()) std::printf("%s\n", line.c_str());
  print_stats(world.stats());
  std::printf("digest=%016llx lines=%llu simulated=%s\n", static_cast<unsigned long long>(world.trace().digest()),
              static_cast<unsigned long long>(world.trace().lines()),
              orbweaver::duration_text(world.since_start()).c_str());
  for (const std::string& failure : world.failures())
    std::printf("FAIL seed %llu: %s\n", static_cast<unsigned long long>(options.seed), failure.c_str());
  if (passed) std::printf("PASS\n");
  return passed ? 0 : 1;
}

int run_many(const Options& options) {
  std::uint64_t failed = 0;
  std::uint64_t run = 0;
  std::map<std::string, std::uint64_t> tolerated;
  std::uint64_t requests = 0;
  std::uint64_t crashes = 0;
  for (; run < options.seeds && (options.keep_going || failed < failures_shown); ++run) {
    const std::uint64_t seed = options.seed + run;
    World world(Parameters::draw(seed), false);
    if (!world.run_to_end()) {
      ++failed;
      std::printf("FAIL seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  world.failures().front().substr(0, 400).c_str());
      std::fflush(stdout);
    }
    requests += world.stats().requests;
    crashes += world.stats().crashes;
    for (const auto& [what, times] : world.stats().tolerated) tolerated[what] += times;
  }
  for (const auto& [what, times] : tolerated)
    std::printf("tolerated: %s, %llu times\n", what.c_str(), static_cast<unsigned long long>(times));
  std::printf("%s %llu seeds from %llu, %llu failed; %llu requests, %llu crashes\n", failed == 0 ? "PASS" : "FAIL",
              static_cast<unsigned long long>(run), static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(failed), static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(crashes));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!read(count, arguments, options)) {
    std::fprintf(stderr, "usage: orbweaver-sim --seed S [--seeds N] [--trace] [--keep-going]\n");
    return 2;
  }
  return options.seeds == 1 ? run_one(options) : run_many(options);
}
