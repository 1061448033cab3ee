// The fields of each message and of its parts, in the order of the wire. Private to ring/codec.cc.
#pragma once

#include <cstdint>
#include <type_traits>

#include "ring/messages.h"

namespace orbweaver::ring {

template <class T>
using Is = std::type_identity<T>;

// One list of fields for each type, for both directions: `io(a, b, c)` writes or reads them in this order. The last
// ones may be io.later(d): fields of a later version, which an older one does not send. A missing field keeps its
// default.
void fields(auto& io, auto& m, Is<Member>) {
  io(m.id, m.address, m.capacity, m.incarnation, m.state, m.suspect, m.started, m.protocol);
}
void fields(auto& io, auto& m, Is<Join>) { io(m.self, m.ring, m.given); }
void fields(auto& io, auto& m, Is<Welcome>) {
  io(m.ring, m.settings, m.members, m.seeds, m.directives_fingerprint, m.tenures, m.orders);
}
void fields(auto& io, auto& m, Is<Refuse>) { io(m.reason, m.join); }
void fields(auto& io, auto& m, Is<Ping>) {
#ifdef ORBWEAVER_PROTOCOL_AHEAD
  // Models what a release may change: one more field, which readers of version 4 skip; and, in version 5 alone, another
  // form of a field, which they refuse.
  std::uint64_t of_the_next_release = 7;
  io(io.text_in_5(m.sequence), m.gossip, m.directives_fingerprint, m.tenures_fingerprint,
     io.later(of_the_next_release));
#else
  io(m.sequence, m.gossip, m.directives_fingerprint, m.tenures_fingerprint);
#endif
}
void fields(auto& io, auto& m, Is<PingRequest>) { io(m.sequence, m.target, m.gossip); }
void fields(auto& io, auto& m, Is<PingAck>) {
  io(m.sequence, m.gossip, m.directives_fingerprint, m.tenures_fingerprint, m.reached);
}
void fields(auto& io, auto& m, Is<Sync>) {
  io(m.reply_wanted, m.members, m.seeds, m.tenures, m.directives_fingerprint, m.orders);
}
void fields(auto& io, auto& m, Is<BatchRecord>) { io(m.partition, io.binary(m.record)); }
void fields(auto& io, auto& m, Is<Batch>) {
  io(m.sequence, m.ring_fingerprint, m.records, m.kind, m.tenures, m.complete, m.directives_fingerprint);
}
void fields(auto& io, auto& m, Is<BatchAck>) { io(m.sequence); }
void fields(auto& io, auto& m, Is<BatchRefused>) { io(m.sequence, m.members, m.tenures); }
void fields(auto& io, auto& m, Is<WaveProbe>) { io(m.wave, m.ring_fingerprint, m.grant_wave, m.grant_pages); }
void fields(auto& io, auto& m, Is<WaveReply>) {
  io(m.wave, m.ring_fingerprint, m.life, m.passive, m.sent, m.received, m.counts, m.tenures_fingerprint,
     m.directives_fingerprint);
}
void fields(auto& io, auto& m, Is<Finish>) {
  io(m.wave, m.reason, m.totals, m.stage, m.by, m.tenures_fingerprint, m.directives_fingerprint);
}
void fields(auto& io, auto& m, Is<FinishAck>) { io(m.wave, m.stage, m.by, m.agrees, m.reason, m.asks); }
void fields(auto& io, auto& m, Is<Ask>) { io(m.sequence, m.verb, m.body, m.for_ring); }
void fields(auto& io, auto& m, Is<Answer>) { io(m.sequence, m.body); }
void fields(auto& io, auto& m, Is<Tenure>) { io(m.epoch, m.holder); }
void fields(auto& io, auto& m, Is<PartitionTenure>) { io(m.partition, m.tenure.epoch, m.tenure.holder); }
void fields(auto& io, auto& m, Is<PartitionDigest>) { io(m.partition, m.root); }
void fields(auto& io, auto& m, Is<Roots>) { io(m.sequence, m.kind, m.roots, m.tenures, m.give); }
void fields(auto& io, auto& m, Is<RootsCompared>) { io(m.sequence, m.differ, m.later, m.tenures); }
void fields(auto& io, auto& m, Is<Leaves>) { io(m.partition, m.tenure, m.leaves, m.sequence); }
void fields(auto& io, auto& m, Is<LeavesDiffer>) { io(m.partition, io.binary(m.differ), m.sequence); }
void fields(auto& io, auto& m, Is<SlotAsk>) { io(m.id, io.binary(m.address), m.good_for, m.delay, m.in); }
void fields(auto& io, auto& m, Is<SlotRequest>) { io(m.asks); }
void fields(auto& io, auto& m, Is<Slot>) { io(m.id, m.given, m.wait); }
void fields(auto& io, auto& m, Is<SlotAnswer>) { io(m.slots); }
void fields(auto& io, auto& m, Is<PageFingerprint>) { io(m.page, m.host); }
void fields(auto& io, auto& m, Is<PageFingerprints>) { io(m.fingerprints); }
void fields(auto& io, auto& m, Is<MirrorHint>) { io(m.host, m.other); }
void fields(auto& io, auto& m, Is<MirrorHints>) { io(m.pages); }
void fields(auto& io, auto& m, Is<LeaseAsk>) { io(m.id, m.action, m.host, m.delay, m.wait, m.name); }
void fields(auto& io, auto& m, Is<LeaseRequest>) { io(m.asks); }
void fields(auto& io, auto& m, Is<Lease>) { io(m.id, m.given, m.wait); }
void fields(auto& io, auto& m, Is<LeaseAnswer>) { io(m.leases); }
void fields(auto& io, auto& m, Is<CompareTenures>) {
  io(m.nonce, m.fingerprint, m.members_fingerprint, m.sums, m.members);
}
void fields(auto& io, auto& m, Is<TenuresCompared>) {
  io(m.nonce, m.confirmed, m.more, m.ranges, m.tenures, m.members, m.directives_fingerprint);
}
void fields(auto& io, auto& m, Is<AskRecords>) { io(m.sequence, m.sum, m.tenures, m.members); }
void fields(auto& io, auto& m, Is<RecordsKnown>) { io(m.sequence, m.later, m.roots); }

}  // namespace orbweaver::ring
