// Everything that a run is made of, drawn from its seed or set by a named scenario, and printed: a seed is never a
// riddle. The text reads back, so that a run that was cut down (minimize.h) can become a named test. Thread rule:
// values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/settings/settings.h"
#include "tests/sim/fake_web.h"
#include "tests/sim/faults.h"

namespace orbweaver::sim {

struct NetworkConfig {
  Duration delay_min{std::chrono::microseconds{200}};
  Duration max_delay{std::chrono::milliseconds{5}};
  std::uint32_t loss = 0;       // per mille of messages
  std::uint32_t doubled = 0;    // per mille
  std::uint32_t reordered = 0;  // per mille: may arrive before earlier ones, up to late_max late
  Duration late_max{std::chrono::seconds{1}};
};

// Which kinds of faults and of uncommon work a seed may be given, besides a bad network and crashes. Each has a source
// of chance of its own. orbweaver-sim --with and --without change them.
struct FaultKinds {
  bool members = true;     // joins, leaves, ten in a row
  bool cuts = true;        // two-way, one-way, slow links
  bool pauses = true;      // SIGSTOP
  bool skews = true;       // clocks that differ
  bool disks = true;       // a write fails, no space
  bool disk_gone = true;   // a disk is gone forever; the crawl then has replicas
  bool power_cut = false;  // the last writes are lost: not promised with durability = process, impossible with power
  bool mirrors = true;     // and bodies that a host sends again and again; rules that look for traps are on
  bool budgets = true;     // pages and bytes of a host, a domain, the ring
  bool recrawls = true;    // what was fetched is visited again
  bool canonical_redirects = true;  // servers that want another form of a URL
  bool questions = true;            // explain, seed, traps, status, and what nobody can answer
  bool pieces = true;               // pages with thousands of links, and a record of all links
  bool killers = true;              // pages that kill the process that reads them

  static FaultKinds none();
};

// Defaults but for what makes a host's delay depend on its answers or its address: a run that is written down without
// them stays what it was.
Settings plain_settings();

struct Parameters {
  std::uint64_t seed = 0;
  std::size_t peers = 1;  // at the start; faults may add some, numbered from here on
  Settings settings;      // the ring's, and each peer's own
  WebConfig web;
  NetworkConfig network;  // until faults_end
  NetworkConfig healed;   // after it
  Duration faults_end{};  // then cuts and disks are healed too
  std::vector<Fault> faults;
  std::map<std::size_t, Duration> skews;  // peer -> its clock minus the true one; not named: none
  bool seeds_at_all = false;              // every peer is given the seeds, or only the first
  std::uint32_t seed_hosts = 1;           // hosts whose page 0 is a seed; with scope host the only ones crawled
  Duration parse_max{std::chrono::milliseconds{20}};  // between an exchange's end and PageDone
  Duration time_max{std::chrono::hours{6}};           // simulated; a crawl that has not ended by then does not end
  std::uint64_t seen_set_bytes = 16u << 20;           // a peer's, for the sets of its hosts' URLs
  std::uint32_t recount_every = 64;                   // steps of a peer between two recounts of its store

  static Parameters draw(std::uint64_t seed, const FaultKinds& kinds = {});  // draw.cc
  std::string text() const;                                                  // one "name=value" a line
  // Of text(); lines that are empty or begin with '#' are skipped, and what is not named stays as it is made. The error
  // names the line.
  static Result<Parameters> read(const std::string& text);
  std::vector<std::string> seeds(const FakeWeb& fake_web) const;

  // The crawl's delay of a host, or its site's.
  Duration delay_of(std::string_view host) const;
  // Networks, clocks and peers do as they should.
  bool calm() const;
  bool network_faulty() const { return network.loss + network.doubled + network.reordered > 0; }
  // Its faults may make peers that are up look dead to others.
  bool living_may_look_dead() const;
  // Peers may see the ring differently for a while though none of them was ever down for long.
  bool views_may_differ() const;
};

}  // namespace orbweaver::sim
