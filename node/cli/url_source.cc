#include "node/cli/url_source.h"

#include <algorithm>
#include <map>

#include "node/cli/export_command.h"
#include "node/cli/peer_directories.h"
#include "node/peer/url_report.h"
#include "node/process/directory_lock.h"
#include "node/terminal/say.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Rounds in which a peer may stay silent before its URLs count as missing.
constexpr int max_silent_rounds = 3;
constexpr std::uint64_t progress_every = 16'384;  // records

// Asks all peers of a ring for one part after the other, each for its own.
class RingReader {
 public:
  RingReader(const PeerTarget& target, const RecordFilter& filter) : target_(&target) { filter.write(question_); }

  Result<UrlsRead> read(const std::function<bool(const json&)>& take,
                        const std::function<void(std::uint64_t)>& progress) {
    UrlsRead read;
    for (;;) {
      const Result<json> answer = ask_peer(*target_, "urls", question_, true);
      if (!answer) return tl::make_unexpected(answer.error());
      if (answer->contains("left_out"))
        return fail(ErrorCode::unreachable, "the ring's answers do not fit into one message; ask fewer peers");
      for (const json& peer : answer->value("peers", json::array())) {
        if (peer.contains("error"))
          return fail(ErrorCode::io, peer.value("address", "a peer") + ": " + peer.value("error", ""));
        note(peer);
        read.looked_at += peer.value("looked_at", std::uint64_t{0});
        for (const json& url : peer.value("urls", json::array()))
          if (!take(url)) return read;
      }
      for (const json& silent : answer->value("unreachable", json::array())) note_silent(silent, read);
      progress(read.looked_at);
      if (places_.empty()) return read;
      question_["after"] = places_;
    }
  }

 private:
  // Where the peer goes on.
  void note(const json& peer) {
    const std::string id = peer.value("id", "");
    const std::string last = peer.value("last", "");
    silent_.erase(id);
    if (last.empty()) {
      places_.erase(id);
    } else {
      places_[id] = last;
    }
  }
  void note_silent(const json& peer, UrlsRead& read) {
    const std::string id = peer.value("id", "");
    const bool begun = places_.contains(id);
    if (question_.contains("after") && !begun) return;  // it was done, or it is named already
    if (begun && ++silent_[id] < max_silent_rounds) return;
    places_.erase(id);
    read.unreachable.push_back(peer);
  }

  const PeerTarget* target_;
  json question_ = json::object();
  std::map<std::string, std::string> places_;
  std::map<std::string, int> silent_;  // rounds, by identity
};

}  // namespace

Result<bool> any_runs(const PeerTarget& target) {
  if (!target.peer.empty()) return true;
  const auto directories = peer_directories(target.directory);
  if (!directories) return tl::make_unexpected(directories.error());
  return std::any_of(directories->begin(), directories->end(),
                     [](const std::string& peer) { return DirectoryLock::holder(peer).has_value(); });
}

Result<UrlsRead> for_each_url(const PeerTarget& target, const RecordFilter& filter,
                              const std::function<bool(const json&)>& take,
                              const std::function<void(std::uint64_t)>& progress) {
  const Result<bool> live = any_runs(target);
  if (!live) return tl::make_unexpected(live.error());
  if (*live) return RingReader(target, filter).read(take, progress);
  UrlsRead read;
  const auto take_record = [&](const storage::UrlRecord& record) {
    if (++read.looked_at % progress_every == 0) progress(read.looked_at);
    return !filter.takes(record) || take(url_entry(record));
  };
  if (const Result<void> done = for_each_record(target.directory, take_record); !done)
    return tl::make_unexpected(done.error());
  return read;
}

}  // namespace orbweaver
