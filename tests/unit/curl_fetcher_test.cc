// The fetcher against servers whose messages are good, odd and bad. Test names carry the behaviour's number in the
// outside list http/behaviours.tsv (B01…) or the RFC's section.
#include "node/fetch/curl_fetcher.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/unit/fetch_client.h"

namespace orbweaver {
namespace {

using namespace std::string_literals;
using namespace testing;

TEST(CurlFetcher, Plain_HeadAndBodyAsReceived) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type:  text/html\r\nX-Odd:\t1 \r\nContent-Length: 5\r\n\r\n";
  const FetchResponse response = fetch_once(always(head + "hello"));
  expect_whole(response, 200, "hello");
  EXPECT_EQ(response.response_head, head);
  EXPECT_EQ(response.ip, "127.0.0.1");
  EXPECT_GE(response.ended, response.started);
  EXPECT_NE(response.started, Time{});
  EXPECT_EQ(response.request_head, "");
}

TEST(CurlFetcher, RecordedRequestIsWhatTheServerRead) {
  std::promise<std::string> seen;
  CurlFetcherConfig config = loopback_config();
  config.record_requests = true;
  const FetchResponse response = fetch_once(
      [&](RawConnection& connection) {
        seen.set_value(connection.read_request());
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      },
      config);
  expect_whole(response, 200, "");
  const std::string request = seen.get_future().get();
  EXPECT_EQ(response.request_head, request);
  EXPECT_TRUE(request.starts_with("GET / HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
  EXPECT_NE(request.find("\r\nUser-Agent: Orbweaver-test/1.0\r\n"), std::string::npos);
  EXPECT_NE(request.find("\r\nAccept-Encoding: gzip, br, zstd, deflate\r\n"), std::string::npos);
  EXPECT_NE(request.find("\r\nAccept: text/html,"), std::string::npos);
  EXPECT_EQ(request.find("Cookie"), std::string::npos);
}

TEST(CurlFetcher, RecordedRequestsDoNotRunTogetherOnAKeptConnection) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  CurlFetcherConfig config = loopback_config();
  config.record_requests = true;
  Client client(config);
  EXPECT_TRUE(client.get(server.url("/a")).request_head.starts_with("GET /a HTTP/1.1\r\n"));
  const std::string second = client.get(server.url("/b")).request_head;
  EXPECT_TRUE(second.starts_with("GET /b HTTP/1.1\r\n"));
  EXPECT_EQ(second.find("/a"), std::string::npos);
}

TEST(CurlFetcher, PathIsSentAsTheUrlHasIt) {
  std::promise<std::string> seen;
  const RawServer server([&](RawConnection& connection) {
    seen.set_value(connection.read_request());
    connection.send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Client client;
  client.get(server.url("/b//c;x/%2E%2E%2F?d=%2F&e=%#fragment"));
  EXPECT_TRUE(seen.get_future().get().starts_with("GET /b//c;x/..%2F?d=%2F&e=% HTTP/1.1\r\n"));
}

TEST(CurlFetcher, KeepAlive_OneConnectionForManyRequests) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Client client;
  for (int i = 0; i < 20; ++i) expect_whole(client.get(server.url()), 200, "ok");
  client.fetcher().stop();
  EXPECT_EQ(server.accepted(), 1);
  EXPECT_EQ(client.fetcher().counts().connections_opened, 1u);
}

TEST(CurlFetcher, Rfc9112_7_1_ChunkedIsKeptRawAndItsEndFound) {
  const std::string body = "4;ext=1\r\nwiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\n";
  const RawServer server(always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body));
  Client client;
  for (int i = 0; i < 3; ++i) {
    const FetchResponse response = client.get(server.url());
    expect_whole(response, 200, body);
    EXPECT_EQ(response.response_head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  EXPECT_EQ(server.accepted(), 1);
}

TEST(CurlFetcher, B23_ContentCodingIsKeptRaw) {
  const std::string coded = "\x1f\x8b\x08\x00 not even gzip"s;
  for (const char* coding : {"gzip", "br", "zstd", "deflate", "none", "gzip, deflate, gzip"}) {
    const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Encoding: " + std::string(coding) +
                                  "\r\nContent-Length: " + std::to_string(coded.size()) + "\r\n\r\n" + coded));
    Client client;
    expect_whole(client.get(server.url()), 200, coded);
  }
}

TEST(CurlFetcher, B17_BadChunkSizeIsBroken) {
  expect_error(fetch_once(once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\nzz\r\n")),
               FetchError::broken);
}

TEST(CurlFetcher, B18_ChunkSizeOverflowIsBroken) {
  expect_error(fetch_once(once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\nwiki\r\n")),
               FetchError::broken);
}

TEST(CurlFetcher, B19_ChunkedClosedEarlyIsTruncated) {
  const FetchResponse response =
      fetch_once(once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwiki\r\n5\r\npe"));
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::disconnect);
  EXPECT_EQ(response.body, "4\r\nwiki\r\n5\r\npe");
}

TEST(CurlFetcher, B20B21_TrailersWithoutCrAndZeroBytesInChunks) {
  const std::string zeros = "6\r\na\0b\0c\0\r\n0\r\nX: y\n\r\n"s;
  const FetchResponse response = fetch_once(once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + zeros));
  expect_whole(response, 200, zeros);
}

TEST(CurlFetcher, B16_ChunkedWinsOverContentLength) {
  const std::string body = "4\r\nwiki\r\n0\r\n\r\n";
  const RawServer server(always("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + body));
  Client client;
  expect_whole(client.get(server.url()), 200, body);
  expect_whole(client.get(server.url()), 200, body);
}

TEST(CurlFetcher, B22_CodedTransferEncodingsStayRaw) {
  const std::string body = "4\r\nwiki\r\n0\r\n\r\n";
  for (const char* coding : {"gzip, chunked", "chunked, identity", "chunked, chunked"}) {
    const FetchResponse response =
        fetch_once(once("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + std::string(coding) + "\r\n\r\n" + body));
    if (response.error == FetchError::none) {
      EXPECT_EQ(response.body, body) << coding;
    } else {
      expect_error(response, FetchError::broken);
    }
  }
}

TEST(CurlFetcher, B09_ShorterThanContentLengthIsTruncated) {
  const FetchResponse response = fetch_once(once("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"));
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::disconnect);
  EXPECT_EQ(response.body, "short");
  EXPECT_EQ(response.status, 200);
}

TEST(CurlFetcher, B10B47_ExtraBytesAreIgnoredAndTheConnectionDropped) {
  const RawServer server(
      always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\nx"));
  Client client;
  expect_whole(client.get(server.url()), 200, "ok");
  expect_whole(client.get(server.url()), 200, "ok");
  EXPECT_EQ(server.accepted(), 2);
}

TEST(CurlFetcher, B11B12B15_BadContentLengths) {
  for (const char* lines : {"Content-Length: -5\r\n", "Content-Length: abc\r\n", "Content-Length: 5x\r\n",
                            "Content-Length: 5\r\nContent-Length: 4\r\n", "Content-Length: 5, 4\r\n"}) {
    expect_error(fetch_once(once("HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\nhello")), FetchError::broken);
  }
}

TEST(CurlFetcher, B14_EqualContentLengthsAreOne) {
  expect_whole(fetch_once(always("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello")), 200,
               "hello");
  expect_whole(fetch_once(always("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello")), 200, "hello");
}

TEST(CurlFetcher, B13_ContentLengthBeyond64BitsIsIgnored) {
  const FetchResponse response =
      fetch_once(once("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello"));
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.body, "hello");
}

TEST(CurlFetcher, B02_ResetBeforeAnyByte) {
  const FetchResponse response = fetch_once([](RawConnection& connection) {
    connection.read_request();
    connection.reset();
  });
  expect_error(response, FetchError::empty_reply);
}

TEST(CurlFetcher, B03_ClosedBeforeAnyByte) { expect_error(fetch_once(once("")), FetchError::empty_reply); }

TEST(CurlFetcher, ClosedInTheMiddleOfTheHeaders) {
  expect_error(fetch_once(once("HTTP/1.1 200 OK\r\nServer: x\r\n")), FetchError::broken);
  expect_error(fetch_once(once("HTTP/1.1 200 OK\r\nServer: x")), FetchError::broken);
}

TEST(CurlFetcher, ResetInMidBodyIsTruncated) {
  std::promise<void> may_reset;
  std::shared_future<void> go = may_reset.get_future().share();
  const RawServer server([go](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + std::string(50, 'x'));
    go.wait();  // a reset discards what the peer has not read
    connection.reset();
  });
  Client client;
  client.start(1, server.url());
  // When later transfers have ended, the first one has its bytes.
  const RawServer other(always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  for (int i = 0; i < 20; ++i) client.get(other.url());
  may_reset.set_value();
  const FetchResponse response = client.wait(1);
  expect_error(response, FetchError::none);
  EXPECT_EQ(response.truncated, Truncated::disconnect);
  EXPECT_LE(response.body.size(), 50u);
}

TEST(CurlFetcher, B35_InterimResponsesAreDropped) {
  const FetchResponse response =
      fetch_once(always("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  expect_whole(response, 200, "ok");
  EXPECT_EQ(response.response_head, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
}

TEST(CurlFetcher, Rfc9110_15_2_2_SwitchingProtocolsUnasked) {
  expect_error(fetch_once(then_silence("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")),
               FetchError::bad_response);
}

TEST(CurlFetcher, B33_NotHttp) {
  expect_error(fetch_once(once("<html>hello</html>\r\n")), FetchError::bad_response);
  expect_error(fetch_once(once("SSH-2.0-OpenSSH_9.2\r\n")), FetchError::bad_response);
}

TEST(CurlFetcher, B34_StatusOutside100To599) {
  for (const char* line : {"HTTP/1.1 999 Odd", "HTTP/1.1 600 Odd", "HTTP/1.1 099 Odd", "HTTP/1.1 -200 Odd",
                           "HTTP/1.1 2000 Odd", "HTTP/1.1 20 Odd", "HTTP/1.1 OK"}) {
    const FetchResponse response = fetch_once(once(std::string(line) + "\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_TRUE(response.error == FetchError::bad_response || response.error == FetchError::broken)
        << line << ": " << static_cast<int>(response.error);
    EXPECT_EQ(response.status, 0) << line;
  }
  expect_whole(fetch_once(always("HTTP/1.1 599\r\nContent-Length: 0\r\n\r\n")), 599, "");
  expect_whole(fetch_once(once("HTTP/1.0 200 OK\r\n\r\nold")), 200, "old");
}

TEST(CurlFetcher, B31_OddHeaderLinesDoNoHarm) {
  for (const std::string& line : {std::string("no colon here\r\n"), "X-Nul: a\0b\r\n"s,
                                  std::string(" folded first\r\n"), std::string(": no name\r\n")}) {
    const FetchResponse response = fetch_once(once("HTTP/1.1 200 OK\r\n" + line + "Content-Length: 2\r\n\r\nok"));
    if (response.error == FetchError::none) {
      EXPECT_EQ(response.body, "ok");
    } else {
      expect_error(response, FetchError::broken);
    }
  }
}

TEST(CurlFetcher, B45_NoBodyWhereNoneMayBe) {
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    const RawServer server(always("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 9\r\n\r\n"));
    Client client;
    for (int i = 0; i < 2; ++i) {
      const FetchResponse response = client.get(server.url());
      expect_error(response, FetchError::none);
      EXPECT_EQ(response.body, "");
    }
    EXPECT_EQ(server.accepted(), 1);
  }
}

TEST(CurlFetcher, B46_KeptConnectionThatDiedIsReplaced) {
  const RawServer server([](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (connection.number() == 0) connection.read_request();  // reads the second request, then closes without an answer
  });
  Client client;
  expect_whole(client.get(server.url("/1")), 200, "ok");
  expect_whole(client.get(server.url("/2")), 200, "ok");
  EXPECT_EQ(server.accepted(), 2);
}

TEST(CurlFetcher, B48_ConnectionCloseIsHonoured) {
  const RawServer server(always("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"));
  Client client;
  expect_whole(client.get(server.url()), 200, "ok");
  expect_whole(client.get(server.url()), 200, "ok");
  EXPECT_EQ(server.accepted(), 2);
}

TEST(CurlFetcher, RedirectsAreAnswersNotFollowed) {
  const RawServer server(always("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 2\r\n\r\nno"));
  Client client;
  expect_whole(client.get(server.url()), 302, "no");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(CurlFetcher, B59_CookiesAreNotSentBack) {
  std::promise<std::string> second;
  const RawServer server([&](RawConnection& connection) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
    second.set_value(connection.read_request());
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  Client client;
  client.get(server.url());
  client.get(server.url());
  EXPECT_EQ(second.get_future().get().find("ookie"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
