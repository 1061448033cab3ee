#include "node/settings/site_header.h"

#include <gtest/gtest.h>

#include "node/cli/contact_check.h"
#include "node/config/settings_table.h"
#include "tests/unit/fetch_client.h"

namespace orbweaver {
namespace {

using testing::Client;
using testing::RawConnection;
using testing::RawServer;

TEST(SiteHeader, ABareHostMeansHttps) {
  const auto header = parse_site_header("Docs.Example Authorization: Basic dXNlcjpwYXNz");
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->tls);
  EXPECT_EQ(header->host, "docs.example");
  EXPECT_EQ(header->port, 443);
  EXPECT_EQ(header->name, "Authorization");
  EXPECT_EQ(header->value, "Basic dXNlcjpwYXNz");
}

TEST(SiteHeader, SchemesAndPorts) {
  EXPECT_EQ(parse_site_header("http://a.test X: y")->port, 80);
  EXPECT_FALSE(parse_site_header("http://a.test X: y")->tls);
  EXPECT_EQ(parse_site_header("a.test:8443 X: y")->port, 8443);
  EXPECT_EQ(parse_site_header("https://[::1]:8443 X: y")->host, "::1");
  EXPECT_EQ(parse_site_header("[::1] X: y")->port, 443);
}

TEST(SiteHeader, WhatIsWrongIsSaidWithoutTheValue) {
  for (const char* text : {"", "a.test", "a.test X", "a.test X y", "a.test X:", "a.test : y", "ftp://a.test X: y",
                           "a.test X Y: z", "a.test:0 X: y", "a.test Host: secret", "a.test User-Agent: secret",
                           "a.test X: secret\r\nY: z", "a.test Content-Length: 5"}) {
    const auto header = parse_site_header(text);
    ASSERT_FALSE(header) << text;
    EXPECT_EQ(header.error().message.find("secret"), std::string::npos);
    EXPECT_NE(header.error().message.find("write HOST Name: value"), std::string::npos);
  }
}

TEST(Contact, UrlOrMailAddress) {
  for (const char* good : {"", "https://example.org/bot", "http://example.org", "bot@example.org", "mailto:a@b.org"})
    EXPECT_EQ(contact_problem(good), "") << good;
  for (const char* bad : {"me", "https://", "a@b", "https://a.org/ x", "https://a.org/(x)", "ftp://a.org/", "@a.org"})
    EXPECT_NE(contact_problem(bad), "") << bad;
}

TEST(Contact, StandsInTheUserAgent) {
  EXPECT_EQ(user_agent_with("orbweaver/0.1", ""), "orbweaver/0.1");
  EXPECT_EQ(user_agent_with("orbweaver/0.1", "https://example.org/bot"), "orbweaver/0.1 (+https://example.org/bot)");
  EXPECT_FALSE(names_contact("orbweaver/0.1", ""));
  EXPECT_TRUE(names_contact("mybot/1.0 (+https://example.org)", ""));
  EXPECT_TRUE(names_contact("mybot/1.0 (me@example.org)", ""));
}

TEST(Contact, PublicSeedsNeedOneAndPrivateOnesDoNot) {
  Settings settings = default_settings();
  settings.resolve = {"docs.example:80:127.0.0.1", "*:8080:10.0.0.1", "far.example:80:9.9.9.9"};
  const auto refused = [&](const char* seed) { return !check_contact(settings, {seed}); };
  for (const char* seed : {"http://127.0.0.1/", "http://localhost:99/", "http://[fd00::1]/", "http://a.test/",
                           "http://docs.example/", "http://any.org:8080/"})
    EXPECT_FALSE(refused(seed)) << seed;
  for (const char* seed : {"http://example.org/", "http://9.9.9.9/", "http://docs.example:81/", "http://far.example/",
                           "https://docs.example/"})
    EXPECT_TRUE(refused(seed)) << seed;
  EXPECT_NE(check_contact(settings, {"http://example.org/"}).error().message.find("--contact"), std::string::npos);
  settings.contact = "https://example.org/bot";
  EXPECT_FALSE(refused("http://example.org/"));
  settings.contact.clear();
  settings.proxy = "http://127.0.0.1:3128";
  EXPECT_TRUE(refused("http://127.0.0.1/"));
}

TEST(Contact, WithoutOneNoPublicAddressIsConnectedTo) {
  AddressGuard guard = AddressGuard::create({"10.0.0.0/8", "9.9.9.0/24"}).value();
  guard.refuse_public();
  EXPECT_FALSE(guard.refusal(*parse_ip("10.1.2.3")));
  EXPECT_FALSE(guard.refusal(*parse_ip("9.9.9.9")));
  const auto why = guard.refusal(*parse_ip("93.184.216.34"));
  ASSERT_TRUE(why);
  EXPECT_NE(why->words.find("--contact"), std::string::npos);
  EXPECT_TRUE(guard.refusal(*parse_ip("2606:2800:220:1::1")));
}

// --- on the wire ---

// Answers 200 with the request's own head as the body.
RawServer::Script echo(const std::string& fields = "") {
  return [fields](RawConnection& connection) {
    for (std::string head = connection.read_request(); !head.empty(); head = connection.read_request())
      connection.send("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(head.size()) + "\r\n\r\n" +
                      head);
  };
}

SiteHeader secret_of(int port) {
  return *parse_site_header("http://127.0.0.1:" + std::to_string(port) + " Authorization: Basic c2VjcmV0");
}

TEST(RequestHeaders, SiteHeadersGoToTheirOriginAloneAndNotIntoTheRecord) {
  const RawServer site(echo());
  const RawServer other(echo());
  CurlFetcherConfig config = testing::loopback_config();
  config.record_requests = true;
  config.site_headers = {secret_of(site.port())};
  Client client(std::move(config));
  const FetchResponse mine = client.get(site.url());
  EXPECT_NE(mine.body.find("\r\nAuthorization: Basic c2VjcmV0\r\n"), std::string::npos) << mine.body;
  EXPECT_EQ(mine.request_head.find("c2VjcmV0"), std::string::npos);
  EXPECT_NE(mine.request_head.find("\r\nAuthorization: [redacted]\r\n"), std::string::npos) << mine.request_head;
  EXPECT_TRUE(mine.request_head.starts_with("GET / HTTP/1.1\r\n"));
  EXPECT_TRUE(mine.request_head.ends_with("\r\n\r\n"));
  const FetchResponse others = client.get(other.url());
  EXPECT_EQ(others.body.find("Authorization"), std::string::npos) << others.body;
  EXPECT_EQ(others.request_head, others.body);
}

TEST(RequestHeaders, Rfc9110_13_1_ConditionsAreSentAnd304IsAnAnswer) {
  std::string asked;
  const RawServer server([&](RawConnection& connection) {
    asked = connection.read_request();
    connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
  });
  Client client;
  FetchRequest request{5, CanonicalUrl::parse(server.url()).value(), 1000};
  request.if_none_match = "\"x\"";
  request.if_modified_since = "Wed, 21 Oct 2015 07:28:00 GMT";
  client.fetcher().start(request);
  const FetchResponse response = client.wait(5);
  EXPECT_EQ(response.error, FetchError::none) << response.error_text;
  EXPECT_EQ(response.status, 304);
  EXPECT_TRUE(response.body.empty());
  EXPECT_NE(asked.find("\r\nIf-None-Match: \"x\"\r\n"), std::string::npos) << asked;
  EXPECT_NE(asked.find("\r\nIf-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT\r\n"), std::string::npos);
  EXPECT_NE(asked.find("\r\nAccept-Encoding: "), std::string::npos);
}

TEST(RequestHeaders, AValueWithALineEndIsNotSent) {
  const RawServer server(echo());
  Client client;
  FetchRequest request{6, CanonicalUrl::parse(server.url()).value(), 1000};
  request.if_none_match = "\"x\"\r\nX-Injected: yes";
  client.fetcher().start(request);
  EXPECT_EQ(client.wait(6).body.find("Injected"), std::string::npos);
}

TEST(RequestHeaders, CookiesOfTheRequestAreSent) {
  const RawServer server(echo("Set-Cookie: n=v; Path=/\r\n"));
  Client client;
  EXPECT_EQ(client.get(server.url()).body.find("Cookie"), std::string::npos);
  FetchRequest request{7, CanonicalUrl::parse(server.url()).value(), 1000};
  request.cookies = "a=b; c=d";
  client.fetcher().start(request);
  EXPECT_NE(client.wait(7).body.find("\r\nCookie: a=b; c=d\r\n"), std::string::npos);
  EXPECT_EQ(client.get(server.url()).body.find("Cookie"), std::string::npos) << "the fetcher keeps none";
}

TEST(Proxy, HttpProxyIsAskedForTheWholeUrlAndItsPasswordIsNotRecorded) {
  const RawServer proxy(echo());
  CurlFetcherConfig config = testing::loopback_config();
  config.record_requests = true;
  config.proxy = "http://user:c2VjcmV0@127.0.0.1:" + std::to_string(proxy.port());
  Client client(std::move(config));
  const FetchResponse response = client.get("http://nowhere.test/page");
  ASSERT_EQ(response.error, FetchError::none) << response.error_text;
  EXPECT_TRUE(response.body.starts_with("GET http://nowhere.test/page HTTP/1.1\r\n")) << response.body;
  EXPECT_NE(response.body.find("Proxy-Authorization: Basic "), std::string::npos);
  EXPECT_NE(response.request_head.find("Proxy-Authorization: [redacted]"), std::string::npos) << response.request_head;
  EXPECT_EQ(response.ip, "");
}

TEST(Proxy, ItsAddressIsJudged) {
  const RawServer proxy(echo());
  CurlFetcherConfig config = testing::loopback_config();
  config.guard = AddressGuard();
  config.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  Client client(std::move(config));
  EXPECT_EQ(client.get("http://nowhere.test/").error, FetchError::address_refused);
  EXPECT_EQ(proxy.accepted(), 0);
}

// RFC 1928: 3 (methods), 4 (requests), 5 (addresses), 6 (replies).
TEST(Proxy, Rfc1928_ThroughASocksProxyThePageComesByTheNameAndNoAddressIsLookedUp) {
  std::string asked_for;
  const RawServer socks([&](RawConnection& connection) {
    const std::string greeting = connection.read_bytes(2);
    connection.read_bytes(static_cast<unsigned char>(greeting[1]));
    connection.send(std::string("\5\0", 2));
    const std::string head = connection.read_bytes(5);
    asked_for = head.substr(0, 4) + connection.read_bytes(static_cast<unsigned char>(head[4]) + 2u);
    connection.send(std::string("\5\0\0\1\0\0\0\0\0\0", 10));
    const std::string request = connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(request.size()) + "\r\n\r\n" + request);
    connection.wait_closed();
  });
  CurlFetcherConfig config = testing::loopback_config();
  config.proxy = "socks5h://127.0.0.1:" + std::to_string(socks.port());
  Client client(std::move(config));
  const FetchResponse response = client.get("http://nowhere.test:8080/page");
  ASSERT_EQ(response.error, FetchError::none) << response.error_text;
  EXPECT_TRUE(response.body.starts_with("GET /page HTTP/1.1\r\nHost: nowhere.test:8080\r\n")) << response.body;
  EXPECT_EQ(asked_for, std::string("\5\1\0\3", 4) + "nowhere.test" + "\x1f\x90");
  EXPECT_EQ(response.ip, "");
}

TEST(Proxy, SocksGetsTheNameAndATunnelThatIsRefusedIsAConnectFailure) {
  const RawServer socks([&](RawConnection& connection) {
    connection.send(std::string("\5\0", 2));  // SOCKS 5, no password (RFC 1928, 3)
    connection.wait_closed();
  });
  CurlFetcherConfig config = testing::loopback_config();
  config.connect_timeout = std::chrono::milliseconds{300};
  config.proxy = "socks5h://127.0.0.1:" + std::to_string(socks.port());
  Client client(std::move(config));
  EXPECT_EQ(client.get("http://nowhere.test/").error, FetchError::connect);
  EXPECT_EQ(socks.accepted(), 1);
  const RawServer refusing(testing::once("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
  CurlFetcherConfig tunnel = testing::loopback_config();
  tunnel.proxy = "http://127.0.0.1:" + std::to_string(refusing.port());
  Client second(std::move(tunnel));
  const FetchResponse response = second.get("https://nowhere.test/");
  EXPECT_EQ(response.error, FetchError::connect) << response.error_text;
  EXPECT_EQ(response.status, 0);
}

}  // namespace
}  // namespace orbweaver
