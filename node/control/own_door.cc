#include "node/control/own_door.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "node/crawl/outside_json.h"

namespace orbweaver {

namespace {

// ZeroMQ's own routes are a zero byte and four more, and no client may choose one that begins with a zero byte.
constexpr std::string_view prefix("\0own door ", 10);

}  // namespace

Result<std::string> OwnDoor::ask(const PeerQuestion& question) {
  ring::Message asked;
  asked.version = ring::protocol_version_min;
  asked.body = ring::Ask{1, question.verb, json_text(question.body), question.for_ring};
  std::unique_lock lock(mutex_);
  if (closed_) return fail(ErrorCode::unreachable, "this peer is ending");
  if (open_.size() >= max_open) return fail(ErrorCode::unreachable, "too many questions wait; ask again in a moment");
  const std::string route = std::string(prefix) + std::to_string(next_++);
  const auto at = open_.emplace(route, std::nullopt).first;
  lock.unlock();
  const bool pushed = push_(std::move(asked), ring::ReplyPath{route});
  lock.lock();
  if (pushed) answered_.wait_for(lock, question.timeout, [&] { return closed_ || at->second; });
  std::optional<std::string> text = std::move(at->second);
  open_.erase(at);
  if (!text)
    return fail(ErrorCode::unreachable, closed_ ? "this peer is ending" : "this peer is busy; ask again in a moment");
  lock.unlock();
  if (Result<void> refused = refusal_of(*text); !refused) return tl::make_unexpected(refused.error());
  return std::move(*text);
}

bool OwnDoor::take(const ring::ReplyPath& path, const ring::Body& body) {
  if (!path.route.starts_with(prefix)) return false;
  const auto* const answer = std::get_if<ring::Answer>(&body);
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(path.route);
  if (at == open_.end() || answer == nullptr) return true;  // who asked does not wait any more
  at->second = answer->body;
  answered_.notify_all();
  return true;
}

void OwnDoor::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  answered_.notify_all();
}

}  // namespace orbweaver
