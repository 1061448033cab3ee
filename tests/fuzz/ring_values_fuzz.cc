// libFuzzer: data that a ring sends to a joiner: its settings (Welcome), and addresses of members. Accepted settings
// must be accepted again in their written form.
#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "ring/host_port.h"
#include "ring/utf8.h"
#include "tests/fuzz/fuzz_bytes.h"
#include "tests/fuzz/fuzz_peer.h"

namespace {

using orbweaver::fuzz::Bytes;
using orbweaver::fuzz::require;

void settings(Bytes in) {
  static const orbweaver::Settings defaults = orbweaver::default_settings();
  static const std::vector<std::pair<std::string, std::string>> names = orbweaver::ring_wide_settings(defaults);
  std::vector<std::pair<std::string, std::string>> reported = names;
  for (std::uint8_t changes = static_cast<std::uint8_t>(1 + in.below(4)); changes > 0; --changes) {
    auto& [name, value] = reported[in.word() % reported.size()];
    if (in.below(8) == 0) name = in.text(20);
    value = in.text(120);
  }
  if (in.below(4) == 0) reported.resize(in.word() % (reported.size() + 1));
  orbweaver::Settings taken = defaults;
  if (!orbweaver::apply_ring_wide(taken, reported)) return;
  const auto again = orbweaver::ring_wide_settings(taken);
  orbweaver::Settings second = defaults;
  require(orbweaver::apply_ring_wide(second, again).has_value(), "what was taken is taken again");
  require(orbweaver::ring_wide_settings(second) == again, "and is the same");
}

void address(std::string_view text) {
  const auto parsed = orbweaver::ring::parse_host_port(text);
  require(!parsed || orbweaver::ring::is_utf8(text), "an address is text");
  if (!parsed) return;
  require(!parsed->host.empty() && parsed->host.size() < text.size(), "an address has a host and a port");
  require(parsed->endpoint().starts_with("tcp://"), "an address is an endpoint");
  for (const char c : text) require(c > ' ' && c < '\x7f', "an address is printable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes in(data, size);
  if (in.coin()) {
    settings(in);
  } else {
    address(in.rest());
  }
  return 0;
}
