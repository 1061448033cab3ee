// Every message between peers, and between a command and a peer. Field order and type numbers are the wire format
// (ring/codec.cc writes them, docs/reference/formats.md lists them): append only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ring/md5.h"
#include "ring/types.h"

namespace orbweaver::ring {

// Each message states the version that it is written in: the newest that both ends speak (Member::protocol). Within a
// version fields are only ever appended: readers skip unknown fields and use the default for missing ones. Versions
// 1 to 3 were used before the first release and cannot share a ring with later ones. Version 1 had neither tenures nor
// copies; version 2 asked for address slots and host leases in one message; version 3 ended a crawl without asking.
#ifdef ORBWEAVER_PROTOCOL_AHEAD
inline constexpr std::uint16_t protocol_version = 5;  // the build that represents the next release in the tests
#else
inline constexpr std::uint16_t protocol_version = 4;
#endif
inline constexpr std::uint16_t protocol_version_min = 4;

// Limits on what a peer's bytes may claim. A message beyond one is refused whole. So is a message whose texts are not
// UTF-8 or whose members' addresses are not HOST:PORT (ring/host_port.h).
inline constexpr std::size_t max_message_bytes = 8u << 20;  // one message
inline constexpr std::size_t max_batch_records = 65536;     // records in one batch
inline constexpr std::size_t max_members = 4096;            // members in one message, and of a ring
inline constexpr std::size_t max_text_bytes = 4u << 20;     // one string
inline constexpr std::size_t max_verb_bytes = 32;           // of a question
inline constexpr std::size_t max_settings = 1024;           // ring-wide settings in one message
inline constexpr std::size_t max_seeds = 65536;             // seeds in one message
inline constexpr std::size_t max_counts = 1024;             // named counts in one wave reply or finish
inline constexpr std::size_t max_address_bytes = 300;       // a DNS name (253), a colon, a port
inline constexpr std::size_t max_leaves = 256;              // leaves of a partition's digest tree
inline constexpr std::size_t max_asks = 1024;               // asks for slots or leases in one message; also answers
inline constexpr std::size_t max_values = 700'000;          // msgpack values in one message: 17 MB while it is read
// Far beyond all incarnations that peers reach, far below an overflow.
inline constexpr std::uint64_t max_incarnation = 1ull << 62;

// How far a number may be from the one that the receiver knows. A number farther off is rejected, whichever peer sends
// it: a number near the end of its range could never be superseded. A nearer one can be, by the next number.
//
// An incarnation of a member that is not known yet: 2^40 starts of its process (Member::incarnation).
inline constexpr std::uint64_t max_first_incarnation = 1ull << 56;
// An incarnation of a known member: above the known one, in one message. Each start of its process raises it by 65,536,
// so this is 65,536 starts that the receiver has not heard of. A claim about a peer raises it by one, its refutation by
// one more.
inline constexpr std::uint64_t max_incarnation_step = 1ull << 32;
// The epoch of a tenure: above the known one, in one message. One change of holder raises it by one.
inline constexpr std::uint64_t max_epoch_step = 1u << 20;
// The epoch of a tenure of a partition that has no known tenure yet.
inline constexpr std::uint64_t max_epoch_first = 1ull << 32;
// The bound of a stored epoch, which no message can reach. The next epochs still have room.
inline constexpr std::uint64_t max_epoch = 1ull << 62;

// Ring-wide setting name -> value as text, sorted by name.
using Settings = std::vector<std::pair<std::string, std::string>>;

// "Let me in." Sent to any member before anything else, with the ring-wide values that the joiner was given explicitly.
struct Join {  // type 1
  Member self;
  RingId ring;     // all zero: takes the ring's; else it must be equal
  Settings given;  // only what its user set; a difference is answered with Refuse
};
struct Welcome {  // type 2: answer to Join
  RingId ring;
  Settings settings;  // the ring's values, all of them
  std::vector<Member> members;
  std::vector<std::string> seeds;  // canonical seed URLs so far, or a part of them: they determine the scope
  // Of all seeds and operators' orders: the joiner has them all when its own is equal.
  std::uint64_t directives_fingerprint = 0;
  std::vector<PartitionTenure> tenures = {};  // the first of those that are known: the joiner compares the rest
  std::vector<std::string> orders = {};       // of operators (node/coordination/operator_orders.h); opaque here
};
struct Refuse {        // type 3: answer to anything from a peer that does not belong here
  std::string reason;  // for people; names the difference
  bool join = false;   // it answers a Join: the peer must not continue
};
struct Ping {  // type 4: "are you there?"
  std::uint64_t sequence = 0;
  std::vector<Member> gossip;
  std::uint64_t directives_fingerprint = 0;  // of the sender's seeds and operators' orders: differs -> Sync
  std::uint64_t tenures_fingerprint = 0;     // of the sender's tenures: differs -> Sync
};
struct PingRequest {  // type 5: "ask `target` for me" (SWIM's indirect probe)
  std::uint64_t sequence = 0;
  Member target;
  std::vector<Member> gossip;
};
struct PingAck {  // type 6: answer to Ping, or to PingRequest once the target answered, or did not in time
  std::uint64_t sequence = 0;
  std::vector<Member> gossip;
  std::uint64_t directives_fingerprint = 0;
  std::uint64_t tenures_fingerprint = 0;
  bool reached = true;  // false, from a relay only: "I am here, but I have no answer from it" (Lifeguard's nack)
};
struct Sync {  // type 7: the view, seeds, orders and tenures, whole or in part, both ways (push-pull)
  bool reply_wanted = false;
  std::vector<Member> members;
  std::vector<std::string> seeds;
  std::vector<PartitionTenure> tenures = {};
  std::uint64_t directives_fingerprint = 0;  // of all seeds and orders that the sender knows; 0: not said
  std::vector<std::string> orders = {};      // of operators
};
struct BatchRecord {
  Partition partition = 0;
  std::string record;  // storage/record.h's encoding; opaque here
};
// A list that never changes once it is made. Its copies share it, from any thread:
// a batch is sent again, or passed on, and no record is copied.
class BatchRecords {
 public:
  BatchRecords() = default;
  BatchRecords(std::vector<BatchRecord> records)
      : list_(std::make_shared<const std::vector<BatchRecord>>(std::move(records))) {}
  BatchRecords(std::initializer_list<BatchRecord> records) : BatchRecords(std::vector<BatchRecord>(records)) {}

