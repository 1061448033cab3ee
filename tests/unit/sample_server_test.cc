// The sample web's server: hosts distinguished by name, counts, gzip; directory trees through which no outside file can
// be reached.
#include "node/sampleweb/sample_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/sampleweb/sample_tree.h"
#include "tests/unit/http_client.h"

namespace orbweaver::sample {
namespace {

namespace fs = std::filesystem;

class TreeOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    // mkdtemp requires six X at the end.
    std::string name = (fs::temp_directory_path() / "orbweaver-tree-").string() + std::string(6, 'X');
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    fs::create_directories(base_ / "site" / "sub dir");
    fs::create_directories(base_ / "site-beside");
    write("secret.txt", "secret");
    write("site-beside/secret.txt", "secret");
    write("site/index.html", "<a href=\"sub%20dir\">sub</a>");
    write("site/sub dir/a:b.txt", "text");
    fs::create_symlink(base_ / "secret.txt", base_ / "site" / "way-out");
    fs::create_symlink(base_, base_ / "site" / "up");
  }
  void TearDown() override { fs::remove_all(base_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(base_ / name) << text; }
  std::string site() const { return (base_ / "site").string(); }

  fs::path base_;
};

std::string header(const SampleAnswer& answer, const std::string& wanted) {
  for (const auto& [name, value] : answer.headers) {
    if (name == wanted) return value;
  }
  return "";
}

TEST_F(TreeOnDisk, FilesIndexAndLists) {
  const auto tree = SampleTree::open(site());
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->answer("/").body, "<a href=\"sub%20dir\">sub</a>");
  EXPECT_EQ(tree->answer("/index.html?x=1").content_type, "text/html");
  EXPECT_EQ(tree->answer("/sub%20dir").status, 301);
  EXPECT_EQ(header(tree->answer("/sub%20dir"), "Location"), "/sub%20dir/");
  EXPECT_EQ(header(tree->answer("//sub%20dir"), "Location"), "/sub%20dir/");
  EXPECT_NE(tree->answer("/sub%20dir/").body.find("href=\"./a%3Ab.txt\""), std::string::npos);
  EXPECT_EQ(tree->answer("/sub%20dir/a%3ab.txt").body, "text");
  EXPECT_EQ(tree->answer("/index.html/").status, 404);
  EXPECT_EQ(tree->answer("/none").status, 404);
}

TEST_F(TreeOnDisk, NothingOutsideTheTree) {
  const auto tree = SampleTree::open(site());
  ASSERT_TRUE(tree.has_value());
  for (const auto* path :
       {"/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/way-out", "/up/secret.txt", "/up/",
        "/../site-beside/secret.txt", "//etc/passwd", "/%00", "", "x", "/index.html%00.txt"}) {
    const SampleAnswer answer = tree->answer(path);
    EXPECT_GE(answer.status, 400) << path;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << path;
  }
}

TEST_F(TreeOnDisk, WhatCannotBeServedIsNamed) {
  const auto none = SampleTree::open(site() + "/none");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message.find("/none"), std::string::npos);
  EXPECT_FALSE(SampleTree::open((base_ / "secret.txt").string()).has_value());
  SampleServerOptions options;
  options.trees = {"no-equals-sign"};
  EXPECT_FALSE(SampleServer::start(options).has_value());
}

