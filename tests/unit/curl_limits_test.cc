// The fetcher's limits: time, sizes, memory, addresses, and its end; names as in curl_fetcher_test.cc.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "node/fetch/curl_fetcher.h"
#include "tests/unit/fetch_client.h"

namespace orbweaver {
namespace {

using namespace testing;
using std::chrono::milliseconds;

// libcurl's own limit on kept connections also counts those in use.
TEST(CurlLimits, KeepAlive_AlsoWithMoreTransfersThanIdleConnectionsAllowed) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  CurlFetcherConfig config = loopback_config();
  config.max_idle_connections = 1;
  Client client(config);
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (std::uint64_t i = 0; i < 8; ++i) client.start(round * 8 + i, server.url());
    for (std::uint64_t i = 0; i < 8; ++i) expect_whole(client.wait(round * 8 + i), 200, "ok");
  }
  EXPECT_LE(server.accepted(), 16);  // without reuse there would be 80
}

// Requests go round more hosts than connections are kept: the kept ones are used again. If each new connection closed
// the oldest one, none would be.
TEST(CurlLimits, KeptConnectionsServeTurnsOverMoreHosts) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  CurlFetcherConfig config = loopback_config();
  config.max_idle_connections = 8;
  config.resolve = {"*:" + std::to_string(server.port()) + ":127.0.0.1"};
  Client client(config);
  constexpr int hosts = 16;
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round)
    for (int host = 0; host < hosts; ++host)
      expect_whole(client.get("http://h" + std::to_string(host) + ".test:" + std::to_string(server.port()) + "/"), 200,
                   "ok");
  EXPECT_GE(server.accepted(), hosts);
  EXPECT_LE(server.accepted(), hosts * rounds * 3 / 5);
}

// The server has closed a kept connection: libcurl opens another. It needs the addresses again, which were removed from
// its table meanwhile.
TEST(CurlLimits, AKeptConnectionThatWasClosedIsOpenedAgain) {
  const RawServer server([](RawConnection& connection) {
    if (!connection.read_request().empty()) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  CurlFetcherConfig config = loopback_config();
  config.resolve = {"*:" + std::to_string(server.port()) + ":127.0.0.1"};
  Client client(config);
  for (int round = 0; round < 3; ++round)
    for (int host = 0; host < 4; ++host)
      expect_whole(client.get("http://h" + std::to_string(host) + ".test:" + std::to_string(server.port()) + "/"), 200,
                   "ok");
  EXPECT_EQ(server.accepted(), 12);
}

// The crawler's own lack of descriptors is not the host's fault: the fetch waits until one is free.
TEST(CurlLimits, NoDescriptorFreeIsWaitedOut) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Client client;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;  // more descriptors are open
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  client.start(1, server.url());
  while (client.fetcher().descriptor_waits() < 2) std::this_thread::yield();
  EXPECT_EQ(client.answers(), 0u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  expect_whole(client.wait(1), 200, "ok");
}

TEST(CurlLimits, NoDescriptorForAsLongAsAFetchMayTakeIsAnError) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{600};
  Client client(config);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  client.start(1, server.url());
  const auto response = client.wait(1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);  // a sanitizer needs a descriptor to look at a vptr
  expect_error(response, FetchError::connect);
}

TEST(CurlLimits, B04_NeverAnswersTimesOut) {
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{200};
  expect_error(fetch_once(then_silence(""), config), FetchError::timeout);
}

TEST(CurlLimits, B04_NeverAnswersOnAKeptConnectionTimesOut) {
  const RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    connection.wait_closed();
  });
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{200};
  Client client(config);
  expect_whole(client.get(server.url()), 200, "ok");
  const FetchResponse second = client.get(server.url());
  expect_error(second, FetchError::timeout);
  EXPECT_EQ(server.accepted(), 1);
  EXPECT_EQ(second.ip, "127.0.0.1");
}

