// The sample web's server: hosts told apart by name, counts, gzip, and directory trees that nothing outside of can be
// had through.
#include "node/sampleweb/sample_server.h"

#include <gtest/gtest.h>
#include <httplib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "node/sampleweb/sample_tree.h"

namespace orbweaver::sample {
namespace {

namespace fs = std::filesystem;

class TreeOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    // mkdtemp wants six of them at the end.
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
  httplib::Client client("127.0.0.1", (*server)->port());
  client.set_keep_alive(true);
  client.set_decompress(false);
  const auto get = [&](const std::string& host, const std::string& path, const std::string& encoding = "identity") {
    return client.Get(path, {{"Host", host}, {"Accept-Encoding", encoding}});
  };

  const auto plain = get("HOST-000.sample.test:" + port, "/");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 200);
  EXPECT_FALSE(plain->has_header("Content-Encoding"));
  const auto packed = get("host-000.sample.test", "/", "br, gzip");
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_LT(packed->body.size(), plain->body.size());
  EXPECT_EQ(get("docs.test", "/")->body, "<a href=\"sub%20dir\">sub</a>");
  EXPECT_EQ(get("nobody.test", "/")->status, 421);

  httplib::Client control("127.0.0.1", (*server)->control_port());
  const auto stats = nlohmann::json::parse(control.Get("/stats")->body);
  EXPECT_EQ(stats["total"], 4);
  EXPECT_EQ(stats["hosts"]["host-000.sample.test"]["requests"], 2);
  EXPECT_EQ(stats["hosts"]["host-000.sample.test"]["most_at_once"], 1);
  const auto urls = nlohmann::json::parse(control.Get("/urls")->body);
  EXPECT_EQ(urls["http://host-000.sample.test:" + port + "/"], 2);
  EXPECT_EQ(nlohmann::json::parse(control.Get("/expected")->body).size(), 9U);
  EXPECT_EQ(control.Post("/reset")->status, 200);
  EXPECT_EQ(nlohmann::json::parse(control.Get("/stats")->body)["total"], 0);

  const auto ready = nlohmann::json::parse((*server)->ready_json());
  EXPECT_EQ(ready["resolve"][0], "*:" + port + ":127.0.0.1");
  EXPECT_EQ(ready["seeds"].size(), 2U);
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
