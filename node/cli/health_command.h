// `orbweaver health`: whether a ring is well, in one word and an exit code. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace orbweaver {

// Exit code of a ring that is not healthy.
inline constexpr int not_healthy = 10;

// "peer 01234567 at HOST:PORT", of a peer's or member's answer.
std::string peer_words(const nlohmann::json& peer);

struct Health {
  std::vector<std::string> broken;    // what does not pass by itself, or may lose data
  std::vector<std::string> settling;  // what the ring is about to have done
  std::size_t peers = 0;

  std::string_view word() const { return !broken.empty() ? "unhealthy" : settling.empty() ? "healthy" : "settling"; }
};

// Of the ring's answer to `status`. A ring is healthy when every peer answers and may fetch, every partition is held
// and has its copies, and every URL is accounted for.
Health health_of(const nlohmann::json& status);

void add_health_command(CLI::App& app, int& code);

}  // namespace orbweaver
