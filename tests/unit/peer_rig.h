// The lower parts of a peer on a store in memory, connected as Peer does it, for the tests of parts. The peer is number
// 1; its ring is number 200.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "node/config/settings_table.h"
#include "node/coordination/announced_end.h"
#include "node/coordination/farewell.h"
#include "node/replication/record_writer.h"
#include "storage/memory_kv.h"

namespace orbweaver {

inline ring::PeerId rig_id(std::uint8_t number) {
  ring::PeerId id;
  id.bytes[0] = number;
  return id;
}

inline Settings rig_settings() {
  Settings settings = default_settings();
  settings.partitions = 16;
  settings.replicas = 1;
  return settings;
}

// All commands of a peer or its parts, in order.
struct CommandLog {
  // The messages of one kind sent since the last call of clear().
  template <class Body>
  std::vector<Body> sent() const {
    std::vector<Body> found;
    for (const Command& command : out) {
      const ring::Message* message = nullptr;
      if (const auto* send = std::get_if<SendMessage>(&command)) message = &send->message;
      if (const auto* reply = std::get_if<ReplyMessage>(&command)) message = &reply->message;
      if (message != nullptr)
        if (const auto* body = std::get_if<Body>(&message->body)) found.push_back(*body);
    }
    return found;
  }
  bool logged(std::string_view event) const {
    for (const Command& command : out)
      if (const auto* note = std::get_if<LogEntry>(&command); note != nullptr && note->event == event) return true;
    return false;
  }
  void clear() { out.clear(); }

  Commands out;
};

struct PeerRig : CommandLog {
  explicit PeerRig(Settings settings = rig_settings())
      : state(std::move(settings), plan_memory({}, std::uint64_t{2} << 30), store, rig_id(1), rig_id(200)),
        members(state, ring::Membership(self(), {}, 1)),
        replication(state),
        messenger(state, members, replication.partition_manager.tenures()),
        bench({}, store, [](std::uint16_t) { return true; }),
        writer(state, members, replication, bench),
        end(messenger),
        farewell(state, members, lifecycle, messenger, writer) {
    state.started = state.stepped = now;
  }

  static ring::Member self() {
    ring::Member self;
    self.id = rig_id(1);
    self.address = "10.0.0.1:7400";
    self.incarnation = 3 * ring::incarnations_a_life;
    return self;
  }
  // A member of its ring, with this state.
  // `anew`: with an incarnation that overrides what others said of it before.
  void add_member(std::uint8_t number, ring::MemberState as, bool anew = false) {
    ring::Member member;
    member.id = rig_id(number);
    member.address = "10.0.0." + std::to_string(number) + ":7400";
    member.incarnation = self().incarnation + (anew ? 1 : 0);
    member.started = self().incarnation;
    member.state = as;
    members.membership().welcome({member}, now);
  }
  // This peer is in its ring and knows the owner of each partition.
  void enter() {
    members.membership().set_state(ring::MemberState::active, now);
    members.accept_changes(now);
  }
  Step step() { return {now, out}; }

  Time now = Time(std::chrono::hours{480'000});
  storage::MemoryKv kv;
  storage::Store store = *storage::Store::open(kv);
  PeerState state;
  Members members;
  Replication replication;
  Messenger messenger;
  Lifecycle lifecycle;
  Workbench bench;
  RecordWriter writer;
  AnnouncedEnd end;
  Farewell farewell;
};

}  // namespace orbweaver
