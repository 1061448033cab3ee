#include "node/process/journal_sync.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "node/errors/storage_error.h"
#include "node/process/event_queue.h"
#include "node/system/thread_start.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

bool promises_nothing(const ring::Body& body) {
  return EventQueue::is_probe(body) || std::holds_alternative<ring::SlotRequest>(body) ||
         std::holds_alternative<ring::SlotAnswer>(body) || std::holds_alternative<ring::LeaseRequest>(body) ||
         std::holds_alternative<ring::LeaseAnswer>(body);
}

// A message that waits for what was written before it; null: none.
const ring::Message* message_of(const Command& command) {
  const ring::Message* message = nullptr;
  if (const auto* send = std::get_if<SendMessage>(&command)) message = &send->message;
  if (const auto* reply = std::get_if<ReplyMessage>(&command)) message = &reply->message;
  return message == nullptr || promises_nothing(message->body) ? nullptr : message;
}

}  // namespace

JournalSync::~JournalSync() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<void> JournalSync::start() {
  return start_thread(thread_, [this] { run(); });
}

void JournalSync::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return stop_ || wanted_ > synced_; });
    if (stop_) return;
    lock.unlock();
    const std::uint64_t written = kv_->written();
    const storage::Result<void> done = kv_->sync();
    lock.lock();
    if (done) {
      synced_ = std::max(synced_, written);
    } else {
      if (!error_) error_ = error_of(done.error());
    }
    lock.unlock();
    wake_();
    lock.lock();
    if (error_) return;
  }
}

std::optional<std::uint64_t> JournalSync::ended_by(const Event& event) {
  if (const auto* page = std::get_if<PageDone>(&event)) return page->id;
  const auto* ended = std::get_if<FetchEnded>(&event);
  return ended != nullptr && ended->error != FetchError::none ? std::optional(ended->id) : std::nullopt;
}

void JournalSync::note_ended(std::uint64_t fetch) {
  if (flying_.erase(fetch) > 0) ended_.push_back(kv_->written());
}

bool JournalSync::holds(Command& command) {
  if (const auto* fetch = std::get_if<StartFetch>(&command)) {
    if (fetches_.empty() && may_fetch()) {
      flying_.insert(fetch->job.id);
      return false;
    }
    fetches_.push_back(std::move(command));
    return true;
  }
  const ring::Message* const message = message_of(command);
  if (message == nullptr) return false;
  const std::uint64_t after = kv_->written();
  if (held_.empty()) {
    const std::lock_guard lock(mutex_);
    if (after <= synced_ && !error_) return false;
  }
  const std::uint64_t bytes = ring::memory_bytes(*message);
  held_bytes_ += bytes;
  held_.push_back({after, bytes, std::move(command)});
  return true;
}

void JournalSync::release(std::uint64_t synced, Commands& ready) {
  while (!held_.empty() && held_.front().after <= synced) {
    held_bytes_ -= held_.front().bytes;
    ready.push_back(std::move(held_.front().command));
    held_.pop_front();
  }
  while (!ended_.empty() && ended_.front() <= synced) ended_.pop_front();
  while (!fetches_.empty() && may_fetch()) {
    flying_.insert(std::get<StartFetch>(fetches_.front()).job.id);
    ready.push_back(std::move(fetches_.front()));
    fetches_.pop_front();
  }
}

Result<Commands> JournalSync::take() {
  std::uint64_t synced = 0;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    if (error_) return tl::make_unexpected(*error_);
    wanted_ = kv_->written();
    synced = synced_;
    more = wanted_ > synced_;
  }
  if (more) news_.notify_one();
  Commands ready;
  release(synced, ready);
  if (held_bytes_ <= bounds_.max_bytes) return ready;
  Result<Commands> rest = finish();
  if (rest) rest->insert(rest->begin(), std::make_move_iterator(ready.begin()), std::make_move_iterator(ready.end()));
  return rest;
}

Result<Commands> JournalSync::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return tl::make_unexpected(*error_);
  }
  const std::uint64_t written = kv_->written();
  const storage::Result<void> done = kv_->sync();
  {
    const std::lock_guard lock(mutex_);
    if (!done && !error_) error_ = error_of(done.error());
    if (error_) return tl::make_unexpected(*error_);
    synced_ = std::max(synced_, written);
  }
  Commands all;
  release(written, all);
  return all;
}

}  // namespace orbweaver
