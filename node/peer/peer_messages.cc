// Messages: which part takes which, and the boundary at which messages at fault are refused.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/overloaded.h"
#include "node/peer/message_guard.h"
#include "node/peer/peer.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

// Each message is of one of these two kinds; a new one that is in neither does not compile.
template <class Body>
concept OfAnyone = one_of<Body, ring::Ask, ring::Join, ring::Welcome, ring::Answer, ring::Refuse>;
template <class Body>
concept OfRing =
    one_of<Body, ring::Ping, ring::PingRequest, ring::PingAck, ring::Sync, ring::Batch, ring::BatchAck,
           ring::BatchRefused, ring::Roots, ring::RootsCompared, ring::Leaves, ring::LeavesDiffer, ring::WaveProbe,
           ring::WaveReply, ring::Finish, ring::FinishAck, ring::SlotRequest, ring::SlotAnswer, ring::PageFingerprints,
           ring::MirrorHints, ring::LeaseRequest, ring::LeaseAnswer, ring::CompareTenures, ring::TenuresCompared,
           ring::AskRecords, ring::RecordsKnown>;

bool is_of_membership(const ring::Body& body) {
  return std::visit(
      [](const auto& kind) {
        return one_of<std::decay_t<decltype(kind)>, ring::Ping, ring::PingRequest, ring::PingAck, ring::Sync>;
      },
      body);
}

}  // namespace

// The boundary (message_guard.h). What is true when the handling of a message stops half-way through:
//
// - On disk a commit is there whole or not at all, and nothing that this peer would have sent for the message leaves
//   it: others learn only what is finished. The sender of the message repeats it, or finds out by comparing.
// - In memory, members, tenures and seeds may have been merged up to some record. Each record is whole, merging is
//   idempotent and its order does not matter, so a part of a message is as good as a shorter message. The part that is
//   not on disk yet is written with the next change of its kind, or received again after a restart.
// - Between a commit and the parts in memory that follow it (RecordWriter), nothing depends on the message's content,
//   only on free memory. An exception there does not refuse the message but ends the process; the next reads the disk.
Result<void> Peer::receive(const Step& step, MessageEvent& event) {
  const PartitionManager& partition_manager = records_.replication.partition_manager;
  const std::uint64_t members = members_.membership().claims_refused();
  const std::uint64_t tenures = partition_manager.tenures_refused();
  std::optional<std::string> refused;
  ORBWEAVER_TRY(guarded(
      step, [&] { return handle(step, event); }, [this] { return records_.writer.memory_follows(); }, refused));
  if (refused) {
    faults_.refuse(step, event.message, *refused);
    if (const auto* ask = std::get_if<ring::Ask>(&event.message.body))
      messenger_.reply(event.reply, event.message.from,
                       ring::Answer{ask->sequence, json_text({{"error", "refused: " + *refused}})}, step.out);
  }
  faults_.refuse_claims(step, event.message, members_.membership().claims_refused() - members,
                        partition_manager.tenures_refused() - std::min(tenures, partition_manager.tenures_refused()));
  return {};
}

Result<void> Peer::handle(const Step& step, MessageEvent& event) {
  if (std::visit(Overloaded{[](const OfRing auto&) { return false; }, [](const OfAnyone auto&) { return true; }},
                 event.message.body))
    return handle_of_anyone(step, event);
  const ring::Message& in = event.message;
  if (in.ring != state_.ring) {
    faults_.note_refused();
    step.log(LogLevel::warning, "ring", "message of another ring", {{"peer", in.from.brief()}, {"ring", in.ring.hex()}},
             true);
    messenger_.reply(
        event.reply, in.from,
        ring::Refuse{"this peer belongs to ring " + state_.ring.hex() + ", the message to ring " + in.ring.hex(),
                     false},
        step.out);
    return {};
  }
  members_.membership().heard_from(in.from, in.incarnation, step.now);
  members_.note_version(in.from, in.version);
  // Else it would take what is meant for the other one. Who sends it sends it again.
  if (fence_.awaits_namesake(step.now) && !is_of_membership(in.body)) return {};
  return handle_of_ring(step, event);
}

