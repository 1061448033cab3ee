// libFuzzer: a sequence of decoded messages into a real Peer: of every type, with harmful fields, and encodings with
// bytes changed; time and restarts in between. The invariants are in fuzz_peer.h.
#include "storage/record.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/fuzz/fuzz_peer.h"

namespace orbweaver::fuzz {
namespace {

constexpr int max_events = 200;

const char* const urls[] = {
    "http://a.test/", "http://a.test/b?c=d", "https://b.test:8443/", "http://10.0.0.9/x", "ftp://a.test/", "http://",
    "no url",         "http://a.test/\xff"};
const char* const verbs[] = {"status", "explain", "seed", "recrawl", "traps", "forget", "leave", "nothing"};
const char* const bodies[] = {"",
                              "{}",
                              "[]",
                              R"({"url": "http://a.test/"})",
                              R"({"url": 1})",
                              R"({"urls": ["http://a.test/", "http://b.test/x"]})",
                              R"({"urls": [1, null, [[[]]], {"a": {}}]})",
                              R"({"older_than_us": "x"})",
                              R"({"older_than_us": -9223372036854775808})",
                              R"({"before_us": 9223372036854775807, "match": "a|b"})",
                              R"({"match": "("})",
                              R"({"readmit": true})",
                              R"({"readmit": 5, "host": {}})",
                              R"({"after": {"01010101010101010101010101010101": 5}})",
                              R"({"id": "03"})",
                              R"({"id": 5})",
                              R"({"counts": {"a": 18446744073709551615, "b": -1, "c": "x"}, "id": [[]]})"};

class Maker {
 public:
  Maker(Bytes& bytes, const FuzzedPeer& peer) : in_(bytes), peer_(peer) {}

  ring::Message message() {
    ring::Message made;
    made.version = ring::protocol_version;
    made.ring = in_.below(16) == 0 ? ring::RingId{} : id_of(FuzzedPeer::ring_number);
    made.from = in_.below(16) == 0 ? ring::PeerId{} : id();
    made.incarnation = incarnation();
    made.body = body();
    return made;
  }

 private:
  template <class T>
  std::vector<T> some(T (Maker::*make)()) {
    std::vector<T> made;
    for (std::uint8_t left = in_.below(5) == 0 ? in_.byte() : in_.below(4); left > 0 && !in_.empty(); --left)
      made.push_back((this->*make)());
    return made;
  }
  ring::PeerId id() { return id_of(in_.below(12)); }
  ring::Partition partition() {
    return in_.below(8) == 0 ? in_.word() : static_cast<ring::Partition>(in_.below(FuzzedPeer::partitions));
  }
  std::uint64_t sequence() { return in_.coin() ? peer_.asked : in_.number(); }
  // Mostly of the first lives.
  std::uint64_t incarnation() {
    switch (in_.below(5)) {
      case 0:
        return in_.number() & (ring::max_incarnation - 1);
      case 1:
        return ring::incarnations_a_life * in_.word();
      default:
        return ring::incarnations_a_life + in_.byte();
    }
  }
  std::string url() { return in_.below(8) == 0 ? in_.text(60) : urls[in_.below(std::size(urls))]; }
  std::string word() { return in_.coin() ? std::string("fetched") : in_.text(12); }
  ring::Member member() {
    ring::Member made;
    made.id = id();
    made.address = in_.below(16) == 0 ? in_.text(40) : "10.0.0." + std::to_string(in_.below(12) + 1) + ":7400";
    made.capacity = in_.coin() ? 100 : static_cast<std::uint32_t>(in_.number() % (ring::max_capacity + 1));
    made.incarnation = incarnation();
    made.started = in_.coin() ? made.incarnation : in_.number();
    made.state = static_cast<ring::MemberState>(in_.below(5));
    made.suspect = in_.coin();
    made.protocol = in_.coin() ? ring::protocol_version : in_.word();
    return made;
  }
  ring::PartitionTenure tenure() { return {partition(), {in_.number(), id()}}; }
  ring::PartitionDigest root() { return {partition(), in_.coin() ? 0 : in_.number()}; }
  ring::BatchRecord record() {
    ring::BatchRecord made{partition(), {}};
    switch (in_.below(6)) {
      case 0:
        made.record = in_.text(80);
        break;
      case 1: {
        storage::HostClock clock;
        clock.host = "a.test";
        clock.next_allowed = peer_.now + Duration(static_cast<std::int64_t>(in_.number()) / 4);
        clock.failures = in_.word();
        clock.pages = in_.number();
        storage::encode_wait(clock, peer_.now, made.record);
        break;
      }
      case 2:
        storage::encode_robots(in_.coin() ? "http://a.test" : in_.text(20),
                               {.fetched = in_.coin() ? Time{} : peer_.now,
                                .expires = peer_.now + std::chrono::hours(1),
                                .kind = in_.byte(),
                                .body = in_.text(60),
                                .unreachable_since = in_.coin() ? Time{} : peer_.now,
                                .cause = static_cast<storage::Reason>(in_.coin() ? std::uint8_t{0} : in_.byte())},
                               peer_.now, made.record);
        break;
      case 3:
        storage::encode_last_access_unknown(peer_.now - std::chrono::seconds(in_.byte()), peer_.now, made.record);
        break;
      default: {
        storage::UrlRecord of;
        of.state = static_cast<storage::UrlState>(1 + in_.below(4));
        of.reason = static_cast<storage::Reason>(in_.byte());
        of.depth = in_.coin() ? in_.byte() : in_.word();
        of.steps = in_.below(25);
        of.attempts = in_.byte();
        of.status = in_.word();
        of.off_site = in_.below(16);
        of.visit = in_.coin() ? std::uint16_t{0} : in_.word();
        of.score = in_.coin() ? std::uint16_t{0} : in_.word();
        of.since = in_.coin() ? peer_.now : Time(Duration(static_cast<std::int64_t>(in_.eight())));
        of.lastmod = in_.coin() ? Time{} : Time(Duration(static_cast<std::int64_t>(in_.eight())));
        of.validator = in_.coin() ? std::string() : in_.text(20);
        of.not_before = in_.coin() ? Time{} : Time(Duration(static_cast<std::int64_t>(in_.eight())));
        of.sitemap_visit = in_.coin() ? std::uint16_t{0} : in_.word();
        of.url = url();
        storage::encode_record(of, made.record);
      }
    }
    return made;
  }
  ring::SlotAsk slot_ask() {
    static constexpr std::size_t sizes[] = {4, 16, 17, 0};
    std::string address(sizes[in_.below(4)], static_cast<char>(in_.below(5)));
    return {.id = in_.number(), .address = std::move(address), .good_for = in_.number()};
  }
  ring::Slot slot() { return {in_.coin() ? in_.byte() : in_.number(), in_.coin(), in_.number()}; }
  ring::LeaseAsk lease_ask() {
    ring::LeaseAsk ask{.id = in_.number(), .action = static_cast<ring::LeaseAction>(in_.below(4))};
    ask.host.fill(in_.below(5));
    ask.delay = in_.number();
    ask.wait = in_.number();
    return ask;
  }
  ring::Lease lease() { return {in_.coin() ? in_.byte() : in_.number(), in_.coin(), in_.number()}; }
  ring::PageFingerprint fingerprint() { return {in_.byte(), host()}; }
  ring::MirrorHint mirror_hint() { return {host(), host()}; }
  std::string host() {
    return in_.below(8) == 0 ? in_.text(30) : std::string(1, static_cast<char>('a' + in_.below(4)));
  }
  std::map<std::string, std::uint64_t> counts() {
    std::map<std::string, std::uint64_t> made;
    for (std::uint8_t left = in_.below(6); left > 0; --left) made[word()] = in_.number();
    return made;
  }
  std::pair<std::string, std::string> setting() {
    static const char* const names[] = {"partitions", "replicas", "scope", "delay", "nothing"};
    return {names[in_.below(5)], in_.coin() ? std::to_string(in_.byte()) : in_.text(12)};
  }
  std::string text() { return in_.text(40); }
  ring::EndStage stage() { return static_cast<ring::EndStage>(in_.below(3)); }
  ring::FinishAck finish_ack() { return {in_.number(), stage(), id(), in_.coin(), text(), in_.coin()}; }
  std::uint64_t number() { return in_.number(); }

  ring::Body body() {
    switch (in_.below(std::variant_size_v<ring::Body>)) {
      case 0:
        return ring::Join{member(), in_.coin() ? ring::RingId{} : id_of(FuzzedPeer::ring_number),
                          some(&Maker::setting)};
      case 1:
        return ring::Welcome{id_of(FuzzedPeer::ring_number),
                             some(&Maker::setting),
                             some(&Maker::member),
                             some(&Maker::url),
                             in_.number(),
                             some(&Maker::tenure)};
      case 2:
        return ring::Refuse{text(), in_.coin()};
      case 3:
        return ring::Ping{in_.number(), some(&Maker::member), in_.number(), in_.number()};
      case 4:
        return ring::PingRequest{in_.number(), member(), some(&Maker::member)};
      case 5:
        return ring::PingAck{sequence(), some(&Maker::member), in_.number(), in_.number(), in_.coin()};
      case 6:
        return ring::Sync{in_.coin(), some(&Maker::member), some(&Maker::url), some(&Maker::tenure), in_.number()};
      case 7:
        return ring::Batch{in_.number(),
                           in_.number(),
                           some(&Maker::record),
                           static_cast<ring::BatchKind>(in_.below(3)),
                           some(&Maker::tenure),
                           some(&Maker::partition),
                           in_.coin() ? 0 : in_.number()};
      case 8:
        return ring::BatchAck{sequence()};
      case 9:
        return ring::BatchRefused{sequence(), some(&Maker::member), some(&Maker::tenure)};
      case 10:
        return ring::WaveProbe{in_.number(), in_.number(), in_.number(), in_.number()};
      case 11:
        return ring::WaveReply{in_.number(), in_.number(), in_.number(), in_.coin(),  in_.number(),
                               in_.number(), counts(),     in_.number(), in_.number()};
      case 12:  // it ends a peer, as it should, so it is rare
        if (in_.below(32) == 0)
          return ring::Finish{in_.number(), text(), counts(), stage(), id(), in_.number(), in_.number()};
        return finish_ack();
      case 13:
        return finish_ack();
      case 14:
        return ring::Ask{in_.number(), verbs[in_.below(std::size(verbs))],
                         in_.coin() ? bodies[in_.below(std::size(bodies))] : text(), in_.coin()};
      case 15:
        return ring::Answer{sequence(), in_.coin() ? bodies[in_.below(std::size(bodies))] : text()};
      case 16:
        return ring::Roots{in_.number(), static_cast<ring::TransferKind>(in_.below(4)), some(&Maker::root),
                           some(&Maker::tenure)};
      case 17:
        return ring::RootsCompared{sequence(), some(&Maker::partition), some(&Maker::partition), some(&Maker::tenure)};
      case 18: {
        ring::Leaves leaves{partition(), {in_.number(), id()}, some(&Maker::number), sequence()};
        if (in_.coin()) leaves.leaves.resize(ring::max_leaves);
        return leaves;
      }
      case 19:
        return ring::LeavesDiffer{partition(), in_.coin() ? std::string(256, '\1') : text(), sequence()};
      case 20:
        return ring::SlotRequest{some(&Maker::slot_ask)};
      case 21:
        return ring::SlotAnswer{some(&Maker::slot)};
      case 22:
        return ring::PageFingerprints{some(&Maker::fingerprint)};
      case 23:
        return ring::MirrorHints{some(&Maker::mirror_hint)};
      case 24:
        return ring::LeaseRequest{some(&Maker::lease_ask)};
      case 25:
        return ring::LeaseAnswer{some(&Maker::lease)};
      case 26:
        return ring::CompareTenures{in_.number(), in_.number(), in_.number(), some(&Maker::number),
                                    some(&Maker::member)};
      case 27:
        return ring::TenuresCompared{in_.coin() ? 0 : in_.number(), in_.coin(),           in_.coin(),
                                     some(&Maker::partition),       some(&Maker::tenure), some(&Maker::member)};
      case 28:
        return ring::AskRecords{in_.number(), in_.coin() ? 0 : in_.number(), some(&Maker::tenure),
                                some(&Maker::member)};
      default:
        return ring::RecordsKnown{in_.coin() ? in_.byte() : in_.number(), in_.coin(), some(&Maker::root)};
    }
  }

  Bytes& in_;
  const FuzzedPeer& peer_;
};

void run(Bytes in) {
  FuzzedPeer peer;
  require(peer.open(), "a new directory opens");
  peer.begin_count();
  for (int events = 0; events < max_events && !in.empty() && peer.lives(); ++events) {
    switch (in.below(12)) {
      case 0:
        peer.pass(std::chrono::milliseconds(in.word()));
        break;
      case 1:
        if (in.below(4) == 0) require(peer.open(), "whatever it was sent, its directory opens again");
        break;
      default: {
        std::string bytes = ring::encode(Maker(in, peer).message());
        for (std::uint8_t changes = in.below(4) == 0 ? in.below(4) : 0; changes > 0; --changes) {
          const std::size_t at = in.word() % bytes.size();
          bytes[at] = static_cast<char>(in.byte());
        }
        auto message = ring::decode(bytes);
        if (message) peer.step(MessageEvent{std::move(*message), {in.coin() ? "route" : ""}});
      }
    }
  }
  if (!peer.lives()) return;
  peer.pass(std::chrono::seconds(4));
  if (!peer.lives()) return;
  require(!peer.peer().own_status().dump().empty(), "its status can be written");
  require(peer.open(), "its directory opens again");
}

}  // namespace
}  // namespace orbweaver::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  orbweaver::fuzz::run({data, size});
  return 0;
}
