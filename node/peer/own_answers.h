// This peer's own answers to questions (questions.h): status, settings, explain, urls, hosts, events, history, seed,
// traps, order, orders, recrawl, retry, forget, snapshot, leave, stop.
// Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/coordination/end_parts.h"
#include "node/crawl/event_log.h"
#include "node/links/seed_intake.h"
#include "node/links/url_verdicts.h"
#include "node/peer/explanation.h"
#include "node/peer/history.h"
#include "node/peer/host_report.h"
#include "node/peer/peer_status.h"
#include "node/peer/snapshot_desk.h"
#include "node/peer/trap_report.h"
#include "node/peer/url_report.h"
#include "node/replication/record_parts.h"
#include "node/scheduling/fetch_gate.h"

namespace orbweaver {

class OwnAnswers {
 public:
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    PeerState& state;
    Members& members;
    Lifecycle& lifecycle;
    RecordParts& records;
    EndParts& ends;
    Directives& directives;
    UrlVerdicts& verdicts;
    LinkParts& links;
    SeedIntake& intake;
    const FetchGate& gate;
    const PeerStatus& status;
    SnapshotDesk& snapshots;
    const EventLog& events;
    const History& history;
  };
  explicit OwnAnswers(Around around);

  // Of an order of an operator: what all peers must get alike, such as its stamp and its moment. Errors name the field.
  Result<void> complete(const Step& step, const std::string& verb, nlohmann::json& body) const;
  // {"error": text} when the question cannot be answered. Error: the store failed.
  Result<nlohmann::json> answer(const Step& step, const std::string& verb, const nlohmann::json& body);
  // The member that knows most of a URL: its holder, or its owner if the holder is not reachable. Nothing: this peer.
  std::optional<ring::PeerId> who_knows(const CanonicalUrl& url) const;

 private:
  Result<nlohmann::json> traps(const Step& step, const nlohmann::json& body);
  nlohmann::json settings() const;
  nlohmann::json urls(const nlohmann::json& body) const;
  nlohmann::json events(const nlohmann::json& body) const;
  nlohmann::json history() const;
  nlohmann::json hosts(Time now, const nlohmann::json& body) const;
  Result<nlohmann::json> order(const Step& step, const nlohmann::json& body);
  nlohmann::json orders() const;
  nlohmann::json snapshot(const Step& step, const nlohmann::json& body);
  nlohmann::json forget(const Step& step, const nlohmann::json& body);

  Around around_;
  Explanation explanation_;
  TrapReport trap_report_;
  UrlReport url_report_;
  HostReport host_report_;
};

}  // namespace orbweaver
