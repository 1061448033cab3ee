#include "node/cli/url_source.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "node/cli/export_command.h"
#include "node/cli/peer_directories.h"
#include "node/crawl/outside_json.h"
#include "node/peer/url_report.h"
#include "node/process/directory_lock.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Rounds in which a peer may stay silent before its URLs count as missing.
constexpr int max_silent_rounds = 3;
// Rounds in a row whose answers did not all find room, since other questions were in flight.
constexpr int max_cut_rounds = 10;
constexpr std::uint64_t progress_every = 16'384;  // records

// Asks all peers of a ring for one part after the other, each for its own. Each round a peer goes on, has ended, or
// counts as silent, whatever it answers: so the rounds end.
class RingReader {
 public:
  RingReader(const PeerTarget& target, const RecordFilter& filter) : target_(&target) { filter.write(question_); }

  Result<UrlsRead> read(const std::function<bool(const json&)>& take,
                        const std::function<void(std::uint64_t)>& progress) {
    const Result<json> first = first_answer();
    if (!first) return tl::make_unexpected(first.error());
    for (json answer = *first;;) {
      const Result<bool> goes_on = take_round(answer, take);
      if (!goes_on) return tl::make_unexpected(goes_on.error());
      progress(read_.looked_at);
      if (!*goes_on || places_.empty()) return std::move(read_);
      json after = json::object();
      for (const auto& [id, place] : places_) after[id] = place.last;
      question_["after"] = std::move(after);
      Result<json> next = ask_peer(*target_, "urls", question_, true);
      if (!next) return tl::make_unexpected(next.error());
      answer = std::move(*next);
    }
  }

 private:
  struct Place {
    std::string last;  // where the peer goes on
    std::string address{};
    int silent = 0;  // rounds
  };

  // Of all peers, if that can be had in a few tries: who is not in it is not asked for more.
  Result<json> first_answer() {
    for (int round = 1;; ++round) {
      Result<json> answer = ask_peer(*target_, "urls", question_, true);
      if (!answer) return answer;
      const json silent = answer->value("unreachable", json::array());
      if (answer->contains("left_out") && round >= max_cut_rounds)
        return fail(ErrorCode::unreachable, "the ring answers too many other questions; try again later");
      if (answer->contains("left_out") || (!silent.empty() && round < max_silent_rounds)) continue;
      for (const json& peer : silent) read_.unreachable.push_back(peer);
      return answer;
    }
  }

  // False: `take` wants no more.
  Result<bool> take_round(const json& answer, const std::function<bool(const json&)>& take) {
    const bool first = !question_.contains("after");
    std::set<std::string> answered;
    for (const json& peer : answer.value("peers", json::array())) {
      const Result<std::string> id = text_field(peer, "id");
      const Result<std::string> last = text_field(peer, "last");
      const Result<std::string> error = text_field(peer, "error");
      for (const auto* field : {&id, &last, &error})
        if (!*field) return tl::make_unexpected(field->error());
      if (!error->empty()) return fail(ErrorCode::io, "peer " + id->substr(0, 8) + ": " + *error);
      const auto place = places_.find(*id);
      if (!first && place == places_.end()) continue;  // it had ended before
      if (!answered.insert(*id).second || (!first && !last->empty() && place->second.last == *last))
        return fail(ErrorCode::io, "peer " + id->substr(0, 8) + " repeats its answer");
      read_.looked_at += peer.value("looked_at", std::uint64_t{0});
      const auto urls = list_field(peer, "urls");
      if (!urls) return tl::make_unexpected(urls.error());
      for (const json& url : *urls)
        if (url.is_object() && !take(url)) return false;
      if (last->empty()) {
        places_.erase(*id);
      } else {
        places_[*id] = {*last, text_field(peer, "address").value_or("")};
      }
    }
    note_silent(answered);
    return true;
  }

  void note_silent(const std::set<std::string>& answered) {
    for (auto at = places_.begin(); at != places_.end();) {
      if (answered.contains(at->first) || ++at->second.silent < max_silent_rounds) {
        ++at;
        continue;
      }
      read_.unreachable.push_back({{"id", at->first}, {"address", at->second.address}});
      at = places_.erase(at);
    }
  }

  const PeerTarget* target_;
  json question_ = json::object();
  std::map<std::string, Place> places_;  // by identity
  UrlsRead read_;
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
