#include "node/control/ring_feed.h"

#include <nlohmann/json.hpp>

#include "node/crawl/outside_json.h"
#include "node/ring_view/health.h"
#include "node/ring_view/ledger.h"
#include "node/ring_view/ring_view.h"

namespace orbweaver {

using nlohmann::json;

json page_view(const json* before, const json& now, const json* hosts) {
  if (!now.contains("peers")) return {{"error", "this peer has not joined its ring yet"}};
  RingView seen = ring_view(before, now, hosts);
  for (HostView& host : seen.hosts) host.host.clear();
  seen.end = ring_end(load_of(seen), seen.hosts);
  json view = to_json(seen);
  view["ledger"] = to_json(ledger_of(now));
  view["problems"] = to_json(health_of(now))["problems"];
  view["unreachable"] = now.value("unreachable", json::array());
  std::map<std::string, const json*> parts = parts_by_id(&now);
  for (json& peer : view["peers"]) peer["status"] = *parts.at(peer["id"].get<std::string>());
  return view;
}

void RingFeed::start() {
  thread_ = std::thread([this] { run(); });
}

void RingFeed::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  change_.notify_all();
  if (thread_.joinable()) thread_.join();
}

RingNews RingFeed::latest() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const bool begins = now >= wanted_until_;
  wanted_until_ = now + kept;
  if (begins) change_.notify_all();
  return news_;
}

void RingFeed::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (std::chrono::steady_clock::now() >= wanted_until_) {
      // What was seen last is old for the next who looks: rates begin anew.
      news_.text = nullptr;
      before_.reset();
      hosts_.reset();
      looks_ = 0;
      change_.wait(lock, [this] { return stopped_ || std::chrono::steady_clock::now() < wanted_until_; });
      continue;
    }
    const auto began = std::chrono::steady_clock::now();
    lock.unlock();
    auto text = std::make_shared<const std::string>(look());
    lock.lock();
    ++news_.number;
    news_.text = std::move(text);
    change_.wait_until(lock, began + every + every_peer * static_cast<int>(peers_), [this] { return stopped_; });
  }
}

std::string RingFeed::look() {
  Result<json> answer = ask_();
  if (!answer) return json_text({{"error", answer.error().message}});
  try {
    peers_ = parts_of(*answer).size();
    if (looks_++ % looks_with_hosts == 0)
      if (Result<json> hosts = ask_hosts_(hosts_of_each(peers_)); hosts) hosts_ = std::move(*hosts);
    std::string text = json_text(page_view(before_ ? &*before_ : nullptr, *answer, hosts_ ? &*hosts_ : nullptr));
    before_ = std::move(*answer);
    return text;
  } catch (const json::exception& cause) {  // a member says what this program does not expect
    return json_text({{"error", "a peer's answer cannot be read: " + std::string(cause.what())}});
  }
}

}  // namespace orbweaver
