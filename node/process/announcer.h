// What `orbweaver node` says on its terminal: where it listens, which ring it is in, which peers come and go, what a
// leave still has to hand over, why it ends. Made from the peer's published status, so it says nothing that `orbweaver
// status` does not. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class Announcer {
 public:
  struct Place {
    std::string address;         // for other peers
    std::string status_address;  // "http://…"; empty: none
    std::string directory;
    std::vector<std::string> join;  // of the setting
  };
  // The lines for the start; `status` is the peer's first.
  std::vector<std::string> start(const Place& place, const nlohmann::json& status, Time now);
  // What has changed since the last call. At most one line of progress every progress_every.
  std::vector<std::string> update(const nlohmann::json& status, Time now);
  static std::string end(int code, const std::string& reason);

  static constexpr Duration progress_every = std::chrono::seconds{2};
  // Between the lines that no member of the ring answers; the first comes sooner.
  static constexpr Duration silence_first = std::chrono::seconds{5};
  static constexpr Duration silence_every = std::chrono::seconds{20};

 private:
  void note_members(const nlohmann::json& status);
  void note_ring(const nlohmann::json& status, std::vector<std::string>& lines);
  void note_silence(Time now, std::vector<std::string>& lines);
  void note_leave(const nlohmann::json& status, Time now, std::vector<std::string>& lines);

  Place place_;
  std::string ring_;
  std::map<std::string, std::string> states_;  // of the other members, by id
  Time next_progress_{};
  Time next_silence_{};
  bool leaving_ = false;
};

}  // namespace orbweaver