// Messages that are accepted from any sender.
Result<void> Peer::handle_of_anyone(const Step& step, MessageEvent& event) {
  const ring::Message& in = event.message;
  const auto handled = Overloaded{
      [&](const ring::Ask& ask) {
        if (!event.reply.route.empty()) ends_.process.asked(step.now);
        return questions_.on_ask(step, in, ask, event.reply);
      },
      [&](const ring::Join& join) {
        if (!fence_.awaits_namesake(step.now)) doorkeeper_.on_join(step, in, join, event.reply);
        return Result<void>{};
      },
      [&](const ring::Welcome& welcome) { return on_welcome(step, in.from, welcome); },
      [&](const ring::Answer& answer) {
        questions_.on_answer(step, in, answer);
        return Result<void>{};
      },
      [&](const ring::Refuse& refuse) {
        faults_.note_refused();
        if (refuse.join && admission_.asks())
          return ends_.process.exit(step, ErrorCode::mismatch, "the ring refused this peer: " + refuse.reason);
        step.log(LogLevel::warning, "ring", "message refused", {{"peer", in.from.brief()}, {"reason", refuse.reason}},
                 true);
        return Result<void>{};
      },
  };
  return std::visit(Overloaded{[](const OfRing auto&) { return Result<void>{}; },
                               [&](const OfAnyone auto& body) { return handled(body); }},
                    in.body);
}

Result<void> Peer::handle_of_ring(const Step& step, MessageEvent& event) {
  const ring::Message& in = event.message;
  ring::Membership& membership = members_.membership();
  std::vector<ring::Send> sends;
  const auto compare = [&](std::uint64_t directives, std::uint64_t tenures) {
    directives_.compare(step, in.from, directives);
    moves_.compare(step, in.from, tenures);
  };
  // Handlers that cannot fail return nothing.
  const auto handled = Overloaded{
      [&](const ring::Ping& ping) {
        membership.on_ping(in.from, ping, step.now, sends);
        // This peer knows a newer record of the sender than the sender does, perhaps from another process with its
        // identity. It is sent on the connection of the ping, because the address may be the other process's.
        if (const ring::Member* known = membership.find(in.from);
            known != nullptr && known->incarnation > in.incarnation)
          messenger_.reply(event.reply, in.from, ring::Sync{false, {*known}, {}}, step.out);
        compare(ping.directives_fingerprint, ping.tenures_fingerprint);
      },
      [&](const ring::PingRequest& request) { membership.on_ping_request(in.from, request, step.now, sends); },
      [&](const ring::PingAck& ack) {
        membership.on_ping_ack(in.from, ack, step.now, sends);
        compare(ack.directives_fingerprint, ack.tenures_fingerprint);
      },
      [&](const ring::Sync& sync) { return on_sync(step, in, sync, event.reply); },
      [&](const ring::Batch& batch) {
        if (lifecycle_.ending() || snapshots_.keep_back(event)) return Result<void>{};
        return batches_.take(step, in.from, batch, event.reply);
      },
      [&](const ring::BatchAck& ack) { return moves_.hear(step, in.from, ack); },
      [&](const ring::BatchRefused& refused) {
        membership.merge(refused.members, step.now);
        return moves_.hear(step, in.from, refused);
      },
      [&](const ring::Roots& roots) { return moves_.hear(step, in.from, roots, event.reply); },
      [&](const ring::RootsCompared& compared) { return moves_.hear(step, in.from, compared); },
      [&](const ring::Leaves& leaves) { return moves_.hear(step, in.from, leaves, event.reply); },
      [&](const ring::LeavesDiffer& differ) {
        records_.replication.partition_manager.on_leaves_differ(in.from, differ);
      },
      [&](const ring::WaveProbe& probe) { on_wave_probe(step, in, probe, event.reply); },
      [&](const ring::WaveReply& wave) { ends_.search.hear(in.from, wave); },
      [&](const ring::Finish& finish) { return ends_.search.hear(step, in.from, finish, event.reply, own_end()); },
      [&](const ring::FinishAck& ack) { return ends_.search.hear(step, in.from, ack, event.reply); },
      [&](const ring::SlotRequest& request) { fetches_.access.on_request(step, in, request, event.reply); },
      [&](const ring::SlotAnswer& answer) { fetches_.access.on_answer(step.now, in.from, answer); },
      [&](const ring::LeaseRequest& request) {
        fetches_.access.leases().on_request(step, in.from, request, event.reply);
      },
      [&](const ring::LeaseAnswer& answer) { fetches_.access.leases().on_answer(step.now, answer); },
      [&](const ring::PageFingerprints& fingerprints) {
        return verdicts_.mirrors.on_page_fingerprints(step, fingerprints);
      },
      [&](const ring::MirrorHints& same) { return verdicts_.mirrors.on_mirror_hints(step, same); },
      [&](const ring::CompareTenures& question) {
        membership.merge(question.members, step.now);
        // The sender may be a newcomer that was let in while the end was being sent.
        ends_.search.tell_newcomer(step, in.from, event.reply);
        moves_.hear(step, in.from, question, event.reply, fence_.confirmed());
      },
      [&](const ring::TenuresCompared& answer) {
        membership.merge(answer.members, step.now);
        return on_compared(step, in.from, answer);
      },
      [&](const ring::AskRecords& ask) {
        membership.merge(ask.members, step.now);
        return moves_.hear(step, in.from, ask, event.reply);
      },
      [&](const ring::RecordsKnown& known) { moves_.hear(step, in.from, known); },
  };
  Result<void> done = std::visit(Overloaded{[&](const OfRing auto& body) -> Result<void> {
                                              if constexpr (std::is_void_v<decltype(handled(body))>) {
                                                handled(body);
                                                return {};
                                              } else {
                                                return handled(body);
                                              }
                                            },
                                            [](const OfAnyone auto&) { return Result<void>{}; }},
                                 in.body);
  if (done) messenger_.send_all(sends, step.out);
  return done;
}

