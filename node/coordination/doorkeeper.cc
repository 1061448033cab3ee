#include "node/coordination/doorkeeper.h"

#include <algorithm>

#include "node/config/settings_table.h"

namespace orbweaver {

namespace {

// Another process with a joiner's identity must be heard for this long before the joiner is refused: a process that was
// killed, and started again elsewhere, is no longer heard.
constexpr Duration duplicate_wait = std::chrono::seconds{4};
// The joiner compares the rest before it does anything (fence.h).
constexpr std::size_t max_welcome_tenures = 1024;

}  // namespace

std::optional<std::string> Doorkeeper::fault(const ring::Join& join) const {
  const ring::Membership& membership = members_->membership();
  if (lifecycle_->crawl_finished()) return "the crawl has ended";
  if (join.ring != ring::RingId{} && join.ring != state_->ring)
    return "the data directory there belongs to ring " + join.ring.hex() + ", and this is ring " + state_->ring.hex() +
           "; join with a new directory";
  for (const auto& [name, value] : ring_wide_settings(state_->settings))
    for (const auto& [given_name, given_value] : join.given)
      if (given_name == name && given_value != value)
        return "ring-wide setting '" + name + "' is " + value + " in the ring and " + given_value +
               " at the joining peer; leave it out to take the ring's";
  if (!membership.plausible(join.self))
    return "its incarnation, " + std::to_string(join.self.incarnation) +
           ", is too far above the one that the ring has received; start it with a new directory";
  if (membership.find(join.self.id) == nullptr && membership.full())
    return "the ring has " + std::to_string(ring::max_members) + " members, and no room for another";
  return std::nullopt;
}

std::string Doorkeeper::duplicate_text(const ring::PeerId& id) const {
  const ring::Member* other = members_->membership().find(id);
  return "a peer with its identity is running at " + (other == nullptr ? std::string() : other->address) +
         ": was its data directory copied? Start it with a new directory";
}

void Doorkeeper::on_join(const Step& step, const ring::Message& in, const ring::Join& join,
                         const ring::ReplyPath& reply) {
  if (lifecycle_->saying_goodbye() && !lifecycle_->crawl_finished()) return;
  // The others may end at any moment. If they do not, it is let in when it asks again.
  if (end_->closed() && !lifecycle_->crawl_finished()) return;
  const auto refuse = [&](std::string reason) {
    ++refused_;
    step.log(LogLevel::warning, "ring", "join refused",
             {{"peer", join.self.id.brief()}, {"address", join.self.address}, {"reason", reason}}, true);
    messenger_->reply(reply, in.from, ring::Refuse{std::move(reason), true}, step.out);
  };
  // Another peer may have let it in a moment ago.
  if (lifecycle_->crawl_finished() && end_->announced())
    messenger_->reply(reply, in.from, *end_->announced(), step.out);
  if (std::optional<std::string> reason = fault(join)) return refuse(std::move(*reason));
  const bool own_identity = join.self.id == state_->id;
  if (own_identity || members_->membership().lives_elsewhere(join.self, step.now)) {
    // It asks about every second: one that has asked for so long has stopped.
    std::erase_if(duplicates_, [&](const auto& entry) { return step.now - entry.second > 2 * duplicate_wait; });
    const Time since = duplicates_.try_emplace(join.self.id, step.now).first->second;
    if (!own_identity && step.now - since < duplicate_wait) return;
    duplicates_.erase(join.self.id);
    return refuse(duplicate_text(join.self.id));
  }
  duplicates_.erase(join.self.id);
  members_->membership().merge({join.self}, step.now);
  welcome(step, in.from, join.ring == ring::RingId{}, reply);
}

// Sends the members that are reachable or waited for; a newcomer need not know others that are gone. Many seeds go in
// several messages: the joiner has all seeds and orders when their fingerprint equals this peer's.
void Doorkeeper::welcome(const Step& step, const ring::PeerId& joiner, bool newcomer,
                         const ring::ReplyPath& reply) const {
  std::vector<ring::Member> members;
  for (const auto& [peer, member] : members_->membership().members())
    if (ring::reachable(member) || members_->waited_for(peer, step.now)) members.push_back(member);
  const std::set<std::string>& all = directives_->seeds().all();
  const std::vector<std::string> seeds(all.begin(), all.end());
  for (std::size_t at = 0; at == 0 || at < seeds.size(); at += SeedSet::per_message) {
    ring::Welcome welcome;
    welcome.ring = state_->ring;
    welcome.settings = ring_wide_settings(state_->settings);
    welcome.members = members;
    welcome.seeds.assign(
        seeds.begin() + static_cast<std::ptrdiff_t>(at),
        seeds.begin() + static_cast<std::ptrdiff_t>(std::min(at + SeedSet::per_message, seeds.size())));
    welcome.directives_fingerprint = directives_->fingerprint();
    if (at == 0) welcome.orders = directives_->orders().texts();
    if (newcomer) welcome.tenures = tenures_->first(max_welcome_tenures);  // another one has them on its disk
    messenger_->reply(reply, joiner, std::move(welcome), step.out);
  }
}

}  // namespace orbweaver
