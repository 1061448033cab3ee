// The wire of what is compared by ranges; the names of types; the size of a large batch.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "ring/codec.h"

namespace orbweaver::ring {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Hexadecimal digits before the body of a message whose ring, sender and lives are not set.
constexpr std::size_t head = 80;

TEST(CodecRanges, Vectors_TheBytesOnTheWire) {
  Message message;
  message.body = CompareTenures{1, 2, 3, {4, 5}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "1b");
  EXPECT_EQ(hex(encode(message)).substr(head),
            "95"
            "01"
            "02"
            "03"
            "920405"
            "90");
  message.body = TenuresCompared{1, true, false, {2}, {{3, {4, {}}}}, {}, 9};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "1c");
  EXPECT_EQ(hex(encode(message)).substr(head),
            "97"
            "01"
            "c3"
            "c2"
            "9102"
            "91930304c41000000000000000000000000000000000"
            "90"
            "09");
  message.body = AskRecords{1, 2};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "1d");
  EXPECT_EQ(hex(encode(message)).substr(head), "9401029090");
  message.body = RecordsKnown{1, true, {{2, 3}}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "1e");
  EXPECT_EQ(hex(encode(message)).substr(head), "9301c391920203");
}

TEST(Codec, TypesAreNamed) {
  EXPECT_EQ(type_name(Body{Join{}}), "join");
  EXPECT_EQ(type_name(Body{PingRequest{}}), "ping_request");
  EXPECT_EQ(type_name(Body{BatchAck{}}), "batch_ack");
  EXPECT_EQ(type_name(Body{Answer{}}), "answer");
  EXPECT_EQ(type_name(Body{LeavesDiffer{}}), "leaves_differ");
  EXPECT_EQ(type_name(Body{SlotRequest{}}), "slot_request");
  EXPECT_EQ(type_name(Body{MirrorHints{}}), "mirror_hints");
  EXPECT_EQ(type_name(Body{LeaseAnswer{}}), "lease_answer");
  EXPECT_EQ(type_name(Body{RecordsKnown{}}), "records_known");
}

TEST(Codec, ABatchOfAThousandRecordsIsSmallAndFast) {
  Message message;
  std::vector<BatchRecord> records_sent;
  std::size_t payload = 0;
  for (int i = 0; i < 1000; ++i) {
    records_sent.push_back({static_cast<Partition>(i), std::string(90, 'x')});
    payload += 90;
  }
  message.body = Batch{1, 2, std::move(records_sent)};
  const std::string bytes = encode(message);
  EXPECT_LT(bytes.size(), payload + 1000 * 7 + 100);
  constexpr int rounds = 200;
  const auto start = std::chrono::steady_clock::now();
  std::size_t records = 0;
  for (int i = 0; i < rounds; ++i) records += std::get<Batch>(decode(encode(message))->body).records.size();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(records, rounds * 1000u);
  RecordProperty("microseconds_per_batch_both_ways", std::to_string(took.count() / rounds));
  EXPECT_LT(took.count() / rounds, 50000);  // about 150 us; far above that something copies
}

}  // namespace
}  // namespace orbweaver::ring