  const std::vector<BatchRecord>& list() const {
    static const std::vector<BatchRecord> none;
    return list_ ? *list_ : none;
  }
  std::size_t size() const { return list().size(); }
  bool empty() const { return list().empty(); }
  auto begin() const { return list().begin(); }
  auto end() const { return list().end(); }
  const BatchRecord& operator[](std::size_t at) const { return list()[at]; }

 private:
  std::shared_ptr<const std::vector<BatchRecord>> list_;
};
// Numbers are on the wire: append only.
enum class BatchKind : std::uint8_t {
  forward = 0,   // links for partitions that the receiver owns
  copy = 1,      // records just written by the sender: the receiver is a replica, or will own the partition
  transfer = 2,  // the sender's records of whole partitions: hand-off, backfill of a replica, return of a copy
};
struct Batch {                 // type 8: records to merge
  std::uint64_t sequence = 0;  // the sender's own number for it
  std::uint64_t ring_fingerprint = 0;
  BatchRecords records = {};
  BatchKind kind = BatchKind::forward;
  std::vector<PartitionTenure> tenures = {};  // copy, transfer: of the records' partitions, as the sender knows them
  std::vector<Partition> complete =
      {};  // transfer: with this batch the receiver knows all that the sender knew of these
  // Of the sender's seeds and operators' orders: a receiver with others parses no page before it has these.
  std::uint64_t directives_fingerprint = 0;
};
struct BatchAck {  // type 9: every record of the batch is on the receiver's disk, and on its replicas'
  std::uint64_t sequence = 0;
};
struct BatchRefused {  // the receiver does not accept all of it; it stored nothing
  std::uint64_t sequence = 0;
  std::vector<Member> members;                // its view
  std::vector<PartitionTenure> tenures = {};  // those that are newer than the batch's
  // Neither: the receiver has no room now, and takes the same batch later.
  bool no_room() const { return members.empty() && tenures.empty(); }
};
// The sender waits this long before it tries again: long enough for a round of gossip, short enough not to be noticed.
inline constexpr Duration refusal_wait{std::chrono::milliseconds{200}};
// One peer's counts; `values` by name so that later versions can add some.
struct WaveProbe {         // type 11: termination wave, from the member with the lowest id
  std::uint64_t wave = 0;  // rises across the sender's lives; the same when it is sent again
  std::uint64_t ring_fingerprint = 0;
  // The wave whose reply by the receiver asked for the grant; 0: there is none. A receiver that has replied to another
  // wave since has told of a state that the grant does not know: the grant is void.
  std::uint64_t grant_wave = 0;
  std::uint64_t grant_pages = 0;  // allowance of pages (max_pages): cumulative cap
};
struct WaveReply {  // type 12
  std::uint64_t wave = 0;
  std::uint64_t ring_fingerprint = 0;  // the replier's; a wave counts only when all are equal
  std::uint64_t life = 0;              // of the replier's process: its counts begin anew with each
  bool passive = false;                // nothing queued, in flight, in the outbox, or in progress
  std::uint64_t sent = 0;              // batches acknowledged to this peer since its start
  std::uint64_t received = 0;          // batches this peer committed and acknowledged since its start
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t tenures_fingerprint = 0;
  std::uint64_t directives_fingerprint = 0;
};
// How far an end is. Numbers are on the wire: append only.
enum class EndStage : std::uint8_t {
  proposed = 0,    // two waves agree: does the receiver agree too?
  decided = 1,     // every member has agreed
  taken_back = 2,  // there is work: who has agreed is free again
};
struct Finish {  // type 13: the crawl has ended, or may have
  std::uint64_t wave = 0;
  std::string reason;                           // "nothing is left", "the page limit is reached"
  std::map<std::string, std::uint64_t> totals;  // ring-wide
  EndStage stage = EndStage::decided;
  PeerId by = {};                         // whose waves found it; with the wave's number, this names the end
  std::uint64_t tenures_fingerprint = 0;  // of what it was found on
  std::uint64_t directives_fingerprint = 0;
};
struct FinishAck {  // type 14: answer to Finish
  std::uint64_t wave = 0;
  EndStage stage = EndStage::decided;
  PeerId by = {};
  bool agrees = true;
  std::string reason = {};  // for people, of one that does not agree
  bool asks = false;        // not an answer: "I know this end at this stage; how far is it?"
};
struct Ask {  // type 15: from a command or from a peer on a command's behalf
  std::uint64_t sequence = 0;
  std::string verb;       // "status", "seed", "explain", "leave", "stop"
  std::string body;       // JSON
  bool for_ring = false;  // true: the receiver answers for the whole ring (asks the others); false: for itself only
};
struct Answer {  // type 16
  std::uint64_t sequence = 0;
  std::string body;  // JSON
};

// A partition's digest tree has two levels: a root (the sum of all records' digests) and max_leaves leaves (each the
// sum of the records whose URL's digest begins with that byte). Equal sums: equal records (storage/store.h).
struct PartitionDigest {
  Partition partition = 0;
  std::uint64_t root = 0;
};
// Why a peer sends another its records of some partitions. Numbers are on the wire: append only.
enum class TransferKind : std::uint8_t {
  backfill = 0,  // the holder, or the owner, to a replica
  hand_off = 1,  // the holder to the owner, which becomes the holder
  return_ = 2,   // a replica to a new holder: what it may lack
  release = 3,   // as return_, from a peer that no longer keeps a copy; the answer permits it to drop the copy
  ask = 4,       // nothing: the holder asks for what the other has and it may lack
};
struct Roots {  // "my digests of these partitions; which records do you lack?"
  std::uint64_t sequence = 0;
  TransferKind kind = TransferKind::backfill;
  std::vector<PartitionDigest> roots;
  std::vector<PartitionTenure> tenures = {};  // of the same partitions, as the sender knows them
  // The receiver returns what it has of those that differ. Of a return_: its sender may have lost some of it.
  bool give = false;
};
struct RootsCompared {  // answer to Roots; a partition in no list is equal
  std::uint64_t sequence = 0;
  std::vector<Partition> differ;
  std::vector<Partition> later;               // not now: the receiver does not hold it yet, or it has too few copies
  std::vector<PartitionTenure> tenures = {};  // those that are newer than the question's
};
struct Leaves {  // before a transfer: "which of these differ from yours?"
  Partition partition = 0;
  Tenure tenure;                      // as the sender knows it
  std::vector<std::uint64_t> leaves;  // max_leaves of them
  std::uint64_t sequence = 0;         // of this attempt to send the partition
};
struct LeavesDiffer {  // type 20: answer to Leaves
  Partition partition = 0;
  std::string differ;          // one byte per leaf, 1: send its records
  std::uint64_t sequence = 0;  // of the question
};

// Slots of IP addresses (node/scheduling/address_slots.h), requested from the address's owner.
// A peer that does not own it does not answer.
struct SlotAsk {
  std::uint64_t id = 0;        // the asker's own number for the request
  std::string address;         // 4 or 16 bytes
  std::uint64_t good_for = 0;  // us: the request may begin this long after the slot's moment
  std::uint64_t delay = 0;     // us that the request reserves the address for; 0: the ring's address_delay
  std::uint64_t in = 0;        // us: the slot is needed no earlier than this long from now
};
struct SlotRequest {  // type 21
  std::vector<SlotAsk> asks;
};
struct Slot {
  std::uint64_t id = 0;    // of the ask
  bool given = false;      // the request may begin after the wait; else the asker requests the slot again after it
  std::uint64_t wait = 0;  // us from now on
};
struct SlotAnswer {  // type 22: to SlotRequest
  std::vector<Slot> slots;
};

// Pages of hosts, reported to the owner of their digest so that mirrors
// are found (node/links/mirror_index.h). Neither answered nor repeated.
struct PageFingerprint {
  std::uint64_t page = 0;  // of path and body
  std::string host;
};
struct PageFingerprints {  // type 23
  std::vector<PageFingerprint> fingerprints;
};
struct MirrorHint {
  std::string host;   // owned by the receiver
  std::string other;  // served the same page at the same path
};
struct MirrorHints {  // type 24: to the hosts' owners
  std::vector<MirrorHint> pages;
};

// Leases of hosts (node/scheduling/host_leases.h), under partition_by = url: requested from the owner of the host's
// digest. A peer that does not own it does not answer. Numbers are on the wire: append only.
enum class LeaseAction : std::uint8_t {
  take = 0,
  renew = 1,    // the asker holds the lease
  return_ = 2,  // the asker no longer needs it
};
struct LeaseAsk {
  std::uint64_t id = 0;  // the asker's own number for the lease: the same when it is taken, renewed and returned
  LeaseAction action = LeaseAction::take;
  Md5 host{};               // MD5 of the host's name
  std::uint64_t delay = 0;  // us, take and renew: the delay between two requests to the host
  std::uint64_t wait = 0;   // us, return_: no request to the host before this long from now
  // For a turn of a host that its holder asks itself (a robots.txt elsewhere): its name. Else empty.
  std::string name = {};
};
struct LeaseRequest {  // type 25
  std::vector<LeaseAsk> asks;
};
struct Lease {
  std::uint64_t id = 0;    // of the ask
  bool given = false;      // the asker holds the lease, or has returned it; else it asks again after the wait
  std::uint64_t wait = 0;  // us from now on
};
struct LeaseAnswer {  // type 26: to LeaseRequest
  std::vector<Lease> leases;
};

// Tables of tenures, compared by ranges of partitions (ring/tenures.h).
struct CompareTenures {                   // type 27: "which tenures do we know differently?"
  std::uint64_t nonce = 0;                // of a question that wants a fresh answer, which repeats it; 0: none
  std::uint64_t fingerprint = 0;          // of the sender's tenures
  std::uint64_t members_fingerprint = 0;  // Membership::states_fingerprint()
  std::vector<std::uint64_t> sums = {};   // of its ranges; none: only the fingerprints are compared
  std::vector<Member> members = {};       // the sender itself
};
struct TenuresCompared {  // type 28: answer
  std::uint64_t nonce = 0;
  bool confirmed = false;                     // the answerer knows that its own tenures are not outdated
  bool more = false;                          // other ranges differ, or some do and the question has no sums: ask again
  std::vector<std::uint16_t> ranges = {};     // that differ
  std::vector<PartitionTenure> tenures = {};  // of these, all that the answerer knows
  std::vector<Member> members = {};           // all, if their fingerprints differ; else the asker's, if it is newer
  std::uint64_t directives_fingerprint = 0;   // of the answerer's seeds and operators' orders
};
// "What do you have of the partitions that I hold?"
struct AskRecords {  // type 29
  std::uint64_t sequence = 0;
  std::uint64_t sum = 0;  // of the digests of the tenures that the sender holds (Tenures::sum_held_by)
  std::vector<PartitionTenure> tenures = {};  // those of them that may be news
  std::vector<Member> members = {};           // the sender itself
};
struct RecordsKnown {  // type 30: answer
  std::uint64_t sequence = 0;
  bool later = false;                       // it knows other tenures of the asker: not now
  std::vector<PartitionDigest> roots = {};  // of those of which it has records
};

using Body = std::variant<Join, Welcome, Refuse, Ping, PingRequest, PingAck, Sync, Batch, BatchAck, BatchRefused,
                          WaveProbe, WaveReply, Finish, FinishAck, Ask, Answer, Roots, RootsCompared, Leaves,
                          LeavesDiffer, SlotRequest, SlotAnswer, PageFingerprints, MirrorHints, LeaseRequest,
                          LeaseAnswer, CompareTenures, TenuresCompared, AskRecords, RecordsKnown>;

struct Message {
  std::uint16_t version = protocol_version;
  RingId ring;  // all zero before the sender knows it (Join, Ask from a command)
  PeerId from;  // all zero for a command
  std::uint64_t incarnation = 0;
  Body body;
};

// Name of a body's type, for logs and metrics: "ping", "batch_ack".
std::string_view type_name(const Body& body);

}  // namespace orbweaver::ring
