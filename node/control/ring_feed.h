// What the ring looks like now, for all pages that are open on this peer: a thread asks once a second, as long as
// somebody looks, and keeps the text. Thread rule: latest() from any thread; the rest by one owner.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "node/base.h"

namespace orbweaver {

struct RingNews {
  std::uint64_t number = 0;                 // rises with each look; 0: there was none yet
  std::shared_ptr<const std::string> text;  // JSON on one line: a view of the ring, or {"error": why}
};

class RingFeed {
 public:
  static constexpr std::chrono::milliseconds every{1000};
  static constexpr std::chrono::milliseconds every_peer{10};  // and so much longer for each peer
  static constexpr std::chrono::seconds kept{5};              // after the last call of latest()

  // The ring's answer to "status".
  using Ask = std::function<Result<nlohmann::json>()>;
  explicit RingFeed(Ask ask) : ask_(std::move(ask)) {}
  ~RingFeed() { stop(); }
  RingFeed(const RingFeed&) = delete;
  RingFeed& operator=(const RingFeed&) = delete;

  void start();  // the thread
  void stop();   // waits for a question that is under way
  RingNews latest();

 private:
  void run();
  std::string look();

  Ask ask_;
  std::optional<nlohmann::json> before_;  // of the thread, as the next
  std::size_t peers_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable change_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point wanted_until_{};
  RingNews news_;
  std::thread thread_;
};

// What a page is sent: RingView as JSON, and "ledger", "problems" (node/ring_view/health.h), "unreachable", and with
// each peer its part of the status. `before`: null when there is no earlier answer. {"error": why} for what is no
// answer of a ring. Throws json::exception when a member says what this program does not expect.
nlohmann::json page_view(const nlohmann::json* before, const nlohmann::json& now);

}  // namespace orbweaver
