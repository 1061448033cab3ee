// Everything that a run is made of, drawn from its seed or set by a named scenario, and printed: a seed is never a
// riddle. Thread rule: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/config/settings.h"
#include "tests/sim/fake_web.h"

namespace orbweaver::sim {

struct NetworkConfig {
  Duration delay_min{std::chrono::microseconds{200}};
  Duration delay_max{std::chrono::milliseconds{5}};
  std::uint32_t loss = 0;       // per mille of messages
  std::uint32_t doubled = 0;    // per mille
  std::uint32_t reordered = 0;  // per mille: may arrive before earlier ones, up to late_max late
  Duration late_max{std::chrono::seconds{1}};
};

// What is done to a peer, counted from the start of the run.
struct Deed {
  // crash: kill -9, then started again over the same store after `down`. stop: cleanly, then started again after
  // `down`. leave: hands everything over and goes. join: starts only now.
  enum class Kind : std::uint8_t { crash, crash_all, stop, leave, join } kind = Kind::crash;
  std::size_t peer = 0;
  Duration at{};
  Duration down{};
};

struct Parameters {
  std::uint64_t seed = 0;
  std::size_t peers = 1;
  Settings settings;  // the ring's, and each peer's own
  WebConfig web;
  NetworkConfig network;  // until faults_end
  NetworkConfig healed;   // after it
  Duration faults_end{};
  std::vector<Deed> deeds;
  bool seeds_at_all = false;     // every peer is given the seeds, or only the first
  std::uint32_t seed_hosts = 1;  // hosts whose page 0 is a seed; with scope host the only ones crawled
  Duration parse_max{std::chrono::milliseconds{20}};  // between an exchange's end and PageDone
  Duration time_max{std::chrono::hours{6}};           // simulated; a crawl that has not ended by then does not end
  std::uint32_t recount_every = 64;                   // steps of a peer between two recounts of its store

  static Parameters draw(std::uint64_t seed);
  std::string text() const;  // one "name=value" a line
  std::vector<std::string> seeds(const FakeWeb& fake_web) const;
  // Networks and peers do as they should.
  bool calm() const { return deeds.empty() && !network_faulty(); }
  bool network_faulty() const { return network.loss + network.doubled + network.reordered > 0; }
};

std::string_view deed_name(Deed::Kind kind);

}  // namespace orbweaver::sim
