// Messages of the right shape that decode() refuses: bad texts and members, too many values. Also the values that it
// reads of a stored view in spite of its faults.
#include <gtest/gtest.h>

#include <string>

#include "ring/codec.h"

namespace orbweaver::ring {
namespace {

std::string error_of(std::string_view bytes) {
  const Result<Message> decoded = decode(bytes);
  return decoded ? "decoded" : decoded.error().message;
}

Member a_member() {
  Member member;
  member.id.bytes.fill(0x33);
  member.address = "a:1";
  member.incarnation = 7;
  return member;
}

// A sync message with this body.
std::string sync_of(std::string body) {
  const std::string id = std::string("\xc4\x10") + std::string(16, '\0');
  return std::string("\x96\x04\x07") + id + id + std::string(1, '\0') + std::move(body);
}

TEST(CodecOutside, MembersBeyondTheirBoundsAreRefused) {
  Message message;
  Member member = a_member();
  const auto error_with = [&message](const Member& claimed) {
    message.body = Sync{false, {claimed}, {}};
    return error_of(encode(message));
  };
  EXPECT_EQ(error_with(member), "decoded");
  member.capacity = max_capacity + 1;
  EXPECT_NE(error_with(member).find("capacity 10001"), std::string::npos);
  member = a_member();
  member.incarnation = max_incarnation + 1;
  EXPECT_NE(error_with(member).find("incarnation"), std::string::npos);
  member = a_member();
  member.started = member.incarnation + 1;
  EXPECT_EQ(error_with(member), "decoded") << "a time of day, which no number of lives bounds";
  member = a_member();
  member.id = {};
  EXPECT_NE(error_with(member).find("identity"), std::string::npos);
  for (const std::string& address :
       {std::string(max_address_bytes, 'a') + ":1", std::string("\xff\xfe:1"), std::string("a\x1b[31m:1"),
        std::string(), std::string("a"), std::string("a:"), std::string("a:0"), std::string("a:65536"),
        std::string("::1:7"), std::string("[::1]"), std::string("[a]:1"), std::string("a b:1"),
        std::string("a:1\0", 4)}) {
    member = a_member();
    member.address = address;
    EXPECT_NE(error_with(member), "decoded") << address;
  }
  for (const char* address : {"a:1", "peer-1.example:65535", "10.0.0.1:7400", "[::1]:7400", "[fe80::1%2]:1"}) {
    member = a_member();
    member.address = address;
    EXPECT_EQ(error_with(member), "decoded") << address;
  }
  member = a_member();
  member.state = static_cast<MemberState>(5);
  EXPECT_NE(error_with(member).find("number 5"), std::string::npos);
}

TEST(CodecOutside, TextsAreUtf8) {
  Message message;
  message.from.bytes.fill(0x22);
  const auto reported = [&message](Body body) {
    message.body = std::move(body);
    return error_of(encode(message));
  };
  for (const char* bad : {"\xff", "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "a\xc3"}) {
    const std::string text(bad);
    EXPECT_EQ(reported(Finish{1, text, {}}), "bad ring message: in finish from 22222222: a text is not UTF-8");
    EXPECT_NE(reported(Finish{1, "end", {{text, 1}}}), "decoded");
    EXPECT_NE(reported(Refuse{text}), "decoded");
    EXPECT_NE(reported(Ask{1, text, "{}"}), "decoded");
    EXPECT_NE(reported(Ask{1, "status", text}), "decoded");
    EXPECT_NE(reported(Answer{1, text}), "decoded");
    EXPECT_NE(reported(Sync{false, {}, {text}}), "decoded");
    EXPECT_NE(reported(Join{a_member(), {}, {{"contact", text}}}), "decoded");
    EXPECT_NE(reported(PageFingerprints{{{1, text}}}), "decoded");
  }
  EXPECT_EQ(reported(LeavesDiffer{1, "\xff"}), "decoded") << "binary, not text";
}

// The verb of a question has a limit of its own.
TEST(CodecOutside, AVerbIsShort) {
  Message message;
  message.body = Ask{1, std::string(max_verb_bytes, 'v'), "{}", false};
  EXPECT_EQ(error_of(encode(message)), "decoded");
  message.body = Ask{1, std::string(max_verb_bytes + 1, 'v'), "{}", false};
  EXPECT_NE(error_of(encode(message)).find("verb is longer than 32 bytes"), std::string::npos);
}

TEST(CodecOutside, AnAddressHasFourOrSixteenBytes) {
  Message message;
  for (std::size_t size = 0; size <= 20; ++size) {
    message.body = SlotRequest{{{1, "\x7f\0\0\1", 0, 0, 0}, {2, std::string(size, 'a'), 0, 0, 0}}};
    std::get<SlotRequest>(message.body).asks.front().address.resize(4);
    const std::string error = error_of(encode(message));
    if (size == 4 || size == 16) {
      EXPECT_EQ(error, "decoded") << size;
    } else {
      EXPECT_NE(error.find("an IP address has " + std::to_string(size) + " bytes"), std::string::npos) << error;
    }
  }
}

TEST(CodecOutside, ALeaseIsTakenRenewedOrReturnedByAHostsDigest) {
  Message message;
  LeaseAsk ask{.id = 1};
  for (const int action : {0, 1, 2}) {
    ask.action = static_cast<LeaseAction>(action);
    message.body = LeaseRequest{{ask}};
    EXPECT_EQ(error_of(encode(message)), "decoded") << action;
  }
  ask.action = static_cast<LeaseAction>(3);
  message.body = LeaseRequest{{ask}};
  EXPECT_NE(error_of(encode(message)).find("number 3 is too large"), std::string::npos);
  ask.action = LeaseAction::take;
  message.body = LeaseRequest{{ask}};
  std::string bytes = encode(message);
  const std::size_t digest = bytes.find(std::string("\xc4\x10", 2), bytes.size() - 22);
  ASSERT_NE(digest, std::string::npos);
  bytes[digest + 1] = '\x0f';
  bytes.erase(digest + 2, 1);
  EXPECT_NE(error_of(bytes).find("an id or a digest is not 16 bytes"), std::string::npos) << error_of(bytes);
}

TEST(CodecOutside, AsksAndTheirAnswersAreFew) {
  Message message;
  for (const bool one_more : {false, true}) {
    const std::size_t count = max_asks + (one_more ? 1 : 0);
    for (Body body : {Body{SlotRequest{std::vector<SlotAsk>(count, {.address = "four"})}},
                      Body{SlotAnswer{std::vector<Slot>(count)}}, Body{LeaseRequest{std::vector<LeaseAsk>(count)}},
                      Body{LeaseAnswer{std::vector<Lease>(count)}}}) {
      message.body = std::move(body);
      const std::string error = error_of(encode(message));
      EXPECT_EQ(error.find("a list is longer than 1024") != std::string::npos, one_more) << error;
      EXPECT_EQ(error == "decoded", !one_more) << error;
    }
  }
}

TEST(CodecOutside, ValuesAreCounted) {
  const std::string small = std::string("\xdd\x00\x00\xff\xff", 5) + std::string(0xffff, '\0');
  std::string lists = std::string("\xdd\x00\x00\x00\x78", 5);
  for (int i = 0; i < 120; ++i) lists += small;
  EXPECT_NE(error_of(sync_of(lists)).find("more than 700000 values"), std::string::npos);
}

TEST(CodecOutside, StoredMembersAreReadOneByOne) {
  Message message;
  Member bad = a_member();
  bad.address = "\xff\xfe";
  Member far = a_member();
  far.incarnation = UINT64_MAX;
  message.body = Sync{false, {a_member(), bad, far, a_member()}, {}};
  std::vector<std::string> dropped;
  const auto members = decode_stored_members(encode(message), dropped);
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_EQ(*members, (std::vector<Member>{a_member(), a_member()}));
  EXPECT_EQ(dropped.size(), 2u);
  // More members than a ring has, as an earlier version may have stored.
  message.body = Sync{false, std::vector<Member>(max_members + 3, a_member()), {}};
  dropped.clear();
  EXPECT_EQ(decode_stored_members(encode(message), dropped)->size(), max_members);
  EXPECT_EQ(dropped.size(), 3u);
  message.body = FinishAck{1};
  EXPECT_FALSE(decode_stored_members(encode(message), dropped));
  EXPECT_FALSE(decode_stored_members("rubbish", dropped));
}

TEST(CodecOutside, MemoryOfAMessageIsWhatItsListsAndTextsHold) {
  Message message;
  message.body = FinishAck{1};
  EXPECT_EQ(memory_bytes(message), sizeof(Message));
  message.body = Batch{1, 1, std::vector<BatchRecord>(1000, {1, std::string(200, 'x')})};
  EXPECT_GE(memory_bytes(message), sizeof(Message) + 1000 * (sizeof(BatchRecord) + 201));
  EXPECT_LE(memory_bytes(message), sizeof(Message) + 1000 * (sizeof(BatchRecord) + 201) + 64);
  message.body = Sync{false, {}, std::vector<std::string>(65536)};  // one byte each on the wire
  EXPECT_GE(memory_bytes(message), 65536 * sizeof(std::string));
  message.body = Ask{1, "seed", std::string(1u << 20, 'x')};
  EXPECT_GE(memory_bytes(message), 1u << 20);
}

}  // namespace
}  // namespace orbweaver::ring
