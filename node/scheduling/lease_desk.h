// Leases of hosts: the asker's part and the owner's. Before a peer asks a host, it takes a lease. It renews the lease
// while it needs it, and returns it with the wait that the host is due. A request is sent again under the same id until
// it is answered: the owner gives the same answer again. There are two kinds:
//   under partition_by = url, for each request: from the owner of the host's digest (host_leases.h);
//   else only for a robots.txt that is on another host than the one whose it is: a turn of that other host, from the
//   peer that holds it and asks it for its own pages (Workbench::lend).
// Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/crawl/peer_state.h"
#include "node/crawl/rising_number.h"
#include "node/crawl/site_policy.h"
#include "node/crawl/step.h"
#include "node/frontier/workbench.h"
#include "node/replication/messenger.h"
#include "node/scheduling/host_leases.h"
#include "node/scheduling/owned_since.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"
#include "ring/tenures.h"

namespace orbweaver {

class LeaseDesk {
 public:
  // All outlive it. `ids`: of questions, shared with the questions for slots.
  LeaseDesk(const PeerState& state, const View& view, const ring::Tenures& tenures, const OwnedSince& since,
            Workbench& bench, const Messenger& messenger, RisingNumber& ids)
      : state_(&state),
        view_(&view),
        tenures_(&tenures),
        since_(&since),
        sites_(&state.sites),
        bench_(&bench),
        messenger_(&messenger),
        ids_(&ids) {}

  // True: this peer holds the lease of the host, or of the other one that its request goes to (BenchHost::elsewhere),
  // until give_back(). False: the host stays acquired until the owner has answered.
  bool have(Time now, const BenchHost& host);
  // The request to the host has ended; the lease is returned with the wait that the host is due.
  void give_back(Time now, const storage::HostKey& host);
  // The same, of a request that went elsewhere.
  void give_back_elsewhere(Time now, const storage::HostKey& host, Duration wait);
  // The host has nothing to ask for now.
  void give_back_unused(Time now, const storage::HostKey& host);

  // Handles questions without an answer, leases that must be renewed, and leases that are not used.
  void tick(Time now);
  // Sends what must be asked now. For what this peer, `self`, owns, it answers itself at once.
  void send(const Step& step, const ring::PeerId& self);
  bool idle() const { return leases_.empty() && turns_.empty(); }
  std::size_t asked() const { return asked_; }  // hosts that wait for the answer to have()
  // The owner's answer.
  void on_answer(Time now, const ring::LeaseAnswer& answer);

  // The owner's part. For a host that another peer owns it does not answer: the asker will learn the owner and ask
  // again.
  void on_request(const Step& step, const ring::PeerId& from, const ring::LeaseRequest& request,
                  const ring::ReplyPath& reply);
  // Of hosts whose turns came back since the last call: to be stored, so that they go along when a partition moves.
  std::vector<std::pair<storage::HostKey, storage::HostClock>> take_clocks() { return std::exchange(clocks_, {}); }
  ring::TableSizes tables() const;

 private:
  struct HostLease {
    enum class State : std::uint8_t { asked, held, returned };
    storage::HostKey key;
    ring::Md5 host{};  // MD5 of its name
    std::string name;  // of another host that the request goes to; empty: the host's own
    State state = State::asked;
    Duration delay{};                // of the host
    Time sent{};                     // the last message
    Time given{};                    // held: since this
    Time until{};                    // held: it ends then, if it is not renewed
    std::optional<Time> next_asked;  // returned: the host's next time; none: it was not asked
  };
  // A turn of a host that this peer holds, lent.
  struct Turn {
    HostLeaseBook::Lease lease;
    std::string name;
    Time until{};  // it ends then, if it is not renewed
  };
  void give_back(Time now, std::uint64_t id, std::optional<Duration> wait);  // no wait: the host was not asked
  ring::Partition partition_of(const ring::Md5& host, const std::string& name) const;
  std::optional<ring::Lease> lend_turn(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask);
  void take_back(Time now, std::map<storage::HostKey, Turn>::iterator turn, Duration wait);
  // Nothing: another peer owns the host.
  std::optional<ring::Lease> lend(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask);
  void take_answer(Time now, const ring::Lease& answer);

  const PeerState* state_;
  const View* view_;
  const ring::Tenures* tenures_;
  const OwnedSince* since_;
  const SitePolicy* sites_;
  Workbench* bench_;
  const Messenger* messenger_;
  RisingNumber* ids_;
  std::map<std::uint64_t, HostLease> leases_;           // by the id of the question
  std::map<storage::HostKey, std::uint64_t> lease_of_;  // of leases asked for or held
  std::size_t asked_ = 0;                               // leases in state asked
  std::vector<std::uint64_t> unsent_;
  HostLeaseBook book_{state_->settings.delay};  // as an owner
  std::map<storage::HostKey, Turn> turns_;      // as a holder
  std::vector<std::pair<storage::HostKey, storage::HostClock>> clocks_;
};

}  // namespace orbweaver
