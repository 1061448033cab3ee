// What a command asks a ring for a snapshot, and what it makes of the answers: the conductor of the phases that
// node/peer/snapshot_desk.h lists. Each question goes to the whole ring through one peer. Pure: the command and the
// simulator ask. Thread rule: one owner.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "node/base.h"
#include "node/snapshot/manifest.h"

namespace orbweaver {

class SnapshotTalk {
 public:
  enum class Next : std::uint8_t {
    ask,   // question() at once
    wait,  // question() in a moment
    done,  // manifest() is complete; question() tells the peers so, and its answer does not matter
  };

  // `snapshot`: 32 hexadecimal digits. `partial`: members may be missing, however many copies there are.
  SnapshotTalk(std::string snapshot, bool partial) : partial_(partial) { manifest_.snapshot = std::move(snapshot); }

  nlohmann::json question() const;
  // The ring's answer to the last question. An error: there is no snapshot, and question() tells the peers so.
  Result<Next> take(const nlohmann::json& answer);
  const Manifest& manifest() const { return manifest_; }

 private:
  enum class Phase : std::uint8_t { hold, save, look, end };
  Result<Next> take_held(const nlohmann::json& answer);
  Result<Next> take_saving(const nlohmann::json& answer);
  Result<Next> take_looks(const nlohmann::json& answer);
  Result<void> enough() const;
  Result<void> lost(const std::string& id);
  tl::unexpected<Error> give_up(ErrorCode code, std::string why);

  bool partial_;
  Phase phase_ = Phase::hold;
  std::map<std::string, std::string> held_;      // by identity: the address
  std::map<std::string, std::uint32_t> silent_;  // questions in a row that it did not answer
  std::set<std::string> listed_;
  Manifest manifest_;
};

}  // namespace orbweaver
