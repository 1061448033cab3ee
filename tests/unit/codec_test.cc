// The wire format: a message that is encoded decodes to the same message, and messages of strangers do no harm.
#include "ring/codec.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace orbweaver::ring {
namespace {

// Random messages of every type.
class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::uint64_t number() { return random_() >> (random_() % 64); }
  std::string bytes(std::size_t max) {
    std::string text(random_() % (max + 1), '\0');
    for (char& c : text) c = static_cast<char>(random_());
    return text;
  }
  PeerId id() {
    PeerId made;
    for (std::uint8_t& byte : made.bytes) byte = static_cast<std::uint8_t>(random_());
    return made;
  }
  Member member() {
    Member made;
    made.id = id();
    made.address = "10.0." + std::to_string(random_() % 256) + ".1:" + std::to_string(1 + random_() % 65535);
    made.capacity = static_cast<std::uint32_t>(random_() % (max_capacity + 1));
    made.incarnation = number() >> 2;
    made.started = made.incarnation / 2;
    made.state = static_cast<MemberState>(random_() % 5);
    made.suspect = random_() % 2 == 0;
    made.protocol = static_cast<std::uint16_t>(random_());
    return made;
  }
  PartitionTenure tenure() { return {static_cast<Partition>(random_()), {number(), id()}}; }
  Partition partition() { return static_cast<Partition>(random_()); }
  PartitionDigest root() { return {partition(), number()}; }
  template <class T>
  std::vector<T> some(T (Maker::*make)()) {
    std::vector<T> made(random_() % 5);
    for (T& one : made) one = (this->*make)();
    return made;
  }
  SlotAsk slot_ask() { return {number(), std::string(coin() ? 4 : 16, 'a'), number(), number(), number()}; }
  LeaseAsk lease_ask() {
    return {number(), static_cast<LeaseAction>(random_() % 3), id().bytes, number(), number(), text()};
  }
  std::string text() {
    const char* const pieces[] = {"a", "Z", " ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x95\xb8", "\x7f"};
    std::string made;
    for (std::size_t i = random_() % 60; i > 0; --i) made += pieces[random_() % std::size(pieces)];
    return made;
  }
  std::pair<std::string, std::string> setting() { return {text(), text()}; }
  BatchRecord record() { return {static_cast<Partition>(random_()), bytes(300)}; }
  std::map<std::string, std::uint64_t> counts() {
    std::map<std::string, std::uint64_t> made;
    for (std::size_t i = random_() % 5; i > 0; --i) made[text()] = number();
    return made;
  }
  bool coin() { return random_() % 2 == 0; }

  Body body(std::size_t type) {
    switch (type) {
      case 1:
        return Join{member(), id(), some(&Maker::setting)};
      case 2:
        return Welcome{id(),     some(&Maker::setting), some(&Maker::member), some(&Maker::text),
                       number(), some(&Maker::tenure)};
      case 3:
        return Refuse{text()};
      case 4:
        return Ping{number(), some(&Maker::member), number(), number()};
      case 5:
        return PingRequest{number(), member(), some(&Maker::member)};
      case 6:
        return PingAck{number(), some(&Maker::member), number(), number(), coin()};
      case 7:
        return Sync{coin(), some(&Maker::member), some(&Maker::text), some(&Maker::tenure), number()};
      case 8:
        return Batch{number(),
                     number(),
                     some(&Maker::record),
                     static_cast<BatchKind>(random_() % 3),
                     some(&Maker::tenure),
                     some(&Maker::partition),
                     number()};
      case 9:
        return BatchAck{number()};
      case 10:
        return BatchRefused{number(), some(&Maker::member), some(&Maker::tenure)};
      case 11:
        return WaveProbe{number(), number(), number(), number()};
      case 12:
        return WaveReply{number(), number(), number(), coin(), number(), number(), counts(), number(), number()};
      case 13:
        return Finish{number(), text(), counts(), stage(), id(), number(), number()};
      case 14:
        return FinishAck{number(), stage(), id(), coin(), text(), coin()};
      case 15:
        return Ask{number(), std::string(number() % (max_verb_bytes + 1), 'v'), text(), coin()};
      case 16:
        return Answer{number(), text()};
      case 17:
        return Roots{number(), static_cast<TransferKind>(random_() % 4), some(&Maker::root), some(&Maker::tenure)};
      case 18:
        return RootsCompared{number(), some(&Maker::partition), some(&Maker::partition), some(&Maker::tenure)};
      case 19:
        return Leaves{partition(), tenure().tenure, some(&Maker::number), number()};
      case 20:
        return LeavesDiffer{partition(), text(), number()};
      case 21:
        return SlotRequest{some(&Maker::slot_ask)};
      case 22:
        return SlotAnswer{{{number(), coin(), number()}, {number(), coin(), number()}}};
      case 23:
        return PageFingerprints{{{number(), text()}, {number(), text()}}};
      case 24:
        return MirrorHints{{{text(), text()}, {text(), text()}}};
      case 25:
        return LeaseRequest{some(&Maker::lease_ask)};
      case 26:
        return LeaseAnswer{{{number(), coin(), number()}, {number(), coin(), number()}}};
      case 27:
        return CompareTenures{number(), number(), number(), some(&Maker::number), some(&Maker::member)};
      case 28:
        return TenuresCompared{
            number(), coin(), coin(), some(&Maker::partition), some(&Maker::tenure), some(&Maker::member)};
      case 29:
        return AskRecords{number(), number(), some(&Maker::tenure), some(&Maker::member)};
      default:
        return RecordsKnown{number(), coin(), some(&Maker::root)};
    }
  }
  EndStage stage() { return static_cast<EndStage>(random_() % 3); }
  Message message(std::size_t type) { return Message{protocol_version, id(), id(), number(), body(type)}; }

