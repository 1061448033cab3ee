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
  static constexpr std::uint64_t looks_with_hosts = 5;        // every so many looks the hosts are asked for too

  // The ring's answers to "status" and to "hosts", of each peer at most so many.
  using Ask = std::function<Result<nlohmann::json>()>;
  using AskHosts = std::function<Result<nlohmann::json>(std::size_t)>;
  RingFeed(Ask ask, AskHosts ask_hosts) : ask_(std::move(ask)), ask_hosts_(std::move(ask_hosts)) {}
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
  AskHosts ask_hosts_;
  std::optional<nlohmann::json> before_;  // of the thread, as the next three
  std::optional<nlohmann::json> hosts_;
  std::uint64_t looks_ = 0;
  std::size_t peers_ = 0;
  std::mutex mutex_;  // of what follows
  std::condition_variable change_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point wanted_until_{};
  RingNews news_;
  std::thread thread_;
};

// What a page is sent: RingView as JSON, and "ledger", "problems" (node/ring_view/health.h), "unreachable", and with
// each peer its part of the status. `before`, `hosts`: null when there is no such answer. It names no host, as it is
// shown without a token. {"error": why} for what is no answer of a ring. Throws json::exception when a member says what
// this program does not expect.
nlohmann::json page_view(const nlohmann::json* before, const nlohmann::json& now, const nlohmann::json* hosts);

}  // namespace orbweaver
