#include "node/replication/messenger.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

ring::Message Messenger::message(ring::Body body, const ring::PeerId& to) const {
  const ring::Member* member = members_->membership().find(to);
  const std::uint16_t theirs = member == nullptr ? 0 : member->protocol;
  const ring::Member& self = members_->membership().self();
  if (auto* compared = std::get_if<ring::TenuresCompared>(&body))
    compared->directives_fingerprint = members_->membership().directives_fingerprint();
  return {std::clamp(theirs, ring::protocol_version_min, ring::protocol_version), state_->ring, self.id,
          self.incarnation, std::move(body)};
}

void Messenger::send(const ring::PeerId& to, ring::Body body, Commands& out) const {
  if (auto* sync = std::get_if<ring::Sync>(&body))
    sync->directives_fingerprint = members_->membership().directives_fingerprint();
  if (auto* batch = std::get_if<ring::Batch>(&body))
    batch->directives_fingerprint = members_->membership().directives_fingerprint();
  if (const ring::Member* member = members_->membership().find(to); member != nullptr)
    out.push_back(SendMessage{member->address, message(std::move(body), to)});
}

void Messenger::send_all(const std::vector<ring::Send>& sends, Commands& out) const {
  for (const ring::Send& send : sends) {
    ring::Message sent = message(send.body, send.to);
    if (auto* ping = std::get_if<ring::Ping>(&sent.body)) ping->tenures_fingerprint = tenures_->fingerprint();
    if (auto* ack = std::get_if<ring::PingAck>(&sent.body)) ack->tenures_fingerprint = tenures_->fingerprint();
    out.push_back(SendMessage{send.address, std::move(sent)});
  }
}

void Messenger::reply(const ring::ReplyPath& path, const ring::PeerId& from, ring::Body body, Commands& out) const {
  if (!path.route.empty()) {
    out.push_back(ReplyMessage{path, message(std::move(body), from)});
  } else {
    send(from, std::move(body), out);
  }
}

}  // namespace orbweaver