  std::mt19937_64& random() { return random_; }

 private:
  std::mt19937_64 random_;
};

void expect_same(const Settings& a, const Settings& b) { EXPECT_EQ(a, b); }

// Compares field by field, not by encoding again: that would hide an error that both directions share.
struct Same {
  template <class A, class B>
  void operator()(const A&, const B&) const {
    ADD_FAILURE() << "another type came out";
  }
  void operator()(const Join& a, const Join& b) const {
    EXPECT_EQ(a.self, b.self);
    EXPECT_EQ(a.ring, b.ring);
    expect_same(a.given, b.given);
  }
  void operator()(const Welcome& a, const Welcome& b) const {
    EXPECT_EQ(a.ring, b.ring);
    expect_same(a.settings, b.settings);
    EXPECT_EQ(a.members, b.members);
    EXPECT_EQ(a.seeds, b.seeds);
    EXPECT_EQ(a.tenures, b.tenures);
  }
  void operator()(const Refuse& a, const Refuse& b) const { EXPECT_EQ(a.reason, b.reason); }
  void operator()(const Ping& a, const Ping& b) const {
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.gossip, b.gossip);
    EXPECT_EQ(a.directives_fingerprint, b.directives_fingerprint);
    EXPECT_EQ(a.tenures_fingerprint, b.tenures_fingerprint);
  }
  void operator()(const PingRequest& a, const PingRequest& b) const {
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(a.gossip, b.gossip);
  }
  void operator()(const PingAck& a, const PingAck& b) const {
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.gossip, b.gossip);
    EXPECT_EQ(a.directives_fingerprint, b.directives_fingerprint);
    EXPECT_EQ(a.tenures_fingerprint, b.tenures_fingerprint);
    EXPECT_EQ(a.reached, b.reached);
  }
  void operator()(const Sync& a, const Sync& b) const {
    EXPECT_EQ(a.reply_wanted, b.reply_wanted);
    EXPECT_EQ(a.members, b.members);
    EXPECT_EQ(a.directives_fingerprint, b.directives_fingerprint);
    EXPECT_EQ(a.seeds, b.seeds);
    EXPECT_EQ(a.tenures, b.tenures);
  }
  void operator()(const Batch& a, const Batch& b) const {
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.ring_fingerprint, b.ring_fingerprint);
    EXPECT_EQ(std::tie(a.kind, a.tenures, a.complete, a.directives_fingerprint),
              std::tie(b.kind, b.tenures, b.complete, b.directives_fingerprint));
    ASSERT_EQ(a.records.size(), b.records.size());
    for (std::size_t i = 0; i < a.records.size(); ++i) {
      EXPECT_EQ(a.records[i].partition, b.records[i].partition);
      EXPECT_EQ(a.records[i].record, b.records[i].record);
    }
  }
  void operator()(const BatchAck& a, const BatchAck& b) const { EXPECT_EQ(a.sequence, b.sequence); }
  void operator()(const BatchRefused& a, const BatchRefused& b) const {
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.members, b.members);
    EXPECT_EQ(a.tenures, b.tenures);
  }
  void operator()(const WaveProbe& a, const WaveProbe& b) const {
    EXPECT_EQ(std::tie(a.wave, a.ring_fingerprint, a.grant_wave, a.grant_pages),
              std::tie(b.wave, b.ring_fingerprint, b.grant_wave, b.grant_pages));
  }
  void operator()(const WaveReply& a, const WaveReply& b) const {
    EXPECT_EQ(std::tie(a.wave, a.ring_fingerprint, a.life, a.passive, a.sent, a.received, a.counts),
              std::tie(b.wave, b.ring_fingerprint, b.life, b.passive, b.sent, b.received, b.counts));
    EXPECT_EQ(std::tie(a.tenures_fingerprint, a.directives_fingerprint),
              std::tie(b.tenures_fingerprint, b.directives_fingerprint));
  }
  void operator()(const Finish& a, const Finish& b) const {
    EXPECT_EQ(std::tie(a.wave, a.reason, a.totals, a.stage, a.by, a.tenures_fingerprint, a.directives_fingerprint),
              std::tie(b.wave, b.reason, b.totals, b.stage, b.by, b.tenures_fingerprint, b.directives_fingerprint));
  }
  void operator()(const FinishAck& a, const FinishAck& b) const {
    EXPECT_EQ(std::tie(a.wave, a.stage, a.by, a.agrees, a.reason, a.asks),
              std::tie(b.wave, b.stage, b.by, b.agrees, b.reason, b.asks));
  }
  void operator()(const Ask& a, const Ask& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.verb, a.body, a.for_ring), std::tie(b.sequence, b.verb, b.body, b.for_ring));
  }
  void operator()(const Answer& a, const Answer& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.body), std::tie(b.sequence, b.body));
  }
  void operator()(const Roots& a, const Roots& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.kind, a.tenures), std::tie(b.sequence, b.kind, b.tenures));
    ASSERT_EQ(a.roots.size(), b.roots.size());
    for (std::size_t i = 0; i < a.roots.size(); ++i)
      EXPECT_EQ(std::tie(a.roots[i].partition, a.roots[i].root), std::tie(b.roots[i].partition, b.roots[i].root));
  }
  void operator()(const RootsCompared& a, const RootsCompared& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.differ, a.later, a.tenures), std::tie(b.sequence, b.differ, b.later, b.tenures));
  }
  void operator()(const Leaves& a, const Leaves& b) const {
    EXPECT_EQ(std::tie(a.partition, a.tenure, a.leaves, a.sequence),
              std::tie(b.partition, b.tenure, b.leaves, b.sequence));
  }
  void operator()(const SlotRequest& a, const SlotRequest& b) const {
    ASSERT_EQ(a.asks.size(), b.asks.size());
    for (std::size_t i = 0; i < a.asks.size(); ++i)
      EXPECT_EQ(std::tie(a.asks[i].id, a.asks[i].address, a.asks[i].good_for, a.asks[i].delay, a.asks[i].in),
                std::tie(b.asks[i].id, b.asks[i].address, b.asks[i].good_for, b.asks[i].delay, b.asks[i].in));
  }
  void operator()(const SlotAnswer& a, const SlotAnswer& b) const {
    ASSERT_EQ(a.slots.size(), b.slots.size());
    for (std::size_t i = 0; i < a.slots.size(); ++i)
      EXPECT_EQ(std::tie(a.slots[i].id, a.slots[i].given, a.slots[i].wait),
                std::tie(b.slots[i].id, b.slots[i].given, b.slots[i].wait));
  }
  void operator()(const LeaseRequest& a, const LeaseRequest& b) const {
    ASSERT_EQ(a.asks.size(), b.asks.size());
    for (std::size_t i = 0; i < a.asks.size(); ++i)
      EXPECT_EQ(
          std::tie(a.asks[i].id, a.asks[i].action, a.asks[i].host, a.asks[i].delay, a.asks[i].wait, a.asks[i].name),
          std::tie(b.asks[i].id, b.asks[i].action, b.asks[i].host, b.asks[i].delay, b.asks[i].wait, b.asks[i].name));
  }
  void operator()(const LeaseAnswer& a, const LeaseAnswer& b) const {
    ASSERT_EQ(a.leases.size(), b.leases.size());
    for (std::size_t i = 0; i < a.leases.size(); ++i)
      EXPECT_EQ(std::tie(a.leases[i].id, a.leases[i].given, a.leases[i].wait),
                std::tie(b.leases[i].id, b.leases[i].given, b.leases[i].wait));
  }
  void operator()(const PageFingerprints& a, const PageFingerprints& b) const {
    ASSERT_EQ(a.fingerprints.size(), b.fingerprints.size());
    for (std::size_t i = 0; i < a.fingerprints.size(); ++i)
      EXPECT_EQ(std::tie(a.fingerprints[i].page, a.fingerprints[i].host),
                std::tie(b.fingerprints[i].page, b.fingerprints[i].host));
  }
  void operator()(const MirrorHints& a, const MirrorHints& b) const {
    ASSERT_EQ(a.pages.size(), b.pages.size());
    for (std::size_t i = 0; i < a.pages.size(); ++i)
      EXPECT_EQ(std::tie(a.pages[i].host, a.pages[i].other), std::tie(b.pages[i].host, b.pages[i].other));
  }
  void operator()(const CompareTenures& a, const CompareTenures& b) const {
    EXPECT_EQ(std::tie(a.nonce, a.fingerprint, a.members_fingerprint, a.sums, a.members),
              std::tie(b.nonce, b.fingerprint, b.members_fingerprint, b.sums, b.members));
  }
  void operator()(const TenuresCompared& a, const TenuresCompared& b) const {
    EXPECT_EQ(std::tie(a.nonce, a.confirmed, a.more, a.ranges, a.tenures, a.members),
              std::tie(b.nonce, b.confirmed, b.more, b.ranges, b.tenures, b.members));
  }
  void operator()(const AskRecords& a, const AskRecords& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.sum, a.tenures, a.members), std::tie(b.sequence, b.sum, b.tenures, b.members));
  }
  void operator()(const RecordsKnown& a, const RecordsKnown& b) const {
    EXPECT_EQ(std::tie(a.sequence, a.later), std::tie(b.sequence, b.later));
    ASSERT_EQ(a.roots.size(), b.roots.size());
    for (std::size_t i = 0; i < a.roots.size(); ++i)
      EXPECT_EQ(std::tie(a.roots[i].partition, a.roots[i].root), std::tie(b.roots[i].partition, b.roots[i].root));
  }
  void operator()(const LeavesDiffer& a, const LeavesDiffer& b) const {
    EXPECT_EQ(std::tie(a.partition, a.differ, a.sequence), std::tie(b.partition, b.differ, b.sequence));
  }
};

