#include "node/coordination/directives.h"

#include <utility>

#include "node/crawl/meta_names.h"
#include "node/try.h"
#include "ring/md5.h"

namespace orbweaver {

namespace {

// Directives are exchanged no more often than this; new ones are sent at once.
constexpr Duration compare_every = std::chrono::milliseconds{500};
// Taken from one message.
constexpr std::size_t max_orders_heard = 2 * OperatorOrders::max_rows;

}  // namespace

Directives::Directives(const PeerState& state, Members& members, const Messenger& messenger, RecordWriter& writer,
                       AnnouncedEnd& end)
    : state_(&state),
      members_(&members),
      messenger_(&messenger),
      writer_(&writer),
      end_(&end),
      seeds_(state, members, messenger, writer, end, [this] { changed(); }) {}

void Directives::changed() {
  fingerprint_ = seeds_.fingerprint();
  if (orders_.fingerprint() != 0)
    fingerprint_ = ring::leading_bits(
        ring::md5(std::to_string(seeds_.fingerprint()) + " " + std::to_string(orders_.fingerprint())));
  members_->membership().set_directives_fingerprint(fingerprint_);
}

std::vector<std::string> Directives::restore_orders(const std::string& row) {
  std::vector<std::string> left_out = orders_.restore(row);
  changed();
  return left_out;
}

bool Directives::learn(std::vector<OperatorOrder> orders, storage::Commit& commit) {
  std::vector<std::string> visits;
  bool news = false;
  for (OperatorOrder& order : orders) {
    if (order.kind() == OperatorOrder::Kind::visit && !orders_.contains(order.name)) visits.push_back(order.name);
    news |= orders_.take(std::move(order));
  }
  if (!news) return false;
  orders_.settle();
  changed();
  for (const std::string& name : visits) {
    const auto visit = orders_.all().find(name);
    if (visit == orders_.all().end()) continue;
    if (begin_visit_) begin_visit_(visit->second, commit);
    end_->reopen(commit);
  }
  commit.meta.emplace_back(meta_name::orders, orders_.row());
  return true;
}

Result<bool> Directives::learn(const Step& step, std::vector<OperatorOrder> orders) {
  storage::Commit commit;
  commit.synced = true;
  if (!learn(std::move(orders), commit)) return false;
  ORBWEAVER_TRY(writer_->commit(step, commit));
  step.log(LogLevel::info, "ring", "operators' orders are news", {{"orders", std::to_string(orders_.size())}});
  return true;
}

Result<void> Directives::learn(const Step& step, const ring::PeerId& from, const std::vector<std::string>& texts) {
  std::vector<OperatorOrder> orders;
  for (const std::string& text : texts) {
    Result<OperatorOrder> order = orders.size() < max_orders_heard
                                      ? OperatorOrders::read(text)
                                      : fail(ErrorCode::invalid_input, "more orders than a peer may have");
    if (order) {
      orders.push_back(std::move(*order));
      continue;
    }
    step.log(LogLevel::warning, "ring", "malformed order", {{"peer", from.brief()}, {"cause", order.error().message}},
             true);
    if (orders.size() >= max_orders_heard) break;
  }
  if (orders.empty()) return {};
  if (const Result<bool> learned = learn(step, std::move(orders)); !learned)
    return tl::make_unexpected(learned.error());
  return {};
}

void Directives::send_orders(const Step& step, const ring::PeerId& to) const {
  ring::Sync sync;
  sync.orders = orders_.texts();
  messenger_->send(to, std::move(sync), step.out);
}

void Directives::compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint) {
  // It may have been sent to an address that was another member's: this peer says what it knew then.
  if (fingerprint == 0 || from == state_->id) return;
  if (fingerprint == fingerprint_) return forget_peer(from);
  // A peer that is gone is not waited for because of a late message.
  const bool member = members_->is_reachable(from);
  if (member) differing_.insert(from);
  if (step.now < next_compare_) return;
  next_compare_ = step.now + compare_every;
  // Orders are news more often, and few. There may be very many seeds: a member is sent them if it differs still.
  const bool orders = orders_.size() > 0 && (!member || sent_orders_.insert(from).second);
  if (orders) send_orders(step, from);
  if (orders && member) return;
  sent_orders_.erase(from);
  seeds_.send(step, from, {seeds_.all().begin(), seeds_.all().end()});
}

void Directives::compare_brought(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint) {
  compare(step, from, fingerprint);
  if (fingerprint == fingerprint_) messenger_->send(from, ring::Sync{}, step.out);
}

}  // namespace orbweaver
