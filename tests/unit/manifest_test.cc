// The manifest of a snapshot, the files that it names, and the talk that makes one.
#include "node/snapshot/manifest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/digest/sha256.h"
#include "node/snapshot/snapshot_files.h"
#include "node/snapshot/snapshot_talk.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using nlohmann::json;

const std::string first_id(32, 'a');
const std::string second_id(32, 'b');

Manifest sample() {
  Manifest manifest;
  manifest.snapshot = std::string(32, '5');
  manifest.made = "2026-11-23T09:00:00Z";
  manifest.ring = std::string(32, '7');
  manifest.settings = {{"partitions", "16"}, {"replicas", "2"}};
  manifest.replicas = 2;
  manifest.missing = {{second_id, "10.0.0.2:7700"}};
  SnapshotPeer peer{.id = first_id, .address = "10.0.0.1:7700", .counts = {{"fetched", 12}}, .listing = {}};
  peer.listing = {.path = "/data/snapshots/5",
                  .files = {{"store/000004.sst", 100, sha256_of("table")}, {"store/CURRENT", 16, sha256_of("current")}},
                  .archive_path = "/data/archive",
                  .archive = {{.name = "a.warc.gz", .bytes = 5000}}};
  manifest.peers = {peer};
  return manifest;
}

std::string error_of_text(const std::string& text) {
  const Result<Manifest> read = read_manifest(text, sha256_of);
  return read ? "" : read.error().message;
}

// The text with a change that its digest covers too: only what it says is wrong.
std::string changed(const std::function<void(json&)>& change) {
  json content = json::parse(manifest_text(sample(), sha256_of));
  content.erase("digest");
  change(content);
  content["digest"] = sha256_of(content.dump());
  return content.dump();
}

TEST(Manifest, IsReadAsItWasWritten) {
  const Result<Manifest> read = read_manifest(manifest_text(sample(), sha256_of), sha256_of);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sample());
}

TEST(Manifest, CutAtAnyByteItIsRefused) {
  const std::string text = manifest_text(sample(), sha256_of);
  for (std::size_t bytes = 0; bytes + 2 < text.size(); ++bytes)
    EXPECT_NE(error_of_text(text.substr(0, bytes)), "") << bytes;
}

TEST(Manifest, WithAnyByteChangedItIsRefusedOrSaysTheSame) {
  const std::string text = manifest_text(sample(), sha256_of);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string other = text;
    other[at] = other[at] == '1' ? '2' : '1';
    const Result<Manifest> read = read_manifest(other, sha256_of);
    if (read) {
      EXPECT_EQ(*read, sample()) << at;
    }
  }
}

TEST(Manifest, OfAnotherFormatIsRefusedByItsNumber) {
  const Result<Manifest> later = read_manifest(changed([](json& c) { c["format"] = 2; }), sha256_of);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::unsupported);
  EXPECT_NE(later.error().message.find("its format is 2"), std::string::npos);
  EXPECT_NE(error_of_text(changed([](json& c) { c.erase("format"); })).find("no manifest"), std::string::npos);
}

TEST(Manifest, WhatIsMissingOrOutOfPlaceIsNamed) {
  const std::vector<std::pair<std::string, std::function<void(json&)>>> faults = {
      {"'ring' is missing", [](json& c) { c.erase("ring"); }},
      {"settings", [](json& c) { c["settings"] = 7; }},
      {"names no peer", [](json& c) { c["peers"] = json::array(); }},
      {"identity", [](json& c) { c["peers"][0]["id"] = "../etc"; }},
      {"'path' is missing", [](json& c) { c["peers"][0].erase("path"); }},
      {"has no files", [](json& c) { c["peers"][0]["files"] = json::array(); }},
      {"digest of store/CURRENT", [](json& c) { c["peers"][0]["files"][1].erase("sha256"); }},
      {"size", [](json& c) { c["peers"][0]["files"][1].erase("bytes"); }},
      {"no name of a file", [](json& c) { c["peers"][0]["files"][0]["name"] = "../../passwd"; }},
      {"no name of a file", [](json& c) { c["peers"][0]["files"][0]["name"] = "/etc/passwd"; }},
  };
  for (const auto& [words, change] : faults)
    EXPECT_NE(error_of_text(changed(change)).find(words), std::string::npos)
        << words << ": " << error_of_text(changed(change));
}

TEST(SnapshotFiles, Fips180SampleDigest) {
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

class Checkpoint : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(directory_.file(name)).parent_path());
    std::ofstream(directory_.file(name)) << text;
  }
  void SetUp() override {
    write("store/CURRENT", "MANIFEST-1");
    write("store/4.sst", std::string(3'000'000, 'x'));
    files_ = *list_files(directory_.path(), true, never_);
  }
  std::string fault() {
    const Result<void> good = check_files(directory_.path(), files_);
    return good ? "" : good.error().message;
  }
  const std::atomic<bool> never_{false};
  test::TempDir directory_;
  std::vector<SnapshotFile> files_;
};

TEST_F(Checkpoint, AsItWasIsAccepted) {
  ASSERT_EQ(files_.size(), 2u);
  EXPECT_EQ(files_[0].name, "store/4.sst");
  EXPECT_EQ(files_[0].bytes, 3'000'000u);
  EXPECT_EQ(fault(), "");
}

