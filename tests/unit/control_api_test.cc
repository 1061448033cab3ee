// The control API: which requests become which questions, who may ask, and what becomes of the answers.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "node/control/control_token.h"
#include "node/control/http_port.h"
#include "node/control/own_door.h"
#include "node/control/routes.h"
#include "tests/unit/http_client.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using testing::HttpClient;

const std::string token(64, 'a');

class ControlApi : public ::testing::Test {
 protected:
  void open() {
    HttpPages pages{[] { return std::string(); }, [] { return std::string("{}"); }, [] { return true; },
                    [this](const PeerQuestion& question) { return answer(question); }, token};
    port_.emplace(pages, HttpPort::HostNames{});
    ASSERT_TRUE(port_->open("127.0.0.1:0"));
  }
  Result<std::string> answer(const PeerQuestion& question) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(question.verb + (question.for_ring ? " ring " : " peer ") + question.body.dump());
    }
    return answer_(question);
  }
  std::string send(const std::string& line, const std::string& more = {}, const std::string& body = {}) {
    const std::string& address = port_->address();
    HttpClient client(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    std::string head = line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more;
    if (!body.empty()) head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    client.send(head + "\r\n" + body);
    return client.read_all();
  }
  std::string with_token(const std::string& line, const std::string& body = {}) {
    return send(line, "Authorization: Bearer " + token + "\r\n", body);
  }
  static std::string status_of(const std::string& answer) { return answer.substr(9, 3); }

  std::function<Result<std::string>(const PeerQuestion&)> answer_ = [](const PeerQuestion&) {
    return Result<std::string>("{\"peers\":[{\"taken\":true}]}");
  };
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::optional<HttpPort> port_;
};

