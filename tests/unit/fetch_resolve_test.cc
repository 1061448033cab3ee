// Fetcher::resolve: the address to which a request to a host would go, without a request.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

#include "tests/unit/fetch_client.h"

namespace orbweaver::testing {
namespace {

std::future<std::string> ask(CurlFetcher& fetcher, const std::string& host, std::uint16_t port = 80) {
  auto answer = std::make_shared<std::promise<std::string>>();
  std::future<std::string> answered = answer->get_future();
  fetcher.resolve(host, port, [answer](std::string address) { answer->set_value(std::move(address)); });
  return answered;
}

std::string ask(const CurlFetcherConfig& config, const std::string& host, std::uint16_t port = 80) {
  Client client(config);
  return ask(client.fetcher(), host, port).get();
}

const std::string four("\x7f\0\0\1", 4);
const std::string six = std::string(15, '\0') + '\1';

TEST(FetchResolve, AnAddressIsItself) {
  EXPECT_EQ(ask(loopback_config(), "127.0.0.1"), four);
  EXPECT_EQ(ask(loopback_config(), "::1"), six);
}

TEST(FetchResolve, Rfc6761_6_3_LocalhostIsTheLoopback) {
  const std::string address = ask(loopback_config(), "localhost");
  EXPECT_TRUE(address == four || address == six);
}

TEST(FetchResolve, TheSettingResolveHasTheLastWordOnItsPortOnly) {
  CurlFetcherConfig config = loopback_config();
  config.resolve = {"site.test:8080:192.0.2.7", "*:9090:192.0.2.8"};
  EXPECT_EQ(ask(config, "site.test", 8080), std::string("\xc0\0\2\7", 4));
  EXPECT_EQ(ask(config, "other.test", 9090), std::string("\xc0\0\2\x08", 4));
  EXPECT_EQ(ask(config, "127.0.0.1", 9090), four) << "an address is no name";
}

TEST(FetchResolve, BehindAProxyNobodyHereKnows) {
  CurlFetcherConfig config = loopback_config();
  config.proxy = "http://127.0.0.1:9";
  EXPECT_EQ(ask(config, "127.0.0.1"), "");
}

// The server gets no connection.
TEST(FetchResolve, NothingIsAskedOfTheHost) {
  std::atomic<int> connections = 0;
  const RawServer server([&](RawConnection&) { ++connections; });
  Client client;
  EXPECT_EQ(ask(client.fetcher(), "127.0.0.1", static_cast<std::uint16_t>(server.port())).get(), four);
  EXPECT_EQ(client.fetcher().connections_opened(), 0u);
  EXPECT_EQ(connections, 0);
  EXPECT_EQ(client.answers(), 0u) << "and no exchange ends";
}

TEST(FetchResolve, EveryQuestionIsAnsweredOnceThoughTheFetcherStops) {
  CurlFetcherConfig config = loopback_config();
  config.resolver.servers = {"127.0.0.1:9"};  // no server answers there
  config.resolver.timeout = std::chrono::seconds{30};
  Client client(config);
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(ask(client.fetcher(), "host-" + std::to_string(i) + ".test"));
  client.fetcher().stop();
  answers.push_back(ask(client.fetcher(), "127.0.0.1"));
  for (std::future<std::string>& answer : answers) {
    ASSERT_EQ(answer.wait_for(std::chrono::seconds{30}), std::future_status::ready);
    EXPECT_EQ(answer.get(), "");
  }
}

}  // namespace
}  // namespace orbweaver::testing
