// A peer against faulty messages and a faulty directory: the faults are refused, counted and named, and the peer
// continues. The cases are those of tests/integration/test_attack_messages.py, without processes, and one that is
// impossible there: a library that throws half-way through a message.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/peer/core.h"
#include "ring/codec.h"
#include "storage/memory_kv.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const Time start{seconds(1'700'000'000)};

ring::PeerId id_of(std::uint8_t number) {
  ring::PeerId id;
  id.bytes.fill(number);
  return id;
}

std::uint64_t micros(Time time) { return static_cast<std::uint64_t>(time.time_since_epoch().count()); }

ring::Member member(std::uint8_t number, ring::MemberState state = ring::MemberState::active) {
  ring::Member made;
  made.id = id_of(number);
  made.address = "10.0.0." + std::to_string(number) + ":7400";
  made.incarnation = made.started = micros(start);
  made.state = state;
  made.protocol = ring::protocol_version;
  return made;
}

// A store in memory whose reads, or writes, throw on request: a library that misbehaves.
class ThrowingKv final : public storage::Kv {
 public:
  bool reads_throw = false;
  bool writes_throw = false;
  storage::MemoryKv kv;

  storage::Result<std::optional<std::string>> get(storage::Table table, std::string_view key) override {
    if (reads_throw) throw std::runtime_error("a read threw");
    return kv.get(table, key);
  }
  storage::Result<void> multi_get(storage::Table table, std::span<const std::string_view> keys,
                                  std::vector<std::optional<std::string>>& values) override {
    return kv.multi_get(table, keys, values);
  }
  std::unique_ptr<storage::KvCursor> cursor(storage::Table table, std::string_view upper_bound) override {
    return kv.cursor(table, upper_bound);
  }
  storage::Result<void> write(const storage::KvBatch& batch) override {
    if (writes_throw) throw std::runtime_error("a write threw");
    return kv.write(batch);
  }
};

class PeerOutside : public testing::Test {
 protected:
  static constexpr std::uint32_t partitions = 16;