Result<void> Peer::on_welcome(const Step& step, const ring::PeerId& from, const ring::Welcome& welcome) {
  if (welcome.ring != state_.ring || admission_.welcomed()) return {};
  ring::Membership& membership = members_.membership();
  membership.welcome(welcome.members, step.now);
  ORBWEAVER_TRY(moves_.hear(step, welcome.tenures, true));
  ORBWEAVER_TRY(directives_.seeds().add(step, welcome.seeds));
  ORBWEAVER_TRY(directives_.learn(step, from, welcome.orders));
  // Not before it knows the whole scope: links that it judged by a part of the scope would be lost.
  if (directives_.fingerprint() != welcome.directives_fingerprint &&
      membership.self().state == ring::MemberState::joining)
    return {};
  admission_.note_welcome();
  if (membership.self().state == ring::MemberState::joining) membership.set_state(ring::MemberState::active, step.now);
  // The others learn this peer's state at once, not with the next probes. Only its own record is sent: in a large ring
  // the whole view from each peer to all others would be too much.
  ring::Sync news;
  news.members = {membership.self()};
  for (const ring::PeerId& member : members_.others()) messenger_.send(member, news, step.out);
  return {};
}

Result<void> Peer::on_sync(const Step& step, const ring::Message& in, const ring::Sync& sync,
                           const ring::ReplyPath& reply) {
  ring::Membership& membership = members_.membership();
  membership.merge(sync.members, step.now);
  // The sender may be a newcomer that was let in while the end was being sent.
  ends_.search.tell_newcomer(step, in.from, reply);
  ends_.process.hear(step.now, sync.members);
  ORBWEAVER_TRY(directives_.seeds().add(step, sync.seeds));
  ORBWEAVER_TRY(directives_.learn(step, in.from, sync.orders));
  ORBWEAVER_TRY(moves_.hear(step, sync.tenures));
  if (sync.seeds.empty() && sync.orders.empty()) {
    directives_.compare(step, in.from, sync.directives_fingerprint);
  } else {
    directives_.compare_brought(step, in.from, sync.directives_fingerprint);
  }
  if (sync.reply_wanted) messenger_.reply(reply, in.from, membership.answer(sync), step.out);
  return {};
}

// Another peer's answer about tenures: what it says is learned before this peer relies on it.
Result<void> Peer::on_compared(const Step& step, const ring::PeerId& from, const ring::TenuresCompared& answer) {
  directives_.compare(step, from, answer.directives_fingerprint);
  ORBWEAVER_TRY(moves_.hear(step, from, answer, fence_.is_answer(answer)));
  fence_.hear(step.now, from, answer);
  return {};
}

void Peer::on_wave_probe(const Step& step, const ring::Message& in, const ring::WaveProbe& probe,
                         const ring::ReplyPath& reply) {
  if (const auto fault = ends_.search.fault(in.from, probe)) return faults_.refuse(step, in, *fault);
  std::optional<std::uint64_t> granted;
  if (!ends_.search.hear(step.now, in.from, probe, granted)) return;
  if (granted) fetches_.allowance.grant(*granted);
  ring::WaveReply answer = wave_reply();
  answer.wave = probe.wave;
  ends_.search.note_reply(in.from, answer);
  messenger_.reply(reply, in.from, std::move(answer), step.out);
}

}  // namespace orbweaver
