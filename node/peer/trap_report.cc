#include "node/peer/trap_report.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "node/crawl/outside_json.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

using storage::Reason;
using storage::UrlState;

// Records that one question looks at; the answer says where to continue when there are more.
constexpr std::size_t max_records = 100'000;
// Examples of each rule and host.
constexpr std::size_t max_examples = 3;
// URLs queued again in one write.
constexpr std::size_t readmit_step = 4096;

struct Found {
  std::uint64_t saved = 0;
  std::vector<std::string> examples;
};

struct Question {
  bool readmit = false;
  std::string host;  // empty: any
  std::string rule;
};

Result<Question> read(const json& body) {
  const Result<bool> readmit = flag_field(body, "readmit");
  const Result<std::string> host = text_field(body, "host");
  const Result<std::string> rule = text_field(body, "rule");
  if (!readmit) return tl::make_unexpected(readmit.error());
  for (const auto* field : {&host, &rule})
    if (!*field) return tl::make_unexpected(field->error());
  return Question{.readmit = *readmit, .host = *host, .rule = *rule};
}

// What one question finds.
class Search {
 public:
  Search(const Question& question, TrapJudge& judge) : question_(&question), judge_(&judge) {}

  void look_at(const storage::Merge& at) {
    if (at.record.state != UrlState::excluded || at.record.reason != Reason::trap) return;
    const Result<CanonicalUrl> url = CanonicalUrl::of_stored(at.record.url, at.key.url);
    if (!url) return;
    // Nothing in the URL is suspect by the rules that are on now: the page that it was found on was.
    const auto rule = judge_->suspicion(*url, at.record.depth);
    const std::string host(url->host());
    const std::string name(trap_rule_name(rule.value_or(TrapRule::same_content)));
    if (!question_->host.empty() && host != question_->host) return;
    if (!question_->rule.empty() && name != question_->rule) return;
    Found& entry = found_[{name, host}];
    ++entry.saved;
    if (entry.examples.size() < max_examples) entry.examples.push_back(at.record.url);
    if (!question_->readmit) return;
    if (rule == TrapRule::mirror) lifted_.insert(host);
    storage::UrlRecord record = at.record;
    record.state = UrlState::queued;
    record.reason = Reason::none;
    record.since = Time{};
    again_.merges.push_back({at.key, std::move(record)});
  }
  std::size_t to_write() const { return again_.merges.size(); }
  Result<void> write(const Step& step, RecordWriter& writer) {
    const storage::Commit commit = std::exchange(again_, {});
    queued_ += commit.merges.size();
    if (!commit.merges.empty()) ORBWEAVER_TRY(writer.commit(step, commit));
    return {};
  }
  const std::set<std::string>& lifted() const { return lifted_; }  // hosts that are not mirrors, the user says
  json answer(const std::string& last, MirrorTable& mirrors) const {
    json list = json::array();
    for (const auto& [at, entry] : found_) {
      list.push_back({{"rule", at.first}, {"host", at.second}, {"saved", entry.saved}, {"examples", entry.examples}});
      if (const std::string other = mirrors.mirror_of(at.second); !other.empty()) list.back()["mirror_of"] = other;
    }
    return {{"traps", std::move(list)}, {"last", last}, {"readmitted", queued_}};
  }

 private:
  const Question* question_;
  TrapJudge* judge_;
  std::map<std::pair<std::string, std::string>, Found> found_;  // by rule and host
  std::set<std::string> lifted_;
  storage::Commit again_;
  std::uint64_t queued_ = 0;
};

}  // namespace

Result<json> TrapReport::answer(const Step& step, const std::string& self, const json& body) {
  const Result<Question> question = read(body);
  if (!question) return json::object({{"error", question.error().message}});
  const auto begin = scan_.begin(body, self);
  if (!begin) return json::object({{"error", begin.error().message}});
  Search search(*question, *judge_);
  std::optional<Error> not_written;
  const auto take = [&](const storage::Merge& at) -> Result<bool> {
    search.look_at(at);
    if (search.to_write() < readmit_step) return true;
    if (const Result<void> written = search.write(step, *writer_); !written) not_written = written.error();
    return !not_written;
  };
  const auto last = scan_.walk(
      *begin, max_records, [](const storage::Counts& counts) { return counts.excluded > 0; }, take);
  if (not_written) return tl::make_unexpected(*not_written);
  if (!last) return json::object({{"error", last.error().message}});
  for (const std::string& host : search.lifted()) ORBWEAVER_TRY(mirrors_->lift(step, host));
  ORBWEAVER_TRY(search.write(step, *writer_));
  return search.answer(*last, *mirrors_);
}

}  // namespace orbweaver