constexpr std::size_t types = std::variant_size_v<Body>;

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

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

// An envelope without its body: [4, type, ring, from, 0, ...].
std::string envelope(std::uint8_t type, std::string body) {
  const std::string id = std::string("\xc4\x10") + std::string(16, '\0');
  return std::string("\x96\x04") + static_cast<char>(type) + id + id + std::string(1, '\0') + std::move(body);
}

TEST(Codec, EveryTypeComesBackAsItWas) {
  Maker maker(1);
  for (std::size_t type = 1; type <= types; ++type) {
    for (int round = 0; round < 200; ++round) {
      const Message sent = maker.message(type);
      ASSERT_EQ(sent.body.index() + 1, type);
      const Result<Message> got = decode(encode(sent));
      ASSERT_TRUE(got) << got.error().message;
      EXPECT_EQ(got->version, sent.version);
      EXPECT_EQ(got->ring, sent.ring);
      EXPECT_EQ(got->from, sent.from);
      EXPECT_EQ(got->incarnation, sent.incarnation);
      std::visit(Same{}, got->body, sent.body);
    }
  }
}

// The bytes themselves, written by hand from the msgpack specification: a change here breaks rings of mixed versions.
TEST(Codec, Vectors_TheBytesOnTheWire) {
  Message message;
  message.ring.bytes.fill(0x11);
  message.from.bytes.fill(0x22);
  message.incarnation = 300;
  Tenure tenure{9, {}};
  tenure.holder.bytes.fill(0x44);
  message.body = Batch{5, 1ull << 40, {{1023, std::string("\x00\xff", 2)}}, BatchKind::transfer, {{1023, tenure}}, {3}};
  EXPECT_EQ(hex(encode(message)),
            "96"
            "04"
            "08"
            "c410"
            "11111111111111111111111111111111"
            "c410"
            "22222222222222222222222222222222"
            "cd012c"
            "97"
            "05"
            "cf0000010000000000"
            "91"
            "92"
            "cd03ff"
            "c402"
            "00ff"
            "02"
            "91"
            "93"
            "cd03ff"
            "09"
            "c410"
            "44444444444444444444444444444444"
            "91"
            "03"
            "00");
  Member member;
  member.id.bytes.fill(0x33);
  member.address = "a:1";
  member.incarnation = 7;
  member.state = MemberState::down;
  member.started = 6;
  member.protocol = 2;
  message.body = Ping{1, {member}, 2, 8};
  EXPECT_EQ(hex(encode(message)),
            "96"
            "04"
            "04"
            "c410"
            "11111111111111111111111111111111"
            "c410"
            "22222222222222222222222222222222"
            "cd012c"
            "94"
            "01"
            "91"
            "98"
            "c410"
            "33333333333333333333333333333333"
            "a3613a31"
            "64"
            "07"
            "04"
            "c2"
            "06"
            "02"
            "02"
            "08");
  message.body = BatchRefused{5, {}, {}};  // no room
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "0a");
  EXPECT_EQ(hex(encode(message)).substr(84), "93059090");
  message.body = SlotRequest{{{1, std::string("\x7f\0\0\1", 4), 2, 3, 4}}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "15");
  EXPECT_EQ(hex(encode(message)).substr(84),
            "91"
            "91"
            "95"
            "01"
            "c4047f000001"
            "02"
            "03"
            "04");
  message.body = SlotAnswer{{{1, true, 2}}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "16");
  EXPECT_EQ(hex(encode(message)).substr(84),
            "91"
            "91"
            "93"
            "01"
            "c3"
            "02");
  Md5 host;
  host.fill(0x55);
  message.body = LeaseRequest{{{1, LeaseAction::return_, host, 2, 3, "b.c"}}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "19");
  EXPECT_EQ(hex(encode(message)).substr(84),
            "91"
            "91"
            "96"
            "01"
            "02"
            "c41055555555555555555555555555555555"
            "02"
            "03"
            "a3622e63");
  message.body = LeaseAnswer{{{1, false, 2}}};
  EXPECT_EQ(hex(encode(message)).substr(4, 2), "1a");
  EXPECT_EQ(hex(encode(message)).substr(84),
            "91"
            "91"
            "93"
            "01"
            "c2"
            "02");
  message.body = Finish{1, "end", {{"pages", 9}}};
  EXPECT_EQ(hex(encode(message)).substr(84),
            "9701a3656e64"
            "81a5706167657309"
            "01c410000000000000000000000000000000000000");
}

