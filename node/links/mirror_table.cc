#include "node/links/mirror_table.h"

#include <algorithm>
#include <utility>

#include "node/crawl/meta_names.h"
#include "node/try.h"
#include "ring/md5.h"

namespace orbweaver {

namespace {

// How long fingerprints wait for more, and how many go in a message.
constexpr Duration fingerprints_wait = std::chrono::milliseconds{200};
constexpr std::size_t fingerprints_step = 512;
// Outside input: a host in a peer's message may be no longer than this.
constexpr std::size_t max_host_bytes = 255;

ring::Partition partition_of_sighting(std::uint64_t fingerprint, std::uint32_t partitions) {
  return ring::partition_of(ring::md5("sighting " + std::to_string(fingerprint)), partitions);
}

}  // namespace

MirrorTable::MirrorTable(Around around)
    : around_(around), index_(max_page_fingerprints), verdicts_(max_mirror_hosts, around_.settings.trap_mirror_pages) {}

// The verdict on a host, as the last run wrote it.
MirrorVerdicts::Load MirrorTable::stored_verdict(const std::string& host) const {
  return [this, host]() -> std::optional<std::string> {
    const auto stored = around_.store.meta(std::string(meta_name::mirror) + host);
    return stored ? *stored : std::nullopt;  // the next commit meets the same failure and reports it
  };
}

Result<void> MirrorTable::write_verdict(const Step& step, const std::string& host, const std::string& verdict) const {
  storage::Commit commit;
  commit.meta.emplace_back(std::string(meta_name::mirror) + host, verdict);
  ORBWEAVER_TRY(around_.writer.commit(step, commit));
  return {};
}

std::string MirrorTable::mirror_of(std::string_view host) {
  if (!around_.rules.on(TrapRule::mirror)) return {};
  const std::string name(host);
  return verdicts_.mirror_of(name, stored_verdict(name));
}

void MirrorTable::note_page(Time now, const CanonicalUrl& url, std::uint64_t content) {
  if (content == 0 || !around_.rules.on(TrapRule::mirror)) return;
  const std::string host(url.host());
  if (!verdicts_.tell(host, stored_verdict(host))) return;
  if (unsent_.empty()) tell_at_ = now + fingerprints_wait;
  const ring::Md5 path = ring::md5(url.path_and_query());
  unsent_.push_back({ring::leading_bits(path) ^ content, host});
}

std::optional<Time> MirrorTable::next_deadline() const {
  return unsent_.empty() || around_.view.empty() ? std::nullopt : std::optional(tell_at_);
}

Result<void> MirrorTable::tick(const Step& step) {
  const View& view = around_.view;
  if (unsent_.empty() || view.empty() || (step.now < tell_at_ && unsent_.size() < fingerprints_step)) return {};
  std::map<ring::PeerId, ring::PageFingerprints> messages;
  for (ring::PageFingerprint& fingerprint : std::exchange(unsent_, {}))
    messages[view.owner(partition_of_sighting(fingerprint.page, view.partitions()))].fingerprints.push_back(
        std::move(fingerprint));
  for (auto& [owner, message] : messages) {
    if (owner == view.self()) {
      ORBWEAVER_TRY(on_page_fingerprints(step, message));
    } else {
      around_.messenger.send(owner, std::move(message), step.out);
    }
  }
  return {};
}

Result<void> MirrorTable::on_page_fingerprints(const Step& step, const ring::PageFingerprints& fingerprints) {
  const View& view = around_.view;
  std::map<ring::PeerId, ring::MirrorHints> hints;
  for (const ring::PageFingerprint& fingerprint : fingerprints.fingerprints) {
    if (fingerprint.host.empty() || fingerprint.host.size() > max_host_bytes || view.empty()) continue;
    const std::optional<std::string> other = index_.see(fingerprint.page, fingerprint.host);
    if (!other) continue;
    const auto owner = [&](const std::string& host) { return view.owner(around_.partitioner.home(host)); };
    hints[owner(fingerprint.host)].pages.push_back({fingerprint.host, *other});
    hints[owner(*other)].pages.push_back({*other, fingerprint.host});
  }
  for (auto& [owner, message] : hints) {
    if (owner == view.self()) {
      ORBWEAVER_TRY(on_mirror_hints(step, message));
    } else {
      around_.messenger.send(owner, std::move(message), step.out);
    }
  }
  return {};
}

// True: of two names of one site, `other` is the one to keep.
bool MirrorTable::is_to_keep(const std::string& other, const std::string& host) const {
  if (around_.seeds.is_host(host)) return false;
  return around_.seeds.is_host(other) || better_name(other, host);
}

Result<void> MirrorTable::on_mirror_hints(const Step& step, const ring::MirrorHints& same) {
  if (!around_.rules.on(TrapRule::mirror)) return {};
  for (const ring::MirrorHint& page : same.pages) {
    if (page.host.size() > max_host_bytes || page.other.size() > max_host_bytes) continue;
    if (!is_to_keep(page.other, page.host)) continue;
    if (!around_.view.owns(around_.partitioner.home(page.host))) continue;
    if (!verdicts_.matched(page.host, page.other, stored_verdict(page.host))) continue;
    step.log(LogLevel::info, "crawl", "mirror", {{"host", page.host}, {"of", page.other}}, true);
    ORBWEAVER_TRY(write_verdict(step, page.host, page.other));
  }
  return {};
}

Result<void> MirrorTable::lift(const Step& step, const std::string& host) {
  verdicts_.lift(host, stored_verdict(host));
  return write_verdict(step, host, "");
}

}  // namespace orbweaver
