// For tests of the fetcher: a client that collects its answers, and scripts for the raw server.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "node/fetch/curl_fetcher.h"
#include "tests/unit/raw_server.h"

namespace orbweaver::testing {

inline CurlFetcherConfig loopback_config() {
  CurlFetcherConfig config;
  config.user_agent = "Orbweaver-test/1.0";
  config.connect_timeout = std::chrono::seconds{5};
  config.fetch_timeout = std::chrono::seconds{10};
  config.guard = AddressGuard::create({"127.0.0.0/8"}).value();
  config.clock = [] { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); };
  return config;
}

// A fetcher whose answers are collected by id.
class Client {
 public:
  explicit Client(CurlFetcherConfig config = loopback_config())
      : fetcher_(CurlFetcher::create(std::move(config), [this](FetchResponse response) {
                   take(std::move(response));
                 }).value()) {}
  ~Client() { fetcher_->stop(); }

  void start(std::uint64_t id, const std::string& url, std::size_t max_body_bytes = 1u << 20, bool any_type = true) {
    FetchRequest request{id, CanonicalUrl::parse(url).value(), max_body_bytes};
    request.any_type = any_type;
    fetcher_->start(std::move(request));
  }
  FetchResponse wait(std::uint64_t id) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds{30}, [&] { return answers_.contains(id); })) {
      ADD_FAILURE() << "no answer to " << id;
      return {};
    }
    EXPECT_EQ(answers_.count(id), 1u);
    return std::move(answers_.find(id)->second);  // only once: its memory is returned when the test drops it
  }
  FetchResponse get(const std::string& url, std::size_t max_body_bytes = 1u << 20, bool any_type = true) {
    const std::uint64_t id = next_id_++;
    start(id, url, max_body_bytes, any_type);
    return wait(id);
  }
  CurlFetcher& fetcher() { return *fetcher_; }
  std::size_t answers() {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }

 private:
  void take(FetchResponse response) {
    const std::lock_guard lock(mutex_);
    answers_.emplace(response.id, std::move(response));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::uint64_t, FetchResponse> answers_;
  std::uint64_t next_id_ = 1000000;
  std::unique_ptr<CurlFetcher> fetcher_;
};

// Answers every request on every connection with the same bytes, and keeps the connection.
inline RawServer::Script always(std::string answer) {
  return [answer = std::move(answer)](RawConnection& connection) {
    while (!connection.read_request().empty() && connection.send(answer)) {
    }
  };
}

// Answers one request and closes.
inline RawServer::Script once(std::string answer) {
  return [answer = std::move(answer)](RawConnection& connection) {
    connection.read_request();
    connection.send(answer);
  };
}

// Answers, then neither sends nor closes.
inline RawServer::Script then_silence(std::string answer) {
  return [answer = std::move(answer)](RawConnection& connection) {
    connection.read_request();
    connection.send(answer);
    connection.wait_closed();
  };
}

inline FetchResponse fetch_once(RawServer::Script script, CurlFetcherConfig config = loopback_config(),
                                std::size_t max_body_bytes = 1u << 20, bool any_type = true) {
  const RawServer server(std::move(script));
  Client client(std::move(config));
  return client.get(server.url(), max_body_bytes, any_type);
}

inline void expect_error(const FetchResponse& response, FetchError error) {
  EXPECT_EQ(static_cast<int>(response.error), static_cast<int>(error)) << response.error_text;
  if (error != FetchError::none) {
    EXPECT_FALSE(response.error_text.empty());
  }
}

inline void expect_whole(const FetchResponse& response, int status, const std::string& body) {
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::no);
  EXPECT_EQ(response.status, status);
  EXPECT_EQ(response.body, body);
}

}  // namespace orbweaver::testing
