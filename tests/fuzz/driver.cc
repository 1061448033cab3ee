// Runs a fuzz target (LLVMFuzzerTestOneInput) without libFuzzer, so that every build and CI run has a short version of
// each target: random bytes, and mutations of files, from a printed seed.
//   NAME_fuzz [--runs N] [--seed S] [FILE…]
// With clang, the same target links with -fsanitize=fuzzer instead (tests/fuzz/run --long).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t max_input_bytes = 64 << 10;

// Pieces of the formats that the targets read, so that random inputs get past the first check.
const char* const pieces[] = {"http://",
                              "https://",
                              "%2e",
                              "%",
                              "/../",
                              "?",
                              "#",
                              "@",
                              ":80",
                              "[::1]",
                              "xn--",
                              "<a href=",
                              "<script>",
                              "</script>",
                              "<!--",
                              "-->",
                              "<![CDATA[",
                              "&amp;",
                              "&#x41;",
                              "'",
                              "\"",
                              ">",
                              "<base href=",
                              "User-agent: *\n",
                              "<?xml version='1.0' encoding='latin1'?>",
                              "<urlset><url><loc>http://a.test/",
                              "</loc><lastmod>2005-01-01T00:00Z</lastmod></url>",
                              "<sitemapindex><sitemap><loc>",
                              "<rss><channel><item><link>http://a.test/",
                              "<feed><entry><link href='/x'/></entry>",
                              "<!DOCTYPE urlset [<!ENTITY a '",
                              "noindex, orbweaver: unavailable_after: ",
                              "Disallow: /",
                              "Allow: *$\n",
                              "\r\n",
                              "\r\n\r\n",
                              "WARC/1.1\r\n",
                              "Content-Length: ",
                              "HTTP/1.1 200 OK\r\n",
                              "GET /status HTTP/1.1\r\n",
                              "Host: localhost:80\r\n",
                              "Host: evil.example\r\n",
                              "Transfer-Encoding: chunked\r\n",
                              "\x1f\x8b\x08",
                              "0\r\n\r\n",
                              "ffffffffffffffff\r\n",
                              "\x97\x01",
                              "\xc4\x10",
                              "\xdd\xff\xff\xff\xff",
                              "\xef\xbb\xbf",
                              "Content-Encoding: gzip, br\r\n",
                              "Content-Type: text/html; charset=",
                              "ETag: \"",
                              "<div class=a><a class='b c' href=",
                              "/search?u=http%3A%2F%2F",
                              "WARC-Type: response\r\nWARC-Target-URI: ",
                              "{\"agent\":\"x\",\"url\":\"",
                              "{\"base_url\":\"http://a.test/\",\"html_b64\":\"",
                              "\\ud800",
                              "[[[[",
                              "delay = \"",
                              "\t",
                              "\n",
                              "\xff\xfe"};

std::string random_input(std::mt19937_64& random, const std::vector<std::string>& corpus) {
  std::string input;
  if (!corpus.empty() && random() % 3 != 0) input = corpus[random() % corpus.size()];
  const std::size_t edits = 1 + random() % 16;
  for (std::size_t i = 0; i < edits; ++i) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    switch (random() % 5) {
      case 0:
        input.insert(at, pieces[random() % std::size(pieces)]);
        break;
      case 1:
        input.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      case 2:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 3:
        input.erase(at, random() % 32);
        break;
      default:
        input.insert(at, input.substr(at, random() % 64));
        break;
    }
  }
  if (input.size() > max_input_bytes) input.resize(max_input_bytes);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 20000;
  std::uint64_t seed = 1;
  std::vector<std::string> corpus;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      runs = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      std::ifstream in(argv[i], std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  std::printf("%s: %llu runs from seed %llu, %zu files\n", argv[0], static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed), corpus.size());
  std::fflush(stdout);
  for (const std::string& file : corpus)
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  std::mt19937_64 random(seed);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::string input = random_input(random, corpus);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  std::printf("done\n");
  return 0;
}
