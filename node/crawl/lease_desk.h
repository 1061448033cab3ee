// Leases of hosts (host_leases.h), under partition_by = url: the asker's part and the owner's. Before a peer asks a
// host it takes a lease from the owner of the host's digest, renews it while it needs it, and returns it with the wait
// that the host is due. In a message a request is a TurnAsk whose address is a byte (1 ask, 2 renew, 3 return) and
// MD5(host); good_for is the host's delay, or that wait. It goes out again under the same id until it is answered: the
// owner gives the same answer again. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "node/crawl/host_leases.h"
#include "node/crawl/owned_since.h"
#include "node/crawl/site_policy.h"
#include "node/crawl/workbench.h"
#include "ring/messages.h"

namespace orbweaver {

class LeaseDesk {
 public:
  // All outlive it. `next_id`: of the next question, shared with those for slots.
  LeaseDesk(const View& view, const OwnedSince& since, const SitePolicy& sites, Workbench& bench,
            std::uint64_t& next_id)
      : view_(&view), since_(&since), sites_(&sites), bench_(&bench), next_id_(&next_id) {}

  // True: the host is this peer's, until give_back(). False: it stays acquired until the owner has answered.
  bool have(Time now, const BenchHost& host);
  // What was asked of the host is over; it is returned with the wait that the host is due.
  void give_back(Time now, const storage::HostKey& host);
  // The host has nothing to ask for now.
  void give_back_unused(Time now, const storage::HostKey& host);

  // Questions without an answer, leases that are to be renewed, and leases that are not used.
  void tick(Time now);
  // What is to be asked now: of others by their messages, of this peer itself at once.
  void send(Time now, const ring::PeerId& self, std::map<ring::PeerId, ring::TurnRequest>& requests, ring::Turns& own);
  bool idle() const { return leases_.empty(); }
  // The owner's answer. False: it is not about a lease.
  bool on_answer(Time now, const ring::Turn& answer);

  // The owner's part. Nothing: the question is not about a lease, or another peer owns the host, and the asker will
  // learn that.
  std::optional<ring::Turn> lend(Time now, const ring::PeerId& from, const ring::TurnAsk& ask);

 private:
  struct HostLease {
    enum class State : std::uint8_t { asked, held, returned };
    storage::HostKey key;
    ring::Md5 host{};  // MD5 of its name
    State state = State::asked;
    Duration wait{};  // asked, held: the host's delay; returned: until it may next be asked
    Time sent{};      // the last message
    Time given{};
    Time until{};
  };
  void give_back(Time now, std::uint64_t id, Duration wait);

  const View* view_;
  const OwnedSince* since_;
  const SitePolicy* sites_;
  Workbench* bench_;
  std::uint64_t* next_id_;
  std::map<std::uint64_t, HostLease> leases_;           // by the id of the question
  std::map<storage::HostKey, std::uint64_t> lease_of_;  // of those asked for or held
  std::vector<std::uint64_t> unsent_;
  HostLeaseBook book_;  // the owner's
};

}  // namespace orbweaver
