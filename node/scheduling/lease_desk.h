// Leases of hosts (host_leases.h), under partition_by = url: the asker's part and the owner's. Before a peer asks a
// host, it takes a lease from the owner of the host's digest. It renews the lease while it needs it, and returns it
// with the wait that the host is due. A request is sent again under the same id until it is answered: the owner gives
// the same answer again. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "node/crawl/rising_number.h"
#include "node/crawl/site_policy.h"
#include "node/crawl/step.h"
#include "node/frontier/workbench.h"
#include "node/replication/messenger.h"
#include "node/scheduling/host_leases.h"
#include "node/scheduling/owned_since.h"
#include "ring/messages.h"

namespace orbweaver {

class LeaseDesk {
 public:
  // All outlive it. `ids`: of questions, shared with the questions for slots.
  LeaseDesk(const View& view, const OwnedSince& since, const SitePolicy& sites, Workbench& bench,
            const Messenger& messenger, RisingNumber& ids)
      : view_(&view), since_(&since), sites_(&sites), bench_(&bench), messenger_(&messenger), ids_(&ids) {}

  // True: this peer holds the lease, until give_back(). False: the host stays acquired until the owner has answered.
  bool have(Time now, const BenchHost& host);
  // The request to the host has ended; the lease is returned with the wait that the host is due.
  void give_back(Time now, const storage::HostKey& host);
  // The host has nothing to ask for now.
  void give_back_unused(Time now, const storage::HostKey& host);

  // Handles questions without an answer, leases that must be renewed, and leases that are not used.
  void tick(Time now);
  // Sends what must be asked now. For what this peer, `self`, owns, it answers itself at once.
  void send(const Step& step, const ring::PeerId& self);
  bool idle() const { return leases_.empty(); }
  // The owner's answer.
  void on_answer(Time now, const ring::LeaseAnswer& answer);

  // The owner's part. For a host that another peer owns it does not answer: the asker will learn the owner and ask
  // again.
  void on_request(const Step& step, const ring::PeerId& from, const ring::LeaseRequest& request,
                  const ring::ReplyPath& reply);

 private:
  struct HostLease {
    enum class State : std::uint8_t { asked, held, returned };
    storage::HostKey key;
    ring::Md5 host{};  // MD5 of its name
    State state = State::asked;
    Duration delay{};   // of the host
    Time sent{};        // the last message
    Time given{};       // held: since this
    Time until{};       // held: it ends then, if it is not renewed
    Time next_asked{};  // returned: the host may not be asked before this
  };
  void give_back(Time now, std::uint64_t id, Duration wait);
  // Nothing: another peer owns the host.
  std::optional<ring::Lease> lend(Time now, const ring::PeerId& from, const ring::LeaseAsk& ask);
  void take_answer(Time now, const ring::Lease& answer);

  const View* view_;
  const OwnedSince* since_;
  const SitePolicy* sites_;
  Workbench* bench_;
  const Messenger* messenger_;
  RisingNumber* ids_;
  std::map<std::uint64_t, HostLease> leases_;           // by the id of the question
  std::map<storage::HostKey, std::uint64_t> lease_of_;  // of leases asked for or held
  std::vector<std::uint64_t> unsent_;
  HostLeaseBook book_;  // as an owner
};

}  // namespace orbweaver
