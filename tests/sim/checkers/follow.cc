// Not an invariant: writes into the trace which stores contain the record of one URL, and its state, at each change;
// also the holder of its partition. For finding out how a record was lost (orbweaver-sim --follow URL).
#include "ring/md5.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

class Follow final : public Checker {
 public:
  explicit Follow(std::string url) : url_(std::move(url)) {}
  std::string_view name() const override { return "follow"; }

  void stepped(World& world, std::size_t number) override {
    SimPeer& peer = world.peers()[number];
    if (peer.store == nullptr || peer.core == nullptr) return;
    const Result<CanonicalUrl> url = CanonicalUrl::parse(url_);
    if (!url) return;
    const Settings& settings = world.parameters().settings;
    const storage::HostKey host = Partitioner(settings.partition_by, settings.partitions).host_key(*url);
    const auto record = peer.store->find({host, url->digest()});
    if (!record) return;
    const ring::Tenure& tenure = peer.core->tenures().of(host.partition);
    std::string is = *record ? std::string(storage::state_name((*record)->state)) : "unknown";
    if (*record && (*record)->visit > 0) is += " visit " + std::to_string((*record)->visit);
    if (*record && !(*record)->validator.empty()) is += " validator " + (*record)->validator;
    if (const auto outbox = peer.store->outbox_of(host.partition, 0, 1'000'000); outbox)
      for (const storage::OutboxEntry& entry : *outbox)
        if (const auto waiting = storage::decode_record(entry.record); waiting && waiting->url == url->text())
          is += ", in its outbox";
    is += ", partition " + std::to_string(host.partition) + " held by " + tenure.holder.brief() + " in epoch " +
          std::to_string(tenure.epoch) + (peer.core->fetches(host.partition) ? ", fetches it" : "");
    if (std::exchange(last_[number], is) != is) world.note("FOLLOW p" + std::to_string(number) + ": " + is);
  }

 private:
  std::string url_;
  std::map<std::size_t, std::string> last_;
};

}  // namespace

std::unique_ptr<Checker> make_follow(std::string url) { return std::make_unique<Follow>(std::move(url)); }

}  // namespace orbweaver::sim
