// `orbweaver sampleweb`: serves a web made from a seed, and directory trees as hosts, until it is told to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace orbweaver {

struct SampleWebOptions {
  std::uint64_t seed = 1;
  unsigned hosts = 20;    // 0: only the trees
  unsigned pages = 1000;  // of all hosts together
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> trees;        // "HOST=DIRECTORY"
  std::string ready_file;                // the ready line is written there too; empty: nowhere
  bool calm = false;                     // pages only: no errors, slow hosts, traps, redirects
  bool open_trap = false;                // the endless calendar is linked openly
  bool forbidden_trap = false;           // robots.txt disallows it
  unsigned topics = 0;                   // what pages are about
  unsigned failing = 0;                  // of a thousand pages, so many answer 500 to the first request
  std::chrono::milliseconds latency{0};  // added to each answer
};

// Prints one JSON line when it serves ({"ready":true,"port":…,"seeds":[…],"control":…,"resolve":[…]}), then waits for
// SIGTERM, SIGINT or POST /quit. Returns the process's exit code.
int sampleweb_main(SampleWebOptions options);

}  // namespace orbweaver