TEST_F(ControlApi, WithoutTheTokenNothingIsAsked) {
  open();
  for (const Route& route : routes()) {
    const std::string line = std::string(route.method) + " " + std::string(route.path);
    EXPECT_EQ(status_of(send(line)), "401") << line;
    for (const std::string& wrong :
         {std::string("Bearer "), "Bearer " + std::string(64, 'b'), "Basic " + token, "Bearer " + token + "a", token})
      EXPECT_EQ(status_of(send(line, "Authorization: " + wrong + "\r\n")), "401") << line << " " << wrong;
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ControlApi, ARequestIsTheQuestionThatItsRouteNames) {
  open();
  EXPECT_EQ(status_of(with_token("GET /api/v1/explain?url=http%3A%2F%2Fa.test%2F%3Fx%3D1")), "200");
  EXPECT_EQ(status_of(with_token("GET /api/v1/urls?states=failed,excluded&status=404&after=%7B%22ab%22%3A%22u%22%7D")),
            "200");
  EXPECT_EQ(status_of(with_token("POST /api/v1/orders", R"({"kind":"pause","host":"a.test","value":"yes"})")), "200");
  EXPECT_EQ(status_of(with_token("POST /api/v1/readmit", R"({"host":"a.test"})")), "200");
  EXPECT_EQ(status_of(with_token("GET /api/v1/peer")), "200");
  EXPECT_EQ(asked_,
            (std::vector<std::string>{R"(explain ring {"url":"http://a.test/?x=1"})",
                                      R"(urls ring {"after":{"ab":"u"},"states":["failed","excluded"],"status":404})",
                                      R"(order ring {"host":"a.test","kind":"pause","value":"yes"})",
                                      R"(traps ring {"host":"a.test","readmit":true})", "status peer {}"}));
}

TEST_F(ControlApi, WhatARouteDoesNotNameIsRefused) {
  open();
  for (const char* line : {"GET /api/v1/traps?readmit=true", "GET /api/v1/urls?status=many", "GET /api/v1/explain",
                           "GET /api/v1/urls?after=1", "GET /api/v1/peer?brief=1"})
    EXPECT_EQ(status_of(with_token(line)), "400") << line;
  for (const char* body : {R"({"order":"{}"})", R"({"kind":1})", R"({"host":"a.test"})", "[]", "no"})
    EXPECT_EQ(status_of(with_token("POST /api/v1/orders", body)), "400") << body;
  EXPECT_EQ(status_of(with_token("GET /api/v1/nothing")), "404");
  EXPECT_EQ(status_of(with_token("POST /api/v1/explain", "{}")), "405");
  EXPECT_EQ(status_of(with_token("GET /api/v1/stop")), "405");
  EXPECT_EQ(status_of(with_token("OPTIONS /api/v1/orders")), "405");
  EXPECT_TRUE(asked_.empty());
}

// Each reading route, with every field that any question knows: none of them reaches the peer but those it names.
TEST_F(ControlApi, ReadingChangesNothing) {
  open();
  for (const Route& route : routes()) {
    if (route.method != "GET") continue;
    for (const char* field : {"readmit=true", "order=%7B%7D", "hold=1", "value=yes", "id=ab", "peer=ab", "snapshot=x"})
      EXPECT_EQ(status_of(with_token("GET " + std::string(route.path) + "?" + field)), "400") << route.path << field;
    EXPECT_FALSE(route.readmits);
    EXPECT_NE(route.reach, Route::Reach::order);
  }
  EXPECT_TRUE(asked_.empty());
}

TEST_F(ControlApi, AnOrderIsGivenUntilAllHaveTakenIt) {
  std::atomic<int> times = 0;
  answer_ = [&times](const PeerQuestion&) {
    return Result<std::string>(++times < 2 ? R"({"peers":[{"taken":true},{"taken":false}]})"
                                           : R"({"peers":[{"taken":true},{"taken":true}]})");
  };
  open();
  EXPECT_EQ(status_of(with_token("POST /api/v1/orders", R"({"kind":"pause","value":"yes"})")), "200");
  EXPECT_EQ(times, 2);
  answer_ = [](const PeerQuestion&) {
    return Result<std::string>(R"({"peers":[{"taken":true},{"address":"b:1","error":"it is full"}]})");
  };
  const std::string refused = with_token("POST /api/v1/orders", R"({"kind":"pause","value":"yes"})");
  EXPECT_EQ(status_of(refused), "503");
  EXPECT_NE(refused.find("b:1: it is full"), std::string::npos) << refused;
}

TEST_F(ControlApi, ErrorsOfThePeerAreTold) {
  answer_ = [](const PeerQuestion&) -> Result<std::string> { return fail(ErrorCode::invalid_input, "no such host"); };
  open();
  const std::string refused = with_token("GET /api/v1/ring");
  EXPECT_EQ(status_of(refused), "400");
  EXPECT_NE(refused.find(R"({"error":"no such host"})"), std::string::npos);
  answer_ = [](const PeerQuestion&) -> Result<std::string> { return fail(ErrorCode::unreachable, "busy"); };
  EXPECT_EQ(status_of(with_token("GET /api/v1/ring")), "503");
}

TEST_F(ControlApi, QuestionsThatWaitHoldNothingElseUp) {
  std::promise<void> go_on;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  answer_ = [may_go_on](const PeerQuestion&) {
    may_go_on.wait();
    return Result<std::string>("{}");
  };
  open();
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0, refused = 0;
  for (std::size_t i = 0; i < ControlDesk::threads + ControlDesk::max_waiting + 4; ++i)
    clients.emplace_back([&] {
      const std::string status = status_of(with_token("GET /api/v1/peer"));
      ++(status == "200" ? answered : refused);
    });
  while (refused < 4) std::this_thread::yield();  // there is no room for them
  EXPECT_EQ(status_of(send("GET /healthz")), "200");
  go_on.set_value();
  for (std::thread& client : clients) client.join();
  // The threads may have taken none yet when the last came.
  EXPECT_GE(static_cast<std::size_t>(answered), ControlDesk::max_waiting);
  EXPECT_EQ(static_cast<std::size_t>(answered + refused), clients.size());
}

TEST_F(ControlApi, BodiesAreBounded) {
  open();
  EXPECT_EQ(status_of(send("POST /api/v1/seeds", "Content-Length: 1048577\r\n")), "413");
  EXPECT_EQ(status_of(send("POST /api/v1/seeds", "Transfer-Encoding: chunked\r\n")), "411");
  const std::string urls = R"({"urls":[")" + std::string(1'000'000, 'u') + R"("]})";
  EXPECT_EQ(status_of(with_token("POST /api/v1/seeds", urls)), "200");
}

TEST_F(ControlApi, NoAnswerIsForAnotherSitesPage) {
  open();
  for (const std::string& answer : {send("GET /"), send("GET /status"), with_token("GET /api/v1/peer")}) {
    EXPECT_NE(answer.find("Cross-Origin-Resource-Policy: same-origin\r\n"), std::string::npos) << answer;
    EXPECT_NE(answer.find("X-Content-Type-Options: nosniff\r\n"), std::string::npos);
    EXPECT_NE(answer.find("Cache-Control: no-store\r\n"), std::string::npos);
    EXPECT_EQ(answer.find("Access-Control-"), std::string::npos);
  }
  const std::string page = send("GET /");
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none';"), std::string::npos);
  EXPECT_NE(page.find("frame-ancestors 'none'"), std::string::npos);
}

TEST_F(ControlApi, TheViewIsMadeWhileSomebodyLooks) {
  answer_ = [](const PeerQuestion& question) {
    if (question.verb == "hosts")
      return Result<std::string>(
          R"({"peers":[{"id":"a","hosts":[{"host":"secret.test","queued":9,"delay_us":2000000}]}]})");
    EXPECT_EQ(question.body, json({{"brief", true}}));
    return Result<std::string>(R"({"ring":"ab","totals":{"queued":9},"peers":[],"unreachable":[]})");
  };
  open();
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(status_of(send("GET /api/v1/view")), "503") << "nobody looked before";
  std::string view;
  do view = send("GET /api/v1/view");
  while (status_of(view) != "200");
  EXPECT_NE(view.find(R"("ring":"ab")"), std::string::npos);
  EXPECT_NE(view.find("in about 18 s if no more is found: one host needs that long"), std::string::npos) << view;
  EXPECT_EQ(view.find("secret.test"), std::string::npos) << "it is shown without a token";
}

TEST_F(ControlApi, StreamsAreBoundedAndEndWithThePort) {
  answer_ = [](const PeerQuestion&) { return Result<std::string>(R"({"peers":[]})"); };
  open();
  const std::string& address = port_->address();
  const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  std::vector<HttpClient> streams;
  for (std::size_t i = 0; i < HttpServerConfig().max_streams; ++i) {
    streams.emplace_back(port);
    streams.back().send("GET /api/v1/view/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(streams.back().read_answer().starts_with("HTTP/1.1 200 "));
  }
  EXPECT_EQ(status_of(send("GET /api/v1/view/stream")), "503");
  for (int i = 0; i < 60; ++i) EXPECT_EQ(status_of(send("GET /healthz")), "200");
  EXPECT_TRUE(streams.front().read_until("data: ").ends_with("data: ")) << "it was not closed for the others";
  port_.reset();
  EXPECT_TRUE(streams.front().read_all().ends_with("\n\n"));
}

TEST(ControlToken, EachStartMakesAnother) {
  const test::TempDir dir;
  EXPECT_FALSE(read_control_token(dir.path()));
  const auto first = new_control_token(dir.path());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 64u);
  EXPECT_EQ(*read_control_token(dir.path()), *first);
  const auto second = new_control_token(dir.path());
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  EXPECT_TRUE(is_authorized("Bearer " + *second, *second));
  EXPECT_TRUE(is_authorized("bearer " + *second, *second));
  EXPECT_FALSE(is_authorized("Bearer " + *first, *second));
  EXPECT_FALSE(is_authorized("Bearer ", ""));
}

TEST(OwnDoor, AnAnswerComesByItsRoute) {
  std::promise<ring::ReplyPath> asked;
  OwnDoor door([&asked](const ring::Message& message, ring::ReplyPath path) {
    EXPECT_EQ(std::get<ring::Ask>(message.body).verb, "orders");
    asked.set_value(std::move(path));
    return true;
  });
  auto answer = std::async(std::launch::async, [&door] { return door.ask({.verb = "orders"}); });
  const ring::ReplyPath path = asked.get_future().get();
  EXPECT_FALSE(door.take({"other"}, ring::Answer{1, "{}"})) << "another connection's";
  EXPECT_TRUE(door.take(path, ring::Answer{1, R"({"orders":[]})"}));
  EXPECT_EQ(*answer.get(), R"({"orders":[]})");
  EXPECT_TRUE(door.take(path, ring::Answer{1, "{}"})) << "of a question that waits no more";
}

TEST(OwnDoor, ARefusalIsAnError) {
  OwnDoor* self = nullptr;
  OwnDoor door([&self](const ring::Message&, const ring::ReplyPath& path) {
    std::thread([&self, path] { self->take(path, ring::Answer{1, R"({"error":"no","deep":{"a":[1]}})"}); }).detach();
    return true;
  });
  self = &door;
  const auto answer = door.ask({.verb = "orders"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "no");
  OwnDoor full([](const ring::Message&, const ring::ReplyPath&) { return false; });
  EXPECT_FALSE(full.ask({.verb = "status"})) << "the loop has no room";
}

TEST(OwnDoor, WhoWaitsIsToldWhenThePeerEnds) {
  std::promise<void> asked;
  OwnDoor door([&asked](const ring::Message&, const ring::ReplyPath&) {
    asked.set_value();
    return true;
  });
  auto answer = std::async(std::launch::async,
                           [&door] { return door.ask({.verb = "status", .timeout = std::chrono::hours{1}}); });
  asked.get_future().get();
  door.close();
  EXPECT_EQ(answer.get().error().code, ErrorCode::unreachable);
  EXPECT_FALSE(door.ask({.verb = "status"}));
}

// Seen from outside: a document of OpenAPI 3 that names each route with what it takes.
TEST(OpenApi, NamesEachRoute) {
  const json document = openapi();
  EXPECT_EQ(document["openapi"], "3.0.3");
  std::size_t operations = 0;
  for (const auto& path : document["paths"]) operations += path.size();
  EXPECT_EQ(operations, routes().size() + 2) << "and the view, and its stream";
  for (const Route& route : routes()) {
    const json& operation = document["paths"][std::string(route.path)][route.method == "GET" ? "get" : "post"];
    EXPECT_FALSE(operation["summary"].get<std::string>().empty()) << route.path;
    EXPECT_TRUE(operation.contains("security")) << route.path;
  }
}

}  // namespace
}  // namespace orbweaver