TEST_F(TreeOnDisk, HostsByNameAndCounts) {
  SampleServerOptions options;
  options.shape.hosts = 3;
  options.shape.pages = 9;
  options.shape.calm = true;
  options.trees = {"Docs.Test=" + site()};
  const auto server = SampleServer::start(options);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const std::string port = std::to_string((*server)->port());
  testing::HttpClient client((*server)->port());
  const auto get = [&](const std::string& host, const std::string& path, const std::string& encoding = "identity") {
    client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAccept-Encoding: " + encoding + "\r\n\r\n");
    return client.read_answer();
  };

  const std::string plain = get("HOST-000.sample.test:" + port, "/");
  EXPECT_TRUE(plain.starts_with("HTTP/1.1 200 OK\r\n")) << plain;
  EXPECT_EQ(plain.find("Content-Encoding"), std::string::npos);
  const std::string packed = get("host-000.sample.test", "/", "br, gzip");
  EXPECT_NE(packed.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_LT(testing::body_of(packed).size(), testing::body_of(plain).size());
  EXPECT_EQ(testing::body_of(get("docs.test", "/")), "<a href=\"sub%20dir\">sub</a>");
  EXPECT_TRUE(get("nobody.test", "/").starts_with("HTTP/1.1 421 "));

  const auto ask = [&](const std::string& line) {
    testing::HttpClient control((*server)->control_port());
    control.send(line + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return control.read_all();
  };
  const auto stats = nlohmann::json::parse(testing::body_of(ask("GET /stats")));
  EXPECT_EQ(stats["total"], 4);
  EXPECT_EQ(stats["hosts"]["host-000.sample.test"]["requests"], 2);
  EXPECT_EQ(stats["hosts"]["host-000.sample.test"]["most_at_once"], 1);
  const auto urls = nlohmann::json::parse(testing::body_of(ask("GET /urls")));
  EXPECT_EQ(urls["http://host-000.sample.test:" + port + "/"], 2);
  EXPECT_EQ(nlohmann::json::parse(testing::body_of(ask("GET /expected"))).size(), 9U);
  EXPECT_TRUE(ask("POST /reset").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(ask("GET /reset").starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(nlohmann::json::parse(testing::body_of(ask("GET /stats")))["total"], 0);

  const auto ready = nlohmann::json::parse((*server)->ready_json());
  EXPECT_EQ(ready["resolve"][0], "*:" + port + ":127.0.0.1");
  EXPECT_EQ(ready["seeds"].size(), 2U);
}

// As many connections as the crawlers of a whole ring keep. Each is answered twice, the second time on the kept one.
TEST(SampleServer, TwoThousandKeptConnectionsAreAllAnswered) {
  constexpr std::size_t connections = 2000;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2 * connections + 100) GTEST_SKIP() << "the system allows too few open files";
  SampleServerOptions options;
  options.shape.hosts = 20'000;
  options.shape.pages = 20'000;
  options.shape.calm = true;
  const auto server = SampleServer::start(options);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  std::vector<testing::HttpClient> clients;
  for (std::size_t i = 0; i < connections; ++i) clients.emplace_back((*server)->port());
  for (int round = 0; round < 2; ++round) {
    std::size_t answered = 0;
    for (std::size_t i = 0; i < connections; ++i) {
      const std::string host = (*server)->seeds()[i * 10 % (*server)->seeds().size()].substr(7);
      clients[i].send("GET / HTTP/1.1\r\nHost: " + host.substr(0, host.find('/')) + "\r\n\r\n");
    }
    for (testing::HttpClient& client : clients) answered += client.read_answer().starts_with("HTTP/1.1 200 ") ? 1 : 0;
    EXPECT_EQ(answered, connections) << "round " << round;
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// The wait of a slow host blocks no thread: any number of requests may wait.
TEST(SampleServer, ManyWaitAtOnce) {
  SampleServerOptions options;
  options.shape.hosts = 1;
  options.shape.pages = 1;
  options.shape.calm = true;
  options.latency = std::chrono::seconds(1);
  const auto server = SampleServer::start(options);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  std::vector<testing::HttpClient> clients;
  for (int i = 0; i < 100; ++i) clients.emplace_back((*server)->port());
  for (testing::HttpClient& client : clients) client.send("GET / HTTP/1.1\r\nHost: host-000.sample.test\r\n\r\n");
  for (testing::HttpClient& client : clients) EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 200 "));
  EXPECT_GT(nlohmann::json::parse((*server)->stats_json())["hosts"]["host-000.sample.test"]["most_at_once"], 16);
}

TEST(SampleServer, APortInUseIsNamed) {
  SampleServerOptions options;
  const auto first = SampleServer::start(options);
  ASSERT_TRUE(first.has_value());
  options.listen_port = (*first)->port();
  const auto second = SampleServer::start(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::in_use);
  EXPECT_NE(second.error().message.find(std::to_string(options.listen_port)), std::string::npos);
}

}  // namespace
}  // namespace orbweaver::sample