  // Opens the directory, as a starting process does.
  void open(const std::vector<std::string>& join = {}) {
    peer_.reset();
    store_.emplace(*storage::Store::open(kv_));
    PeerStart begin;
    begin.settings.values = default_settings();
    begin.settings.values.partitions = partitions;
    begin.settings.values.replicas = 1;
    begin.settings.values.stop_when_done = false;
    begin.settings.values.join = join;
    begin.settings.values.suspicion_time = seconds(2);
    begin.address = "10.0.0.1:7400";
    begin.fresh_id = id_of(1);
    begin.fresh_ring = id_of(200);
    begin.random_seed = 1;
    auto opened = Core::open(std::move(begin), *store_, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    peer_ = std::move(*opened);
    step(TickEvent{});
  }
  Commands step(Event event) {
    Commands out;
    now_ += std::chrono::milliseconds(1);
    peer_->step(now_, std::move(event), out);
    for (const Command& command : out)
      if (const auto* note = std::get_if<LogEntry>(&command)) notes_.push_back(*note);
    return out;
  }
  Commands receive(ring::Body body, std::uint8_t from = 2) {
    ring::Message message{ring::protocol_version, id_of(200), id_of(from), 0, std::move(body)};
    return step(MessageEvent{std::move(message), {"route"}});
  }
  // The answer's JSON.
  json ask(const std::string& verb, const std::string& body, bool for_ring = false) {
    for (const Command& command : receive(ring::Ask{9, verb, body, for_ring}, 0))
      if (const auto* reply = std::get_if<ReplyMessage>(&command))
        if (const auto* answer = std::get_if<ring::Answer>(&reply->message.body)) return json::parse(answer->body);
    return nullptr;
  }
  // Lets time pass without messages from others.
  void wait(Duration time) {
    for (const Time until = now_ + time; now_ < until;) {
      now_ = std::max(now_, std::min(peer_->next_deadline(now_), until));
      step(TickEvent{});
    }
  }
  std::uint64_t count(const char* name) const { return peer_->own_status()["counts"][name].get<std::uint64_t>(); }
  bool noted(std::string_view event, std::string_view value) const {
    return std::any_of(notes_.begin(), notes_.end(), [&](const LogEntry& note) {
      return note.event == event && std::any_of(note.fields.begin(), note.fields.end(), [&](const auto& field) {
               return field.second.find(value) != std::string::npos;
             });
    });
  }
  void put(std::string_view row, std::string value) {
    storage::Commit commit;
    commit.meta.emplace_back(row, std::move(value));
    ASSERT_TRUE(store_->commit(commit));
  }
  std::string stored(ring::Body body) {
    return ring::encode({ring::protocol_version, id_of(200), id_of(1), micros(start), std::move(body)});
  }

  Time now_ = start;
  ThrowingKv kv_;
  std::optional<storage::Store> store_;
  std::unique_ptr<Core> peer_;
  std::vector<LogEntry> notes_;
};

// ---- the boundary ----

TEST_F(PeerOutside, WhatAMessageMakesALibraryThrowIsThatMessageRefused) {
  open();
  receive(ring::Sync{false, {member(2)}, {}});
  kv_.reads_throw = true;
  const json answer = ask("explain", R"({"url": "http://a.test/"})");
  EXPECT_EQ(answer["error"], "refused: a read threw");
  EXPECT_EQ(count("messages_refused"), 1u);
  EXPECT_TRUE(noted("message refused", "a command"));
  EXPECT_TRUE(noted("message refused", "a read threw"));
  kv_.reads_throw = false;
  EXPECT_EQ(ask("explain", R"({"url": "http://a.test/"})")["state"], "out of scope");
}

TEST_F(PeerOutside, ARefusedMessageIsNamedByItsSender_AndSaysNothing) {
  open();
  receive(ring::Sync{false, {member(2)}, {}});
  // A robots.txt in a batch is compared with the stored one.
  std::string record;
  storage::encode_robots("http://a.test", {now_, now_ + seconds(9), 1, "User-agent: *"}, now_, record);
  kv_.reads_throw = true;
  std::size_t replies = 0;
  for (std::uint16_t partition = 0; partition < partitions; ++partition)
    for (const Command& command : receive(ring::Batch{7, 1, {{partition, record}}, ring::BatchKind::transfer}))
      replies += std::holds_alternative<ReplyMessage>(command) ? 1u : 0u;
  EXPECT_GT(count("messages_refused"), 0u);
  EXPECT_TRUE(noted("message refused", id_of(2).brief() + " at 10.0.0.2:7400"));
  EXPECT_EQ(replies, partitions - count("messages_refused"))
      << "those refused by owner are reported so, the others nothing";
}

// Memory may then lag behind the disk: only a restart repairs that.
TEST_F(PeerOutside, WhatIsThrownWhileTheStoreIsWrittenIsNotAMessageRefused) {
  open();
  kv_.writes_throw = true;
  EXPECT_THROW(ask("seed", R"({"urls": ["http://a.test/"]})"), std::runtime_error);
}

// ---- questions ----

TEST_F(PeerOutside, QuestionsOfTheWrongShapeAreAnsweredWithAnError) {
  open();
  const std::string deep = "{\"urls\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  for (const bool for_ring : {false, true}) {
    for (const auto& [verb, body] :
         std::vector<std::pair<std::string, std::string>>{{"explain", R"({"url": 1})"},
                                                          {"forget", R"({"id": 5})"},
                                                          {"recrawl", R"({"older_than_us": "x"})"},
                                                          {"recrawl", R"({"older_than_us": -9223372036854775808})"},
                                                          {"recrawl", R"({"before_us": 18446744073709551615})"},
                                                          {"recrawl", R"({"match": 1})"},
                                                          {"traps", R"({"readmit": 5})"},
                                                          {"traps", R"({"rule": []})"},
                                                          {"seed", R"({"urls": "http://a.test/"})"},
                                                          {"seed", deep},
                                                          {"seed", "[]"},
                                                          {"seed", "{\"urls\": \"\xff\"}"}}) {
      const json answer = ask(verb, body, for_ring);
      const bool reported = answer.contains("error") || answer["peers"][0].contains("error");
      EXPECT_TRUE(reported) << verb << " " << body.substr(0, 60) << answer;
    }
  }
  const json answer = ask("seed", R"({"urls": [1, null, [["\u0000"]], "no url", "http://a.test/"]})");
  EXPECT_EQ(answer["refused"].size(), 4u);
  EXPECT_EQ(answer["accepted"].size(), 1u);
}

TEST_F(PeerOutside, AQuestionOfMillionsOfValuesIsRefusedBeforeItIsRead) {
  open();
  std::string items = "1";
  for (int i = 0; i < 1'000'000; ++i) items += ",1";
  for (const std::string& body : {"{\"urls\":[" + items + "]}", "{\"x\":[" + items + "]}"}) {
    const json answer = ask("seed", body);
    EXPECT_EQ(answer["error"],
              "the question cannot be read: JSON of more than 131072 values; ask for less at a time, with several "
              "questions");
  }
  EXPECT_EQ(count("messages_refused"), 2u);
}

TEST_F(PeerOutside, MoreSeedsThanAQuestionMayHaveAreRefused_AndNoneIsTaken) {
  open();
  std::vector<std::string> urls(ring::max_seeds + 1, "http://a.test/");
  const std::string error = ask("seed", json({{"urls", urls}}).dump())["error"];
  EXPECT_EQ(error.find("65537 seeds are more than the 65536 that one question may have"), 0u) << error;
  EXPECT_EQ(peer_->own_status()["seeds"], 0);
  urls.pop_back();
  EXPECT_FALSE(ask("seed", json({{"urls", urls}}).dump()).contains("error"));
  EXPECT_EQ(peer_->own_status()["seeds"], 1);
}

TEST_F(PeerOutside, AnAnswerTellsOfAHundredRefusedSeeds_AndOfSoManyTakenOnesAsAMessageHolds) {
  open();
  std::vector<std::string> urls;
  for (int i = 0; i < 150; ++i) urls.push_back("nothing " + std::to_string(i) + std::string(1000, 'n'));
  for (int i = 0; i < 3000; ++i) urls.push_back("http://a.test/" + std::to_string(i) + std::string(600, ' ') + "b");
  const json answer = ask("seed", json({{"urls", urls}}).dump());  // a space is three bytes then
  EXPECT_EQ(answer["refused"].size(), 100u);
  EXPECT_EQ(answer["refused_unlisted"], 50);
  EXPECT_LE(answer["refused"][0]["url"].get<std::string>().size(), 256u);
  EXPECT_EQ(peer_->own_status()["seeds"], 3000);
  EXPECT_GT(answer["accepted_unlisted"], 500);
  EXPECT_EQ(answer["accepted"].size() + answer["accepted_unlisted"].get<std::size_t>(), 3000u);
  EXPECT_LE(answer.dump().size(), ring::max_text_bytes);
}

TEST_F(PeerOutside, ALongQuestionIsNotCopiedForEachMember) {
  open();
  ring::Sync all;
  for (std::uint8_t i = 2; i < 12; ++i) all.members.push_back(member(i));
  receive(all);
  const json answer = ask("status", json({{"x", std::string(1 << 20, 'x')}}).dump(), true);
  EXPECT_EQ(answer["error"],
            "the question cannot be read: it is too long for a question to 10 peers; ask one of them at a time, with "
            "less");
  // Seeds are sent to as many members as there is room for.
  std::vector<std::string> urls;
  for (int i = 0; i < 40'000; ++i) urls.push_back("http://a.test/" + std::to_string(i) + std::string(60, 'x'));
  std::size_t bytes = 0;
  std::set<std::string> reported;
  for (const Command& command : receive(ring::Ask{9, "seed", json({{"urls", urls}}).dump(), true}, 0))
    if (const auto* send = std::get_if<SendMessage>(&command)) {
      bytes += ring::memory_bytes(send->message);
      reported.insert(send->address);
    }
  EXPECT_GT(reported.size(), 3u);
  EXPECT_LT(bytes, plan_memory({}, std::uint64_t{2} << 30).messages_out * 5 / 4);
}

TEST_F(PeerOutside, WhereToGoOnIsToldToEachMemberAlone) {
  open();
  receive(ring::Sync{false, {member(2), member(3)}, {}});
  const json question = {{"host", "a.test"}, {"after", {{id_of(2).hex(), "http://a.test/1"}}}};
  std::map<std::string, json> asked;
  for (const Command& command : receive(ring::Ask{9, "traps", question.dump(), true}, 0))
    if (const auto* send = std::get_if<SendMessage>(&command))
      if (const auto* ask = std::get_if<ring::Ask>(&send->message.body)) asked[send->address] = json::parse(ask->body);
  EXPECT_EQ(asked["10.0.0.2:7400"], question);
  EXPECT_EQ(asked["10.0.0.3:7400"], json({{"host", "a.test"}, {"after", json::object()}}));
}

TEST_F(PeerOutside, AnUnknownVerbIsToldShort) {
  open();
  const std::string error = ask(std::string(100'000, 'v'), "{}")["error"];
  EXPECT_LT(error.size(), 200u);
}

TEST_F(PeerOutside, AnAnswerCountsOnlyFromWhomWasAsked_AndWhenItCanBeRead) {
  open();
  receive(ring::Sync{false, {member(2), member(3)}, {}});
  std::map<std::string, std::uint64_t> asked;
  for (const Command& command : receive(ring::Ask{9, "status", "", true}, 0))
    if (const auto* send = std::get_if<SendMessage>(&command))
      if (const auto* ask = std::get_if<ring::Ask>(&send->message.body)) asked[send->address] = ask->sequence;
  ASSERT_EQ(asked.size(), 2u);
  const std::uint64_t second = asked.at("10.0.0.2:7400");
  const std::uint64_t before = count("messages_refused");
  receive(ring::Answer{second, R"({"id": "forged"})"}, 3);
  receive(ring::Answer{second, std::string(100'000, '[')}, 2);
  receive(ring::Answer{second, "[]"}, 2);
  EXPECT_EQ(count("messages_refused"), before + 3);
  receive(ring::Answer{second, R"({"id": "true", "counts": 5})"}, 2);
  json reported;
  for (const Command& command : receive(ring::Answer{asked.at("10.0.0.3:7400"), R"({"counts": {"a": -1, "b": 2}})"}, 3))
    if (const auto* reply = std::get_if<ReplyMessage>(&command))
      reported = json::parse(std::get<ring::Answer>(reply->message.body).body);
  EXPECT_EQ(reported["peers"].size(), 3u);
  EXPECT_EQ(reported["totals"]["b"], 2);
  EXPECT_FALSE(reported["totals"].contains("a"));
}

TEST_F(PeerOutside, AnswersBeyondWhatAMessageHoldsAreLeftOutAndCounted) {
  open();
  receive(ring::Sync{false, {member(2), member(3)}, {}});
  Commands sent = receive(ring::Ask{9, "status", "", true}, 0);
  json reported;
  for (const Command& command : sent) {
    const auto* send = std::get_if<SendMessage>(&command);
    const auto* ask = send == nullptr ? nullptr : std::get_if<ring::Ask>(&send->message.body);
    if (ask == nullptr) continue;
    const std::uint8_t from = send->address == "10.0.0.2:7400" ? 2 : 3;
    const json big = {{"text", std::string(3 << 20, 'x')}};
    for (const Command& answer : receive(ring::Answer{ask->sequence, big.dump()}, from))
      if (const auto* reply = std::get_if<ReplyMessage>(&answer)) {
        EXPECT_TRUE(ring::decode(ring::encode(reply->message)));
        reported = json::parse(std::get<ring::Answer>(reply->message.body).body);
      }
  }
  EXPECT_EQ(reported["left_out"], 1);
  EXPECT_EQ(reported["peers"].size(), 2u);
}

// ---- claims ----

TEST_F(PeerOutside, MembersAndTenuresTooFarOffAreCountedWithTheirSender) {
  open();
  receive(ring::Sync{false, {member(2)}, {}});
  ring::Member left = member(1, ring::MemberState::left);
  left.incarnation = ring::max_incarnation;
  std::vector<ring::PartitionTenure> tenures;
  for (std::uint16_t i = 0; i < partitions; ++i) tenures.push_back({i, {UINT64_MAX, id_of(77)}});
  receive(ring::Sync{false, {left}, {}, tenures});
  EXPECT_EQ(count("claims_refused"), 1u + partitions);
  EXPECT_TRUE(noted("not believed: too far from what is known, or beyond the ring's bounds", id_of(2).brief()));
  EXPECT_EQ(count("partitions_held"), partitions);
  EXPECT_EQ(peer_->own_status()["state"], "active");
}

TEST_F(PeerOutside, TenuresOfOneWhomNobodyKnowsAreTakenBack) {
  open();
  std::vector<ring::PartitionTenure> tenures;
  for (std::uint16_t i = 0; i < partitions; ++i) tenures.push_back({i, {1000, id_of(77)}});
  receive(ring::Sync{false, {}, {}, tenures});
  EXPECT_EQ(count("partitions_held"), 0u);
  wait(seconds(5));
  EXPECT_EQ(count("partitions_held"), partitions);
  EXPECT_EQ(peer_->tenures().of(3).epoch, 1001u);
}

TEST_F(PeerOutside, AJoinerWithAnIncarnationThatNoPeerReachesIsToldSo) {
  open();
  ring::Member joiner = member(5, ring::MemberState::joining);
  joiner.incarnation = ring::max_first_incarnation + 1;
  std::string reason;
  for (const Command& command : receive(ring::Join{joiner, {}, {}}, 5))
    if (const auto* reply = std::get_if<ReplyMessage>(&command))
      if (const auto* refuse = std::get_if<ring::Refuse>(&reply->message.body)) reason = refuse->reason;
  EXPECT_NE(reason.find("its incarnation"), std::string::npos) << reason;
}

TEST_F(PeerOutside, AJoinerThatIsToldOfAnIncarnationThatNoPeerReachesEndsAndSaysSo) {
  open({"10.0.0.2:7400"});
  ring::Member first = member(2);
  first.incarnation = ring::max_first_incarnation + 1;
  ring::Welcome welcome;
  welcome.ring = id_of(200);
  welcome.settings = ring_wide_settings(peer_->settings());
  welcome.members = {first};
  receive(welcome);
  now_ += seconds(1);
  std::string message;
  for (const Command& command : step(TickEvent{}))
    if (const auto* exit = std::get_if<Exit>(&command)) message = exit->message;
  EXPECT_NE(message.find("peer " + id_of(2).brief() + " at "), std::string::npos) << message;
}

TEST_F(PeerOutside, AWaveOfALaterLifeIsRefused_AndAFalseOneIsForgotten) {
  open();
  ring::Member other = member(2);
  other.incarnation = 3 * ring::incarnations_a_life + 5;
  receive(ring::Sync{false, {other}, {}});
  const auto wave_of = [&](std::uint64_t later, std::uint64_t number) {
    return ((other.incarnation / ring::incarnations_a_life + later) << 40) + number;
  };
  const auto answered = [this](std::uint64_t wave) {
    for (const Command& command : receive(ring::WaveProbe{wave, 1}))
      if (const auto* reply = std::get_if<ReplyMessage>(&command))
        if (std::holds_alternative<ring::WaveReply>(reply->message.body)) return true;
    return false;
  };
  EXPECT_FALSE(answered(UINT64_MAX));
  EXPECT_FALSE(answered(wave_of(1, 0)));
  EXPECT_EQ(count("messages_refused"), 2u);
  EXPECT_TRUE(answered(wave_of(0, 900)));
  EXPECT_FALSE(answered(wave_of(0, 1))) << "a late copy, it seems";
  now_ += seconds(61);
  EXPECT_TRUE(answered(wave_of(0, 1))) << "none can be so late";
}

// ---- the directory ----

class PeerDirectory : public PeerOutside {
 protected:
  // A ring of 1, 2 and 3, of which 1 holds all partitions; then peer 1 ends.
  void SetUp() override {
    open();
    receive(ring::Sync{false, {member(2), member(3)}, {}});
    notes_.clear();
  }
  // Starts again with `rows` rows left out; `heals(0, …)` checks that a further start leaves out none.
  void heals(std::uint64_t rows, std::string_view row, std::string_view cause) {
    open();
    EXPECT_EQ(count("rows_dropped"), rows);
    EXPECT_EQ(noted("a row in the data directory is left out", row), rows > 0);
    EXPECT_EQ(noted("a row in the data directory is left out", cause), rows > 0);
    EXPECT_TRUE(ring::decode(**store_->meta(meta_name::members)));
    notes_.clear();
  }
};

TEST_F(PeerDirectory, AMemberWhoseAddressIsNoAddressIsLeftOut) {
  ring::Member bad = member(77, ring::MemberState::joining);
  bad.address = "127.0.0.1:1\xff\xfe";
  put(meta_name::members, stored(ring::Sync{false, {member(2), bad, member(3)}, {}}));
  heals(1, "members", "not UTF-8");
  EXPECT_EQ(peer_->own_status()["members"].size(), 3u);
  heals(0, "", "");
  EXPECT_EQ(peer_->own_status()["members"].size(), 3u);
}

TEST_F(PeerDirectory, AMemberFarAheadIsLeftOut) {
  ring::Member bad = member(2, ring::MemberState::left);
  bad.incarnation = ring::max_incarnation;
  put(meta_name::members, stored(ring::Sync{false, {bad, member(3)}, {}}));
  heals(1, "members", "which no peer reaches");
  receive(ring::Sync{false, {member(2)}, {}}, 3);
  EXPECT_EQ(peer_->own_status()["members"].size(), 3u) << "it is let in again";
}

TEST_F(PeerDirectory, OneThatWasMadeToGoToTheEndOfTheNumbersBeginsWithItsClockAgain) {
  put(meta_name::members, ring::encode({ring::protocol_version, id_of(200), id_of(1), ring::max_incarnation,
                                        ring::Sync{false, {member(2)}, {}}}));
  heals(0, "", "");
  const json members = peer_->own_status()["members"];
  for (const json& known : members) EXPECT_LT(known["incarnation"].get<std::uint64_t>(), micros(now_ + seconds(10)));
}

TEST_F(PeerDirectory, IncarnationsRiseThoughTheClockWasSetBack) {
  const auto incarnation = [this] {
    std::uint64_t own = 0;
    const json members = peer_->own_status()["members"];
    for (const json& known : members)
      if (known["id"] == id_of(1).hex()) own = known["incarnation"].get<std::uint64_t>();
    return own;
  };
  const std::uint64_t before = incarnation();
  now_ -= std::chrono::hours(10);
  heals(0, "", "");
  EXPECT_GT(incarnation(), before);
}

TEST_F(PeerDirectory, AViewThatCannotBeReadIsHeardAgain) {
  put(meta_name::members, "rubbish");
  heals(1, "members", "bad ring message");
  EXPECT_EQ(peer_->own_status()["members"].size(), 1u);
  EXPECT_EQ(count("partitions_held"), partitions) << "all is its own: it goes on";
}

// A peer that does not know all holders must learn of them before it judges them gone.
TEST_F(PeerDirectory, WithAViewThatIsNotWholeNothingIsTakenOver) {
  receive(ring::Sync{false, {}, {}, {{3, {9, id_of(2)}}}});
  EXPECT_EQ(count("partitions_held"), partitions - 1u);
  put(meta_name::members, "rubbish");
  heals(1, "members", "");
  wait(seconds(20));
  EXPECT_EQ(count("partitions_held"), partitions - 1u);
  EXPECT_FALSE(peer_->own_status()["confirmed"].get<bool>());
}

TEST_F(PeerDirectory, OtherRowsAreLeftOutToo) {
  put(meta_name::ended, stored(ring::Finish{1, "bad \xff", {}}));
  heals(1, "ended", "not UTF-8");
  heals(0, "", "");
  put(meta_name::ended, "");
  put(meta_name::recrawl, R"({"before_us": "x"})");
  heals(1, "recrawl", "before_us");
  put(meta_name::recrawl, std::string(100'000, '['));
  heals(1, "recrawl", "nested");
  put(meta_name::recrawl, R"({"before_us": 1, "match": "("})");
  heals(1, "recrawl", "");
  put(meta_name::seeds, "http://a.test/\nnonsense\n");
  heals(1, "seeds", "");
  put(std::string(tenure_prefix) + std::string("\0\3", 2), std::string(8, '\xff') + std::string(16, 'x'));
  EXPECT_EQ(peer_->own_status()["seeds"], 1);
  heals(1, "tenure/", "epoch 18446744073709551615");
  wait(seconds(5));
  EXPECT_EQ(count("partitions_held"), partitions) << "its owner takes it";
  heals(0, "", "");
}

}  // namespace
}  // namespace orbweaver
