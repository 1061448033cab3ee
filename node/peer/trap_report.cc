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
constexpr std::size_t scan_step = 1024;
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
  std::optional<storage::UrlKey> begin{};
  bool nothing = false;  // the question only continues at other peers
};

Result<Question> read(const json& body, const std::string& self, Partitioner& partitioner) {
  const Result<bool> readmit = flag_field(body, "readmit");
  const Result<std::string> host = text_field(body, "host");
  const Result<std::string> rule = text_field(body, "rule");
  if (!readmit) return tl::make_unexpected(readmit.error());
  for (const auto* field : {&host, &rule})
    if (!*field) return tl::make_unexpected(field->error());
  Question question{.readmit = *readmit, .host = *host, .rule = *rule};
  const auto after = body.find("after");
  if (after == body.end() || !after->is_object()) return question;
  const Result<std::string> text = text_field(*after, self);
  if (!text) return tl::make_unexpected(text.error());
  const Result<CanonicalUrl> url = CanonicalUrl::parse(*text);
  question.nothing = !url;
  if (url) question.begin = storage::UrlKey{partitioner.host_key(*url), url->digest()};
  return question;
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
  const Result<Question> question = read(body, self, *partitioner_);
  if (!question) return json::object({{"error", question.error().message}});
  const auto& begin = question->begin;
  Search search(*question, *judge_);
  std::size_t seen = 0;
  std::string last;  // the URL after which to continue; empty: all were looked at
  for (const std::uint16_t partition : store_->partitions()) {
    if (question->nothing || !last.empty()) break;
    if (begin && partition < begin->host.partition) continue;
    if (!partition_manager_->holds(partition) || store_->counts(partition).excluded == 0) continue;
    std::optional<storage::UrlKey> cursor = begin && partition == begin->host.partition ? begin : std::nullopt;
    for (bool more = true; more && last.empty();) {
      const auto records = store_->scan(partition, cursor ? &*cursor : nullptr, scan_step);
      if (!records) return json::object({{"error", records.error().message}});
      for (const storage::Merge& at : *records) search.look_at(at);
      if (search.to_write() >= readmit_step) ORBWEAVER_TRY(search.write(step, *writer_));
      seen += records->size();
      more = records->size() == scan_step;
      if (more) cursor = records->back().key;
      if (more && seen >= max_records) last = records->back().record.url;
    }
  }
  for (const std::string& host : search.lifted()) ORBWEAVER_TRY(mirrors_->lift(step, host));
  ORBWEAVER_TRY(search.write(step, *writer_));
  return search.answer(last, *mirrors_);
}

}  // namespace orbweaver
