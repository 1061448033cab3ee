// Mirrors in the ring (mirror_index.h defines them). A host's first pages are reported to the owners of their
// fingerprints, which notify the owners of both hosts. Messages are not repeated: a lost one is a page that was not
// compared. The verdict is in the meta table of the peer that found it (meta_name::mirror). Lifetime: the peer's.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/coordination/seed_set.h"
#include "node/crawl/partitioner.h"
#include "node/links/mirror_index.h"
#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"
#include "node/replication/view.h"
#include "node/scope/traps.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class MirrorTable {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const Settings& settings;
    const TrapRules& rules;
    storage::Store& store;
    const View& view;
    Partitioner& partitioner;
    const Messenger& messenger;
    const SeedSet& seeds;
    RecordWriter& writer;
  };
  explicit MirrorTable(Around around);

  // The host that this one mirrors; "": none. Cost: a look-up; a read of the store for a host that is not in memory.
  std::string mirror_of(std::string_view host);
  // A page was fetched for the first time. `content`: fingerprint of its body; 0: none.
  void note_page(Time now, const CanonicalUrl& url, std::uint64_t content);
  // Sends fingerprints of this peer that have waited long enough for more to their owners.
  Result<void> tick(const Step& step);
  std::optional<Time> next_deadline() const;

  // As the owner of fingerprints: notifies the owners of hosts that gave the same page of each other.
  Result<void> on_page_fingerprints(const Step& step, const ring::PageFingerprints& fingerprints);
  // As the owner of hosts. A seed's host is never a mirror of another: the user named it.
  Result<void> on_mirror_hints(const Step& step, const ring::MirrorHints& same);
  // The user says that the host is not a mirror; that is final.
  Result<void> lift(const Step& step, const std::string& host);
  ring::TableSizes tables() const;

 private:
  MirrorVerdicts::Load stored_verdict(const std::string& host) const;
  bool is_to_keep(const std::string& other, const std::string& host) const;
  Result<void> write_verdict(const Step& step, const std::string& host, const std::string& verdict) const;

  Around around_;
  PageFingerprintIndex index_;  // as an owner of fingerprints
  MirrorVerdicts verdicts_;     // as an owner of hosts
  std::vector<ring::PageFingerprint> unsent_;
  Time tell_at_{};  // in use while there are any
};

}  // namespace orbweaver
