// libFuzzer: any bytes as the rows that a peer reads from its directory at its start. The rows with its identity and
// its ring may prevent a start; with any content of the others it starts, also a second time.
#include "node/crawl/meta_names.h"
#include "storage/store.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/fuzz/fuzz_peer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orbweaver;
  fuzz::Bytes in(data, size);
  fuzz::FuzzedPeer peer;
  fuzz::require(peer.open(), "a new directory opens");
  bool may_fail = false;
  {
    auto store = storage::Store::open(peer.kv);
    fuzz::require(store.has_value(), "the store opens");
    storage::Commit commit;
    const std::uint8_t rows = static_cast<std::uint8_t>(1 + in.below(3));
    for (std::uint8_t i = 0; i < rows; ++i) {
      std::string name;
      const std::uint8_t row = in.below(14);
      switch (row) {
        case 0:
          name = meta_name::peer;
          break;
        case 1:
          name = meta_name::ring;
          break;
        case 2:
          name = meta_name::settings;
          break;
        case 3:
        case 4:
          name = meta_name::members;
          break;
        case 5:
          name = meta_name::seeds;
          break;
        case 6:
          name = meta_name::left;
          break;
        case 7:
          name = meta_name::ended;
          break;
        case 8:
          name = meta_name::bytes;
          break;
        case 9:
          name = meta_name::waited;
          break;
        case 10:
        case 11:
          name = meta_name::recrawl;
          break;
        default:
          name = std::string(tenure_prefix) + in.text(3);
          break;
      }
      may_fail = may_fail || row < 3;
      std::string value(i + 1 == rows ? std::string(in.rest()) : in.text(200));
      // A whole message with bytes changed reaches more code than noise.
      if (row == 4 || (row == 7 && in.coin())) {
        ring::Member member;
        member.id = fuzz::id_of(in.byte());
        member.address = in.coin() ? "10.0.0.2:7400" : in.text(20);
        member.incarnation = in.number();
        ring::Message message{ring::protocol_version, fuzz::id_of(99), fuzz::id_of(0), in.number(), {}};
        if (row == 4) {
          message.body = ring::Sync{false, {member, member}, {}};
        } else {
          message.body =
              ring::Finish{in.number(), in.text(20), {{in.text(4), 1}}, static_cast<ring::EndStage>(in.below(3))};
        }
        value = ring::encode(message);
        for (std::uint8_t changes = in.below(4); changes > 0; --changes)
          value[in.word() % value.size()] = static_cast<char>(in.byte());
      }
      commit.meta.emplace_back(std::move(name), std::move(value));
    }
    fuzz::require(store->commit(commit).has_value(), "the rows can be written");
  }
  peer.begin_count();
  const bool opened = peer.open();
  fuzz::require(opened || may_fail || !peer.lives(), "it starts");
  if (!opened) return 0;
  peer.pass(std::chrono::seconds(3));
  if (peer.lives()) fuzz::require(peer.open(), "it starts a second time");
  return 0;
}
