// The complete input of a run, drawn from its seed or set by a named scenario, and always printed, so that a seed is
// never a riddle. The text can be read again, so a run that was minimized (minimize.h) can become a named test.
// Thread rule: values.
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
  std::uint32_t reordered = 0;  // per mille: may arrive before earlier ones, up to max_late late
  Duration max_late{std::chrono::seconds{1}};
};

// Which kinds of faults and uncommon work a seed may get, apart from a bad network and crashes. Each kind has its own
// source of chance. orbweaver-sim --with and --without change them.
struct FaultKinds {
  bool members = true;              // joins, leaves, ten in a row
  bool cuts = true;                 // two-way, one-way, slow links
  bool pauses = true;               // SIGSTOP
  bool skews = true;                // clocks that differ
  bool disks = true;                // a write fails, no space
  bool disk_gone = true;            // a disk is lost forever; the crawl then has replicas
  bool deaths = true;               // crashes for longer than the suspicion time
  bool strikes = true;              // a disk is gone just after its peer was started again
  bool clocks = true;               // a machine's clock is set back or forth before its peer is started again
  bool reads = true;                // a read fails
  bool power_cut = true;            // one machine's last writes are lost, under durability = process
  bool mirrors = true;              // and bodies that a host sends again and again; the trap rules are on
  bool budgets = true;              // pages and bytes of a host, a domain, the ring
  bool recrawls = true;             // fetched pages are visited again
  bool canonical_redirects = true;  // servers that want another form of a URL
  bool questions = true;            // explain, seed, traps, status, and questions that have no answer
  bool pieces = true;               // pages with thousands of links, and a record of all links
  bool killers = true;              // pages that kill the process that reads them
  bool late_seeds = true;           // seeds at the moment of the end
  bool long_cuts = true;            // cuts for longer than presume_dead_after: each side may end alone
  bool late_leaves = true;          // leaves that leave_timeout ends
  bool archives = true;             // durability = power, and power cuts that take what archives have not synced
  bool loops = true;                // a peer's steps take time, and messages that wait for it may not fit
  bool moves = true;                // directories that go on at another address
  bool connections = true;          // a peer's answers on another connection than its questions; comparison of leaves
  bool hand_offs = true;            // partitions change hands at the worst moment
  bool orders = true;               // operators pause the crawl or a host, block one, change its delay
  bool copies = true;               // a data directory is copied and used twice

  static FaultKinds none();
};

// The defaults, except that a host's delay does not depend on its answers or its address. So a stored run that does
// not name these settings never changes.
Settings plain_settings();

struct Parameters {
  std::uint64_t seed = 0;
  std::size_t peers = 1;  // at the start; faults may add some, numbered from here on
  Settings settings;      // the ring-wide ones, and those of each peer
  WebConfig web;
  NetworkConfig network;  // until faults_end
  NetworkConfig healed;   // after it
  Duration faults_end{};  // at that time cuts end and disks are repaired too
  std::vector<Fault> faults;
  std::map<std::size_t, Duration> skews;  // peer -> its clock minus the true one; peers not listed: none
  bool seeds_at_all = false;              // all peers are given the seeds, or only the first
  std::uint32_t seed_hosts = 1;           // hosts whose page 0 is a seed; with scope host the only ones crawled
  Duration max_parse{std::chrono::milliseconds{20}};  // between an exchange's end and PageDone
  Duration max_time{std::chrono::hours{6}};           // simulated; a crawl that takes longer has no end
  Duration max_sync{std::chrono::milliseconds{20}};   // of an archive, under durability = power
  std::uint64_t seen_set_bytes = 16u << 20;           // of each peer, for the sets of its hosts' URLs
  std::uint32_t recount_every = 256;                  // steps of a peer between two recounts of its store
  bool two_connections = false;  // answers overtake what their sender says itself, and are overtaken by that
  Duration max_answer_lag{};     // with two connections: an answer takes up to this much longer
  // After a cut, what is sent on a connection from before it is lost for this long, unless the sender connects anew.
  Duration stale_connections{};
  Duration max_wave_delay{};             // waves and their answers take up to this much longer than other messages
  Duration max_step{};                   // a peer's step takes up to this; a few take ten times as long
  std::uint32_t moves = 0;               // per mille of starts of a peer that has run before: at another address
  std::uint64_t queue_bytes = 0;         // with max_step: of messages that wait for a busy peer; 0: any
  std::size_t walk_records = 2048;       // records that an order to visit pages again looks at in one step
  std::size_t leaves_from = 2048;        // records of a partition whose copies are compared leaf by leaf
  std::size_t partitions_a_step = 1024;  // compared in one message; four times as many are planned in a step

  static Parameters draw(std::uint64_t seed, const FaultKinds& kinds = {});  // draw.cc
  std::string text() const;                                                  // one "name=value" per line
  // Reads what text() writes. Empty lines and lines that begin with '#' are skipped; fields that are not named keep
  // their defaults. The error names the line.
  static Result<Parameters> read(const std::string& text);
  std::vector<std::string> seeds(const FakeWeb& fake_web) const;

  // The host's delay: its site's, else the crawl's.
  Duration delay_of(std::string_view host) const;
  // With those that join.
  std::size_t peers_in_all() const;
  // Networks, clocks and peers work correctly.
  bool calm() const;
  bool network_faulty() const { return network.loss + network.doubled + network.reordered > 0; }
  // The run's faults may make peers that are up look dead to others.
  bool living_may_look_dead() const;
  // Peers may be cut off for so long that each side counts the other as dead for good, and ends alone.
  bool sides_may_end_alone() const;
  // Peers may see the ring differently for a while though none of them is down for long.
  bool views_may_differ() const;
};

}  // namespace orbweaver::sim
