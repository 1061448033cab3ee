// For tests/bench/robots: the time for parsing robots.txt files and judging URLs. Standard input: the JSON lines of
// `orbweaver robots --batch`. Output: one JSON line {"files", "parse_ns" (per file), "decisions", "decide_ns" (per
// decision), "allowed" (how many)}; each time is the best of some rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/robots/robots.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Probe {
  std::size_t file = 0;
  std::string agent;
  std::string path;
};

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

}  // namespace

int main() {
  constexpr int rounds = 5;
  std::vector<std::string> files;
  std::vector<Probe> probes;
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = nlohmann::json::parse(line);
    if (request.contains("robots")) files.push_back(request["robots"].get<std::string>());
    probes.push_back({files.size() - 1, request.at("agent"), request.at("path")});
  }
  double parse = std::numeric_limits<double>::max();
  double decide = parse;
  std::size_t allowed = 0;
  std::size_t parsed = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<orbweaver::RobotsRules> rules;
    std::vector<std::size_t> rules_of;
    const auto begun = Clock::now();
    for (std::size_t i = 0; i < probes.size(); ++i) {
      if (i == 0 || probes[i].file != probes[i - 1].file || probes[i].agent != probes[i - 1].agent)
        rules.push_back(orbweaver::RobotsRules::parse(files[probes[i].file], probes[i].agent));
      rules_of.push_back(rules.size() - 1);
    }
    const auto between = Clock::now();
    allowed = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) allowed += rules[rules_of[i]].allowed(probes[i].path) ? 1 : 0;
    const auto ended = Clock::now();
    parsed = rules.size();
    parse = std::min(parse, nanoseconds(between - begun) / static_cast<double>(rules.size()));
    decide = std::min(decide, nanoseconds(ended - between) / static_cast<double>(probes.size()));
  }
  std::cout << nlohmann::json{{"files", parsed},
                              {"parse_ns", parse},
                              {"decisions", probes.size()},
                              {"decide_ns", decide},
                              {"allowed", allowed}}
            << "\n";
  return 0;
}
