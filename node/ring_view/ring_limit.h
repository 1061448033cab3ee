// What holds a ring's crawl back, in one sentence. Made from the ring's answer to "status" (node/peer/peer_status.cc,
// "limit"), better from two: then it is what held it back in between, and the processors' use is known. Pure. Thread
// rule: a value.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace orbweaver {

// Of one peer.
struct PeerLimit {
  std::string by;                        // node/scheduling/fetch_limit.h, or "processor", or "memory"
  std::map<std::string, double> shares;  // of the time in between, by what limited it; 0 to 1
  // Processors in use, and the use of the thread that decides what is fetched (0 to 1); nothing: one answer only.
  std::optional<double> processors, loop;
};
// `before`: the same peer's part of an earlier answer; null: there is none.
PeerLimit peer_limit(const nlohmann::json* before, const nlohmann::json& now);

struct RingLimit {
  std::string by;
  std::string text;
};
RingLimit ring_limit(const nlohmann::json* before, const nlohmann::json& now);

// The peers' parts of a ring's answer that are objects; they live as long as it. What a member says is not trusted to
// have the right types.
std::vector<const nlohmann::json*> parts_of(const nlohmann::json& status);
// The same by id; of no answer (null): none.
std::map<std::string, const nlohmann::json*> parts_by_id(const nlohmann::json* status);
// Seconds between two parts of one peer, by its own clock; nothing: it has started again, or the clock says nonsense.
std::optional<double> seconds_between(const nlohmann::json& before, const nlohmann::json& now);
// A number deep in an object, by its path ("/a/b"); 0: there is none.
double number_at(const nlohmann::json& object, const char* path);
// A field of an object; empty: it has none that is a text.
std::string text_at(const nlohmann::json& object, const char* name);

}  // namespace orbweaver