TEST_F(Checkpoint, AChangedFileIsNamed) {
  write("store/4.sst", std::string(2'999'999, 'x') + "y");
  EXPECT_NE(fault().find("4.sst is not as it was"), std::string::npos) << fault();
}

TEST_F(Checkpoint, AShorterFileIsNamed) {
  write("store/4.sst", "x");
  EXPECT_NE(fault().find("4.sst has 1 bytes, the manifest says 3000000"), std::string::npos) << fault();
}

TEST_F(Checkpoint, AMissingFileIsNamed) {
  std::filesystem::remove(directory_.file("store/CURRENT"));
  EXPECT_NE(fault().find("CURRENT"), std::string::npos) << fault();
}

TEST_F(Checkpoint, AFileMoreIsNamed) {
  write("store/5.log", "");
  EXPECT_NE(fault().find("5.log is not in the manifest"), std::string::npos) << fault();
}

// ---- the talk

json held(const std::string& id, const std::vector<std::string>& members, std::uint64_t replicas) {
  json known = json::array();
  for (const std::string& member : members)
    known.push_back({{"id", member}, {"address", "10.0.0.9:1"}, {"state", "active"}});
  return {{"id", id},
          {"address", "10.0.0.9:1"},
          {"state", "held"},
          {"replicas", replicas},
          {"settings", json::array({json::array({"partitions", "16"})})},
          {"members", std::move(known)}};
}
json in_state(const std::string& id, const std::string& state) {
  json peer = {{"id", id}, {"address", "10.0.0.9:1"}, {"state", state}};
  if (state == "listed") peer["listing"] = listing_json(sample().peers[0].listing);
  return peer;
}
json answer(const std::vector<json>& peers) {
  return {{"ring", std::string(32, '7')}, {"peers", peers}, {"unreachable", json::array()}};
}

TEST(SnapshotTalk, HoldsEveryPeerBeforeAnySaves) {
  SnapshotTalk talk(std::string(32, '5'), false);
  EXPECT_EQ(talk.question()["phase"], "hold");
  const std::vector<std::string> both = {first_id, second_id};
  ASSERT_EQ(talk.take(answer({held(first_id, both, 1), held(second_id, both, 1)})), SnapshotTalk::Next::ask);
  EXPECT_EQ(talk.question()["phase"], "save");
  ASSERT_EQ(talk.take(answer({in_state(first_id, "saving"), in_state(second_id, "saving")})), SnapshotTalk::Next::wait);
  EXPECT_EQ(talk.question()["phase"], "look");
  ASSERT_EQ(talk.take(answer({in_state(first_id, "listed"), in_state(second_id, "saved")})), SnapshotTalk::Next::wait);
  ASSERT_EQ(talk.take(answer({in_state(second_id, "listed")})), SnapshotTalk::Next::done);
  EXPECT_EQ(talk.question()["phase"], "end");
  EXPECT_EQ(talk.manifest().peers.size(), 2u);
  EXPECT_TRUE(talk.manifest().missing.empty());
}

TEST(SnapshotTalk, AMemberThatOnlyOneKnowsIsMissing) {
  for (const std::uint64_t replicas : {1u, 2u}) {
    SnapshotTalk talk(std::string(32, '5'), false);
    const auto next = talk.take(answer({held(first_id, {first_id, second_id}, replicas)}));
    EXPECT_EQ(next.has_value(), replicas == 2);
    EXPECT_EQ(talk.question()["phase"], replicas == 2 ? "save" : "end");
    if (!next) {
      EXPECT_NE(next.error().message.find(second_id.substr(0, 8)), std::string::npos);
    }
    ASSERT_EQ(talk.manifest().missing.size(), 1u);
  }
}

TEST(SnapshotTalk, PartialTakesWhatThereIs) {
  SnapshotTalk talk(std::string(32, '5'), true);
  EXPECT_EQ(talk.take(answer({held(first_id, {first_id, second_id}, 1)})), SnapshotTalk::Next::ask);
}

TEST(SnapshotTalk, APeerThatWasStartedAgainEndsIt) {
  SnapshotTalk talk(std::string(32, '5'), false);
  ASSERT_TRUE(talk.take(answer({held(first_id, {first_id}, 2)})));
  const auto next = talk.take(answer({{{"id", first_id}, {"error", "it was started again"}}}));
  ASSERT_FALSE(next);
  EXPECT_NE(next.error().message.find("it was started again"), std::string::npos);
  EXPECT_EQ(talk.question()["phase"], "end");
}

TEST(SnapshotTalk, APeerThatFallsSilentIsMissing) {
  SnapshotTalk talk(std::string(32, '5'), false);
  const std::vector<std::string> both = {first_id, second_id};
  ASSERT_TRUE(talk.take(answer({held(first_id, both, 2), held(second_id, both, 2)})));
  ASSERT_TRUE(talk.take(answer({in_state(first_id, "saving"), in_state(second_id, "saving")})));
  auto next = talk.take(answer({in_state(first_id, "listed")}));
  for (int looks = 1; looks < 10 && next == SnapshotTalk::Next::wait; ++looks)
    next = talk.take(answer({in_state(first_id, "listed")}));
  ASSERT_EQ(next, SnapshotTalk::Next::done);
  ASSERT_EQ(talk.manifest().missing.size(), 1u);
  EXPECT_EQ(talk.manifest().missing[0].id, second_id);
}

}  // namespace
}  // namespace orbweaver
