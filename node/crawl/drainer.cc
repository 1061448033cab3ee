#include "node/crawl/drainer.h"

#include <set>

#include "node/storage_error.h"

namespace orbweaver {

namespace {

constexpr Duration wait_for_fetches = std::chrono::milliseconds{50};
// A receiver refuses a message beyond ring::message_bytes_max whole; the last record and the framing have the other
// half.
constexpr std::size_t batch_bytes_max = ring::message_bytes_max / 2;
constexpr Duration refusal_wait = std::chrono::milliseconds{200};

}  // namespace

Result<void> Drainer::owners_changed(const View& view) {
  under_way_.reset();
  partitions_.clear();
  if (view.empty()) return {};
  const auto held = store_->partitions();
  if (!held) return tl::make_unexpected(error_of(held.error()));
  for (const ring::Partition partition : *held)
    if (!view.owns(partition)) partitions_.push_back(partition);
  return {};
}

Result<std::optional<Forwarder::Out>> Drainer::tick(Time now, const View& view,
                                                    const std::function<bool(ring::Partition)>& busy,
                                                    const std::function<std::uint64_t()>& new_sequence) {
  if (under_way_) {
    if (now - under_way_->sent < batch_timeout_) return std::optional<Forwarder::Out>();
    under_way_->sent = now;
    return std::optional<Forwarder::Out>(under_way_->out);
  }
  if (now < not_before_) return std::optional<Forwarder::Out>();
  for (std::size_t left = partitions_.size(); left > 0; --left) {
    const ring::Partition partition = partitions_.front();
    if (busy(partition)) {
      partitions_.pop_front();
      partitions_.push_back(partition);
      continue;
    }
    auto records = store_->scan(partition, nullptr, batch_records_);
    if (!records) return tl::make_unexpected(error_of(records.error()));
    if (records->empty()) {
      partitions_.pop_front();
      continue;
    }
    UnderWay next;
    next.out.to = view.owner(partition);
    next.out.batch.sequence = new_sequence();
    next.out.batch.ring_fingerprint = view.ring().fingerprint();
    next.sent = now;
    std::set<storage::HostKey> hosts;
    std::size_t bytes = 0;
    for (const storage::Merge& merge : *records) {
      if (next.out.batch.records.size() + 2 > ring::batch_records_max || bytes >= batch_bytes_max) break;
      // A host's clock goes before its URLs, so that the new owner is polite from the first.
      if (hosts.insert(merge.key.host).second) {
        const auto clock = store_->clock(merge.key.host);
        if (!clock) return tl::make_unexpected(error_of(clock.error()));
        if (*clock) {
          next.out.batch.records.push_back({partition, {}});
          storage::encode_clock(**clock, next.out.batch.records.back().record);
          bytes += next.out.batch.records.back().record.size();
        }
      }
      next.out.batch.records.push_back({partition, {}});
      storage::encode_record(merge.record, next.out.batch.records.back().record);
      bytes += next.out.batch.records.back().record.size();
      next.keys.push_back(merge.key);
    }
    under_way_ = std::move(next);
    return std::optional<Forwarder::Out>(under_way_->out);
  }
  not_before_ = now + wait_for_fetches;
  return std::optional<Forwarder::Out>();
}

std::vector<storage::UrlKey> Drainer::acknowledged(const ring::PeerId& from, std::uint64_t sequence) {
  if (!under_way_ || under_way_->out.to != from || under_way_->out.batch.sequence != sequence) return {};
  std::vector<storage::UrlKey> keys = std::move(under_way_->keys);
  under_way_.reset();
  return keys;
}

bool Drainer::refused(const ring::PeerId& from, std::uint64_t sequence, Time now) {
  if (!under_way_ || under_way_->out.to != from || under_way_->out.batch.sequence != sequence) return false;
  under_way_.reset();
  not_before_ = now + refusal_wait;
  return true;
}

std::optional<Time> Drainer::next_deadline() const {
  if (under_way_) return under_way_->sent + batch_timeout_;
  if (partitions_.empty()) return std::nullopt;
  return not_before_;
}

}  // namespace orbweaver
