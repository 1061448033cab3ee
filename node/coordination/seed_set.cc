#include "node/coordination/seed_set.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "node/crawl/meta_names.h"
#include "node/try.h"
#include "ring/md5.h"

namespace orbweaver {

SeedSet::SeedSet(const PeerState& state, const Members& members, const Messenger& messenger, RecordWriter& writer,
                 AnnouncedEnd& end, std::function<void()> changed)
    : state_(&state),
      members_(&members),
      messenger_(&messenger),
      writer_(&writer),
      end_(&end),
      changed_(std::move(changed)) {}

SeedSet::Restored SeedSet::restore(const std::string& row) {
  Restored restored;
  std::istringstream lines(row);
  for (std::string line; std::getline(lines, line);) {
    if (const Result<CanonicalUrl> url = state_->canonicaliser.parse(line); url) {
      seeds_.insert(std::move(line));
    } else {
      restored.left_out.push_back(url.error().message);
    }
  }
  restored.row = this->row();
  return restored;
}

void SeedSet::make_scope() {
  std::vector<CanonicalUrl> urls;
  for (const std::string& seed : seeds_)
    if (Result<CanonicalUrl> url = state_->canonicaliser.parse(seed)) urls.push_back(std::move(*url));
  scope_ = std::make_unique<Scope>(state_->settings, urls);
  for (const CanonicalUrl& url : urls) hosts_.emplace(url.host());
  set_fingerprint(row());
}

std::string SeedSet::row() const {
  std::string lines;
  for (const std::string& seed : seeds_) lines += seed + "\n";
  return lines;
}

void SeedSet::set_fingerprint(const std::string& row) {
  fingerprint_ = ring::leading_bits(ring::md5(row));
  changed_();
}

// False: none of them is new.
bool SeedSet::take(const std::vector<std::string>& seeds, std::string& row) {
  std::vector<CanonicalUrl> fresh;
  std::set<std::string> texts;
  for (const std::string& seed : seeds)
    if (Result<CanonicalUrl> url = state_->canonicaliser.parse(seed);
        url && !seeds_.contains(url->text()) && texts.insert(url->text()).second)
      fresh.push_back(std::move(*url));
  if (fresh.empty()) return false;
  scope_->add_seeds(fresh);
  for (const CanonicalUrl& url : fresh) {
    due_.push_back(url.text());
    hosts_.emplace(url.host());
  }
  seeds_.merge(texts);
  row = this->row();
  set_fingerprint(row);
  return true;
}

void SeedSet::add(const std::vector<std::string>& seeds, storage::Commit& commit) {
  std::string row;
  if (!take(seeds, row)) return;
  end_->reopen(commit);
  commit.meta.emplace_back(meta_name::seeds, std::move(row));
}

Result<void> SeedSet::add(const Step& step, const std::vector<std::string>& seeds) {
  storage::Commit commit;
  add(seeds, commit);
  if (!commit.meta.empty()) ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> SeedSet::admit_own(const Step& step) {
  if ((!all_due_ && due_.empty()) || members_->view().empty() || end_->known()) return {};
  std::vector<std::string> due = std::exchange(due_, {});
  if (std::exchange(all_due_, false)) due.assign(seeds_.begin(), seeds_.end());
  storage::Commit commit;
  for (const std::string& seed : due) {
    const Result<CanonicalUrl> url = state_->canonicaliser.parse(seed);
    if (!url) continue;
    const storage::HostKey host = state_->partitioner.host_key(*url);
    if (!members_->view().owns(host.partition)) continue;
    storage::UrlRecord record;
    record.url = url->text();
    commit.merges.push_back({{host, url->digest()}, std::move(record)});
  }
  if (!commit.merges.empty()) ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

void SeedSet::send(const Step& step, const ring::PeerId& to, const std::vector<std::string>& seeds) const {
  for (std::size_t at = 0; at < seeds.size(); at += per_message) {
    ring::Sync sync;
    sync.seeds.assign(seeds.begin() + static_cast<std::ptrdiff_t>(at),
                      seeds.begin() + static_cast<std::ptrdiff_t>(std::min(at + per_message, seeds.size())));
    messenger_->send(to, std::move(sync), step.out);
  }
}

}  // namespace orbweaver
