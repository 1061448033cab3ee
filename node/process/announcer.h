// What `orbweaver node` prints on its terminal: its addresses, its ring, peers that join and leave, what a leave still
// has to hand over, and why it ends. It is made from the peer's published status, so it contains nothing that
// `orbweaver status` does not show. Pure. Thread rule: one owner (the peer's loop).
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
    std::vector<std::string> join;  // from the setting
  };
  // The lines for the start; `status` is the peer's first.
  std::vector<std::string> start(const Place& place, const nlohmann::json& status, Time now);
  // The changes since the last call, as lines. At most one line of progress per progress_every.
  std::vector<std::string> update(const nlohmann::json& status, Time now);
  static std::string end(int code, const std::string& reason);

  static constexpr Duration progress_every = std::chrono::seconds{2};
  // The wait between two lines that say that no member of the ring answers; the first one comes sooner.
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
