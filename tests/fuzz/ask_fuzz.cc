// libFuzzer: any text as the body of a question to a peer, with each verb, and as an answer to its own questions.
#include "node/crawl/outside_json.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/fuzz/fuzz_peer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orbweaver;
  static const char* const verbs[] = {"status", "explain", "seed", "recrawl", "traps", "forget", "other"};
  fuzz::Bytes in(data, size);
  const std::string verb = verbs[in.below(std::size(verbs))];
  const bool answer = in.coin();
  const std::string body(in.rest());
  if (const auto read = parse_outside_json(body); read) {
    fuzz::require(!json_text(*read).empty(), "what was read can be written");
    for (const char* name : {"url", "urls", "id", "before_us"}) {
      static_cast<void>(text_field(*read, name));
      static_cast<void>(flag_field(*read, name));
      static_cast<void>(number_field(*read, name, 0, -1, 100));
      static_cast<void>(list_field(*read, name));
    }
  }
  fuzz::FuzzedPeer peer;
  fuzz::require(peer.open(), "a new directory opens");
  peer.begin_count();
  const auto tell = [&](std::uint8_t from, ring::Body reported) {
    const ring::Message message{ring::protocol_version, fuzz::id_of(fuzz::FuzzedPeer::ring_number), fuzz::id_of(from),
                                0, std::move(reported)};
    if (auto decoded = ring::decode(ring::encode(message))) peer.step(MessageEvent{std::move(*decoded), {"route"}});
  };
  if (answer) {
    ring::Member other;
    other.id = fuzz::id_of(5);
    other.address = "10.0.0.5:7400";
    other.incarnation = 7;
    other.state = ring::MemberState::active;
    tell(5, ring::Sync{false, {other}, {}});
    tell(6, ring::Ask{1, "status", "", true});
    tell(5, ring::Answer{peer.asked, body});
  } else {
    tell(6, ring::Ask{1, verb, body, false});
    tell(6, ring::Ask{2, verb, body, true});
  }
  peer.pass(std::chrono::seconds(3));
  return 0;
}
