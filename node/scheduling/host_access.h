// May this host be asked now? A host waits for its lease (lease_desk.h, under partition_by = url), or for that of the
// host where its robots.txt is, and for a slot of the address (address_slots.h). It stays acquired meanwhile, so that
// each is asked for once. If this peer owns the address, the slot is known at once: one that is there now needs no
// wait. The owner's part is here too: it gives slots of the addresses that this peer owns. Thread rule: one owner (the
// peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/crawl/step.h"
#include "node/replication/messenger.h"
#include "node/scheduling/address_slots.h"
#include "node/scheduling/lease_desk.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class HostAccess {
 public:
  enum class Verdict : std::uint8_t {
    now,
    later,  // at its next_allowed
    asked,  // it stays acquired until an answer has come
  };

  // All outlive it.
  HostAccess(const PeerState& state, const ring::Membership& membership, const View& view, Workbench& bench,
             const Messenger& messenger, const ring::Tenures& tenures, bool made_ring);
  HostAccess(const HostAccess&) = delete;  // its parts point at each other
  HostAccess& operator=(const HostAccess&) = delete;

  // For an acquired host whose address was looked up.
  Verdict may_ask(Time now, BenchHost& host);
  // Asks for the slot of an acquired host that is due soon; the host stays acquired until the answer has come.
  void ask_ahead(Time now, BenchHost& host);
  // How long before it is due the host is taken for that. Zero: its slot is asked for when it is due.
  Duration ask_ahead_by(const BenchHost& host) const;
  // A request to the host begins now.
  void note_request(Time now, const BenchHost& host);
  LeaseDesk& leases() { return leases_; }
  // Hosts that wait for the answer of an owner, other peers or this one.
  std::size_t asked() const { return wanted_.size() + leases_.asked(); }

  void tick(const Step& step);
  std::optional<Time> next_deadline() const;
  void on_request(const Step& step, const ring::Message& in, const ring::SlotRequest& request,
                  const ring::ReplyPath& reply);
  void on_answer(Time now, const ring::PeerId& from, const ring::SlotAnswer& answer);
  void owners_changed(Time now) { since_.owners_changed(*view_, now); }
  void forget_strangers();  // forgets peers that are no longer members
  ring::TableSizes tables() const;

 private:
  struct SlotWanted {
    storage::HostKey host;
    std::string address;
    Duration delay{};     // how long the request reserves the address
    Duration good_for{};  // as asked for last
    Time due{};           // the host may not be asked before this
    Time asked{};
    Duration timeout{};  // without an answer for this long it is asked for again
  };
  Verdict slot(Time now, BenchHost& host);
  bool take_own_slot(Time now, BenchHost& host);
  AddressSlotBook::Slot own_slot(const std::string& address, AddressSlotBook::Ask ask, Time now);
  Duration address_delay(const BenchHost& host) const {
    return host.elsewhere.empty() ? sites_->address_delay(host.name, host.crawl_delay)
                                  : sites_->address_delay(host.elsewhere, {});
  }
  ring::PeerId owner_of(const std::string& address) const;
  void send(const Step& step);

  const Settings* settings_;
  const ring::Membership* membership_;
  const View* view_;
  const SitePolicy* sites_;
  Workbench* bench_;
  const Messenger* messenger_;
  OwnedSince since_;
  RisingNumber ids_;  // of questions
  LeaseDesk leases_;
  AddressSlotBook book_;  // as an owner
  OwnRequests own_requests_;
  std::map<std::uint64_t, SlotWanted> wanted_;  // by the id of the question
  std::vector<std::uint64_t> unsent_;
  std::map<ring::PeerId, Duration> slot_round_trip_;  // to each owner: the slowest answer, which decays
  Time next_look_{};
};

}  // namespace orbweaver
