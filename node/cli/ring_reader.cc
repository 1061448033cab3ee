#include "node/cli/ring_reader.h"

#include <utility>

#include "node/crawl/outside_json.h"

namespace orbweaver {

using nlohmann::json;

namespace {

// Rounds in which a peer may stay silent before its URLs count as missing.
constexpr int max_silent_rounds = 3;
// Rounds in a row whose answers did not all find room, since other questions were in flight.
constexpr int max_cut_rounds = 10;

}  // namespace

Result<UrlsRead> RingReader::read(const std::function<bool(const json&)>& take,
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
    Result<json> next = ask_(question_);
    if (!next) return tl::make_unexpected(next.error());
    answer = std::move(*next);
  }
}

Result<json> RingReader::first_answer() {
  for (int round = 1;; ++round) {
    Result<json> answer = ask_(question_);
    if (!answer) return answer;
    const json silent = answer->value("unreachable", json::array());
    if (answer->contains("left_out") && round >= max_cut_rounds)
      return fail(ErrorCode::unreachable, "the ring answers too many other questions; try again later");
    if (answer->contains("left_out") || (!silent.empty() && round < max_silent_rounds)) continue;
    for (const json& peer : silent) read_.unreachable.push_back(peer);
    return answer;
  }
}

Result<bool> RingReader::take_round(const json& answer, const std::function<bool(const json&)>& take) {
  const bool first = !question_.contains("after");
  std::set<std::string> answered;
  for (const json& peer : answer.value("peers", json::array())) {
    if (!peer.is_object()) return fail(ErrorCode::invalid_input, "a peer's part of the answer is no object");
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
    const auto looked_at = number_field(peer, "looked_at", 0, 0);
    const auto urls = list_field(peer, "urls");
    if (!looked_at) return tl::make_unexpected(looked_at.error());
    if (!urls) return tl::make_unexpected(urls.error());
    read_.looked_at += static_cast<std::uint64_t>(*looked_at);
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

void RingReader::note_silent(const std::set<std::string>& answered) {
  for (auto at = places_.begin(); at != places_.end();) {
    if (answered.contains(at->first) || ++at->second.silent < max_silent_rounds) {
      ++at;
      continue;
    }
    read_.unreachable.push_back({{"id", at->first}, {"address", at->second.address}});
    at = places_.erase(at);
  }
}

}  // namespace orbweaver
