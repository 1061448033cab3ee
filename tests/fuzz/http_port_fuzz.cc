// Any bytes as requests to the HTTP port, whole and in pieces: the same requests are read, no head is longer than the
// limit, and only a GET or HEAD that names this machine gets a page.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "node/control/http_port.h"
#include "node/http_server/answer_head.h"

namespace {

constexpr std::size_t max_head_bytes = 512;

void require(bool holds) {
  if (!holds) std::abort();
}

struct Read {
  std::vector<orbweaver::RequestHead> heads;
  orbweaver::HeadProgress end = orbweaver::HeadProgress::more;
};

// All requests of `input`, which comes `piece` bytes at a time.
Read read_all(std::string_view input, std::size_t piece) {
  Read out;
  std::string bytes;
  auto reader = std::make_unique<orbweaver::RequestReader>(max_head_bytes);
  while (out.end == orbweaver::HeadProgress::more) {
    out.end = reader->read(bytes);
    if (out.end == orbweaver::HeadProgress::whole) {
      out.heads.push_back(reader->take());
      reader = std::make_unique<orbweaver::RequestReader>(max_head_bytes);
      if (out.heads.back().body_follows) return out;
      out.end = orbweaver::HeadProgress::more;
    } else if (out.end == orbweaver::HeadProgress::more) {
      require(bytes.size() <= max_head_bytes);
      if (input.empty()) return out;
      bytes.append(input.substr(0, piece));
      input.remove_prefix(std::min(piece, input.size()));
    }
  }
  return out;
}

bool same(const orbweaver::RequestHead& a, const orbweaver::RequestHead& b) {
  return a.method == b.method && a.target == b.target && a.host == b.host && a.accept_encoding == b.accept_encoding &&
         a.http_1_0 == b.http_1_0 && a.keep_alive == b.keep_alive && a.body_follows == b.body_follows &&
         a.authorization == b.authorization && a.body_bytes == b.body_bytes;
}

// Without the token, no request asks the peer anything.
void check_answer(const orbweaver::RequestHead& head) {
  orbweaver::HttpPages pages;
  pages.metrics_text = [] { return std::string("metrics"); };
  pages.status_json = [] { return std::string("{}"); };
  pages.healthy = [] { return true; };
  pages.ask = [](const orbweaver::PeerQuestion&) -> orbweaver::Result<std::string> { std::abort(); };
  pages.token = std::string(64, 'a');
  orbweaver::HttpPort port(pages, {"crawler.example"});
  const orbweaver::HttpAnswer answer = port.answer(head);
  require(head.method.size() + head.target.size() + head.host.value_or("").size() <= max_head_bytes);
  require(head.target.find_first_of(" \r\n") == std::string::npos);
  require(!answer.later);
  if (answer.status == 200) {
    require(head.method == "GET" || head.method == "HEAD");
    require(head.host ? head.host->find("evil") == std::string::npos : head.http_1_0);
  }
  const std::string written = orbweaver::answer_head(answer, "", 1);
  require(written.ends_with("\r\n\r\n") && written.find("\r\n\r\n") == written.size() - 4);
  require(written.find("Unknown") == std::string::npos);
}

}  // namespace

// Input: the size of the pieces, then the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Read whole = read_all(input, input.size() + 1);
  const Read pieces = read_all(input, std::size_t{data[0]} % 64 + 1);
  // A fault may be found later when reading in pieces: Beast checks them again only when the head has ended.
  require(whole.end == pieces.end || whole.end == orbweaver::HeadProgress::bad);
  require(whole.heads.size() == pieces.heads.size());
  for (std::size_t i = 0; i < whole.heads.size(); ++i) require(same(whole.heads[i], pieces.heads[i]));
  for (const orbweaver::RequestHead& head : whole.heads) check_answer(head);
  return 0;
}