TEST(Codec, EveryTruncationIsAnError) {
  Maker maker(2);
  for (std::size_t type = 1; type <= types; ++type) {
    for (int round = 0; round < 3; ++round) {
      const std::string bytes = encode(maker.message(type));
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size)))
            << type_name(maker.body(type)) << " cut to " << size;
      }
      EXPECT_FALSE(decode(bytes + '\0')) << "a byte too many";
    }
  }
}

TEST(Codec, MutationsNeverEscape_AndWhatDecodesEncodesAgain) {
  Maker maker(3);
  std::size_t decoded = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 40000; ++round) {
    std::string bytes = encode(maker.message(1 + static_cast<std::size_t>(round) % types));
    const std::size_t changes = 1 + maker.random()() % 4;
    for (std::size_t i = 0; i < changes; ++i)
      bytes[maker.random()() % bytes.size()] = static_cast<char>(maker.random()());
    const Result<Message> got = decode(bytes);
    if (!got) {
      EXPECT_FALSE(got.error().message.empty());
      ++refused;
      continue;
    }
    ++decoded;
    EXPECT_TRUE(decode(encode(*got)));
  }
  EXPECT_GT(decoded, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST(Codec, NoiseIsRefused) {
  Maker maker(4);
  for (int round = 0; round < 20000; ++round) EXPECT_FALSE(decode(maker.bytes(200)));
  EXPECT_EQ(error_of(""), "bad ring message: it is cut short");
  EXPECT_EQ(error_of("\x01"), "bad ring message: it is not an Orbweaver message");
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\n\r\n"), "bad ring message: bytes follow its end");
}

TEST(Codec, UnknownTypeAndNewerVersionAreNamed) {
  EXPECT_NE(error_of(envelope(types + 1, "\x90")).find("type " + std::to_string(types + 1)), std::string::npos);
  EXPECT_NE(error_of(envelope(0, "\x90")).find("type 0"), std::string::npos);
  Message message;
  message.version = protocol_version + 1;
  message.body = FinishAck{1};
  EXPECT_NE(error_of(encode(message)).find("version " + std::to_string(protocol_version + 1)), std::string::npos);
  message.version = protocol_version_min - 1;
  EXPECT_NE(error_of(encode(message)).find("version " + std::to_string(protocol_version_min - 1)), std::string::npos);
  message.version = 0;
  EXPECT_FALSE(decode(encode(message)));
  // A newer version is reported as such even when its type is unknown and its envelope longer.
  std::string newer = envelope(99, "\x90");
  newer[0] = '\x97';
  newer[1] = '\x07';
  newer += "\xc0";
  EXPECT_NE(error_of(newer).find("version 7"), std::string::npos);
}

TEST(Codec, MoreFieldsThanKnownAreSkipped) {
  std::string longer = envelope(9, "\x93\x05\xa3new\x92\x01\xc0");
  longer[0] = '\x97';
  longer += "\x81\xa1k\xcb" + std::string(8, '\0');
  const Result<Message> got = decode(longer);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(std::get<BatchAck>(got->body).sequence, 5u);
}

TEST(Codec, WrongShapesAreRefusedWithTheTypeInTheMessage) {
  EXPECT_EQ(error_of(envelope(9, "\x90")), "bad ring message: in batch_ack: fields are missing");
  EXPECT_EQ(error_of(envelope(9, "\x05")), "bad ring message: in batch_ack: an array of fields is missing");
  EXPECT_EQ(error_of(envelope(9, "\x91\xff")), "bad ring message: in batch_ack: a number is missing or negative");
  EXPECT_EQ(error_of(envelope(3, "\x92\xc4\x01x\xc2")), "bad ring message: in refuse: a text is missing");
  EXPECT_EQ(error_of(envelope(8, std::string("\x93\x01\x02\x91\x92\x00\xa1x", 8))),
            "bad ring message: in batch: binary data is missing");
  EXPECT_EQ(error_of(envelope(8, std::string("\x93\x01\x02\x91\x92\xce\x00\x01\x00\x00\xc4\x00", 12))),
            "bad ring message: in batch: number 65536 is too large");
}

TEST(Codec, ClaimedLengthsCostNothing) {
  // An array, a map, a text and a binary that claim four billion bytes or elements each.
  for (const char* claim :
       {"\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff", "\xc6\xff\xff\xff\xff"}) {
    EXPECT_FALSE(decode(envelope(3, std::string("\x91") + claim)));
    EXPECT_FALSE(decode(claim));
  }
  EXPECT_FALSE(decode(std::string(1000, '\x91')));  // nested deeply
  EXPECT_FALSE(decode(std::string(1u << 20, '\x91')));
  EXPECT_FALSE(decode(envelope(3, std::string("\x91\xc7\x01\x05x"))));  // an extension
}

TEST(Codec, LimitsHold) {
  Message message;
  message.body = Refuse{std::string(max_text_bytes, 'x')};
  EXPECT_TRUE(decode(encode(message)));
  message.body = Refuse{std::string(max_text_bytes + 1, 'x')};
  EXPECT_FALSE(decode(encode(message)));
  message.body = Batch{1, 1, std::vector<BatchRecord>(max_batch_records)};
  EXPECT_TRUE(decode(encode(message)));
  message.body = Batch{1, 1, std::vector<BatchRecord>(max_batch_records + 1)};
  EXPECT_FALSE(decode(encode(message)));
  message.body = Sync{false, std::vector<Member>(max_members, a_member()), {}};
  EXPECT_TRUE(decode(encode(message)));
  message.body = Sync{false, std::vector<Member>(max_members + 1, a_member()), {}};
  EXPECT_FALSE(decode(encode(message)));
  message.body = Join{a_member(), {}, Settings(max_settings + 1)};
  EXPECT_FALSE(decode(encode(message)));
  Finish finish;
  for (std::size_t i = 0; i <= max_counts; ++i) finish.totals[std::to_string(i)] = i;
  message.body = finish;
  EXPECT_FALSE(decode(encode(message)));
  message.body = Batch{1, 1, {{1, std::string(4u << 20, 'x')}, {1, std::string(4u << 20, 'x')}}};
  EXPECT_NE(error_of(encode(message)).find("larger than 8388608 bytes"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver::ring