TEST(CurlLimits, B05_HeadersThenSilenceIsNoPage) {
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{200};
  expect_error(fetch_once(then_silence("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), config), FetchError::timeout);
  expect_error(fetch_once(then_silence("HTTP/1.1 200 OK\r\nConte"), config), FetchError::timeout);
}

TEST(CurlLimits, B07_BodyThatStallsIsTruncatedByTime) {
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{300};
  const FetchResponse response = fetch_once(then_silence("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), config);
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::time);
  EXPECT_EQ(response.body, "half");
}

TEST(CurlLimits, B06_SlowerThanTheLowSpeedLimit) {
  CurlFetcherConfig config = loopback_config();
  config.low_speed_bytes = 1000;
  config.low_speed_time = std::chrono::seconds{1};
  expect_error(fetch_once(then_silence("HTTP/1.1 200 OK\r\nX: "), config), FetchError::timeout);
}

TEST(CurlLimits, B57_EndlessBodyIsCutAtItsLimit) {
  const FetchResponse response = fetch_once(
      [](RawConnection& connection) {
        connection.read_request();
        connection.send("HTTP/1.1 200 OK\r\n\r\n");
        while (connection.send(std::string(1000, 'e'))) {
        }
      },
      loopback_config(), 54321);
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::length);
  EXPECT_EQ(response.body.size(), 54321u);
}

TEST(CurlLimits, ABodyOfAnUnwantedTypeIsNotReceived) {
  CurlFetcherConfig config = loopback_config();
  config.wanted_type = [](std::string_view type) { return type == "text/html"; };
  const auto endless = [](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n");
    while (connection.send(std::string(1000, 'e'))) {
    }
  };
  const FetchResponse response = fetch_once(endless, config, 54321, false);
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::length);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(fetch_once(endless, config, 54321).body.size(), 54321u) << "asked for whatever it is";
  expect_whole(fetch_once(always("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"),
                          config, 54321, false),
               200, "hello");
  expect_whole(fetch_once(always("HTTP/1.1 404 No\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nno"), config,
                          54321, false),
               404, "no");
}

TEST(CurlLimits, BodyOfExactlyTheLimitIsWhole) {
  expect_whole(fetch_once(always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), loopback_config(), 5), 200,
               "hello");
  const FetchResponse cut =
      fetch_once(always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), loopback_config(), 4);
  EXPECT_EQ(cut.truncated, Truncated::length);
  EXPECT_EQ(cut.body, "hell");
}

TEST(CurlLimits, B30_EndlessHeaders) {
  const FetchResponse response = fetch_once([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n");
    while (connection.send("X-More: " + std::string(100, 'h') + "\r\n")) {
    }
  });
  expect_error(response, FetchError::headers_too_large);
}

TEST(CurlLimits, B30_OneEndlessHeaderLine) {
  CurlFetcherConfig config = loopback_config();
  for (const std::size_t limit : {std::size_t{64} << 10, std::size_t{1} << 20}) {  // below and above libcurl's own
    config.max_header_bytes = limit;
    const FetchResponse response = fetch_once(
        [](RawConnection& connection) {
          connection.read_request();
          connection.send("HTTP/1.1 200 OK\r\nX-Long: ");
          while (connection.send(std::string(1000, 'h'))) {
          }
        },
        config);
    expect_error(response, FetchError::headers_too_large);
  }
}

TEST(CurlLimits, B35_EndlessInterimResponsesAreBounded) {
  const FetchResponse response = fetch_once([](RawConnection& connection) {
    connection.read_request();
    while (connection.send("HTTP/1.1 102 Processing\r\n\r\n")) {
    }
  });
  expect_error(response, FetchError::headers_too_large);
}

TEST(CurlLimits, B54_PrivateAddressIsRefusedBeforeAnyPacket) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CurlFetcherConfig config = loopback_config();
  config.guard = AddressGuard();
  config.resolve = {"*:" + std::to_string(server.port()) + ":127.0.0.1"};
  Client client(config);
  for (const std::string host : {"127.0.0.1", "0x7f.1", "2130706433", "looks-public.example", "[::ffff:127.0.0.1]"}) {
    const FetchResponse response = client.get("http://" + host + ":" + std::to_string(server.port()) + "/");
    expect_error(response, FetchError::address_refused);
    EXPECT_EQ(response.error_text, "127.0.0.1 is in 127.0.0.0/8 (loopback)") << host;
  }
  EXPECT_EQ(server.accepted(), 0);
}

