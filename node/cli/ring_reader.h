// Reads the URLs that the peers of a running ring know, part by part. Pure, but for `ask`. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/crawl/record_filter.h"

namespace orbweaver {

struct UrlsRead {
  std::uint64_t looked_at = 0;                // records
  std::vector<nlohmann::json> unreachable{};  // peers whose URLs are missing: id, address
};

// Asks all peers of a ring for one part after the other, each for its own. Each round a peer goes on, has ended, or
// counts as silent. So the rounds end, unless a member of the ring invents ever new places.
class RingReader {
 public:
  // `ask`: the ring's answer to one question "urls" (node/peer/url_report.h).
  using Ask = std::function<Result<nlohmann::json>(const nlohmann::json& question)>;
  RingReader(Ask ask, const RecordFilter& filter) : ask_(std::move(ask)) { filter.write(question_); }

  // Once. As for_each_url() (url_source.h).
  Result<UrlsRead> read(const std::function<bool(const nlohmann::json& url)>& take,
                        const std::function<void(std::uint64_t looked_at)>& progress);

 private:
  struct Place {
    std::string last;  // where the peer goes on
    std::string address{};
    int silent = 0;  // rounds
  };
  // Of all peers, if that can be had in a few tries: who is not in it is not asked for more.
  Result<nlohmann::json> first_answer();
  // False: `take` wants no more.
  Result<bool> take_round(const nlohmann::json& answer, const std::function<bool(const nlohmann::json&)>& take);
  void note_silent(const std::set<std::string>& answered);

  Ask ask_;
  nlohmann::json question_ = nlohmann::json::object();
  std::map<std::string, Place> places_;  // by identity
  UrlsRead read_;
};

}  // namespace orbweaver