TEST(CurlLimits, EnvironmentProxyIsIgnored) {
  const RawServer proxy(always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"));
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\norigin"));
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::setenv(name, proxy.url().c_str(), 1);
  Client client;
  expect_whole(client.get(server.url()), 200, "origin");
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  EXPECT_EQ(proxy.accepted(), 0);
}

TEST(CurlLimits, ResolveEntriesWithAndWithoutAStar) {
  const RawServer one(always("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"));
  const RawServer two(always("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo"));
  CurlFetcherConfig config = loopback_config();
  config.resolve = {"docs.example:" + std::to_string(one.port()) + ":127.0.0.1",
                    "*:" + std::to_string(two.port()) + ":127.0.0.1"};
  Client client(config);
  for (int i = 0; i < 3; ++i) {  // also on handles used again
    expect_whole(client.get("http://docs.example:" + std::to_string(one.port()) + "/"), 200, "one");
    expect_whole(client.get("http://h" + std::to_string(i) + ".invalid:" + std::to_string(two.port()) + "/"), 200,
                 "two");
  }
}

TEST(CurlLimits, RefusedConnection) {
  int port = 0;
  { port = RawServer(once("")).port(); }
  Client client;
  expect_error(client.get("http://127.0.0.1:" + std::to_string(port) + "/"), FetchError::connect);
}

TEST(CurlLimits, B54_NameThatDoesNotExist) {
  Client client;
  const FetchResponse response = client.get("http://no-such-host.invalid/");
  expect_error(response, FetchError::dns);
  EXPECT_EQ(response.ip, "");
}

TEST(CurlLimits, TlsToAServerThatSpeaksPlainHttp) {
  const RawServer server([](RawConnection& connection) {
    connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    connection.wait_closed();
  });
  Client client;
  expect_error(client.get("https://127.0.0.1:" + std::to_string(server.port()) + "/"), FetchError::tls);
}

TEST(CurlLimits, ASlowHostDoesNotHoldUpOthers) {
  const RawServer silent(then_silence("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"));
  const RawServer good(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Client client;
  for (std::uint64_t i = 0; i < 20; ++i) client.start(i, silent.url());
  for (int i = 0; i < 50; ++i) expect_whole(client.get(good.url()), 200, "ok");
  EXPECT_EQ(client.answers(), 50u);
}

// Twelve bodies of 200,000 bytes, memory for about three: all arrive whole, and the bound holds.
TEST(CurlLimits, BodyMemoryIsBoundedAndNothingIsCut) {
  constexpr std::size_t size = 200000;
  const RawServer server(
      always("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'm')));
  CurlFetcherConfig config = loopback_config();
  config.max_body_memory = 3 * size;
  Client client(config);
  for (std::uint64_t i = 0; i < 12; ++i) client.start(i, server.url(), size);
  for (std::uint64_t i = 0; i < 12; ++i) expect_whole(client.wait(i), 200, std::string(size, 'm'));
  client.fetcher().stop();
  EXPECT_LE(client.fetcher().counts().body_memory_peak, 3 * size);
  EXPECT_GT(client.fetcher().counts().pauses, 0u);
}

// The oldest transfer may use memory that a stalled younger one may not; chunked, so the lengths are unknown.
TEST(CurlLimits, WaitingForMemoryIsNotCountedAsTime) {
  std::promise<void> may_end;
  std::shared_future<void> go = may_end.get_future().share();
  const RawServer slow([go](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
    go.wait();
    connection.send("67890");
    connection.wait_closed();
  });
  const std::string chunk = "c350\r\n" + std::string(50000, 'c') + "\r\n";
  const RawServer fast(always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + "0\r\n\r\n"));
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{700};
  config.max_body_memory = 100000;  // one body of maximum length: all but the oldest wait
  Client client(config);
  client.start(1, slow.url(), 100000);
  client.start(2, fast.url(), 100000);
  const FetchResponse first = client.wait(1);  // its server stalls until the timeout
  EXPECT_EQ(first.truncated, Truncated::time);
  const FetchResponse second = client.wait(2);
  expect_whole(second, 200, chunk + "0\r\n\r\n");
  EXPECT_GE(second.ended, first.ended);
  may_end.set_value();
}

TEST(CurlLimits, AfterAWaitTheTimeoutStillEndsATransfer) {
  const RawServer stall(then_silence("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + std::string(20000, 's')));
  CurlFetcherConfig config = loopback_config();
  config.fetch_timeout = milliseconds{300};
  config.max_body_memory = 100000;
  Client client(config);
  for (std::uint64_t i = 0; i < 3; ++i) client.start(i, stall.url(), 100000);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const FetchResponse response = client.wait(i);
    expect_error(response, FetchError::none);
    EXPECT_EQ(response.truncated, Truncated::time);
    EXPECT_EQ(response.body.size(), 20000u);
  }
}

TEST(CurlLimits, ManyAtOnceAllAnsweredOnce) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Client client;
  for (std::uint64_t i = 0; i < 300; ++i) client.start(i, server.url());
  for (std::uint64_t i = 0; i < 300; ++i) expect_whole(client.wait(i), 200, "ok");
  client.fetcher().stop();
  EXPECT_EQ(client.answers(), 300u);
}

TEST(CurlLimits, StopCancelsWhatIsUnderWayAndWhatComesLater) {
  const RawServer server(then_silence(""));
  Client client;
  for (std::uint64_t i = 0; i < 10; ++i) client.start(i, server.url());
  client.fetcher().stop();
  client.start(10, server.url());
  for (std::uint64_t i = 0; i <= 10; ++i) expect_error(client.wait(i), FetchError::cancelled);
  EXPECT_EQ(client.answers(), 11u);
}

}  // namespace
}  // namespace orbweaver
