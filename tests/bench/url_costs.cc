// For tests/bench/urls: nanoseconds per URL and per link, ours and those of libcurl's URL API and gumbo's HTML parser.
//   url_costs [--rounds N] DIRECTORY…
// Every .html and .htm file below is read; the URL parsers get its links, both as written and resolved.
// Each measurement alternates with its rival, N rounds; the best of each is printed, so that other work on the machine
// has little effect. Exit code: 0, or 2 when there was nothing to read.
#include <curl/curl.h>
#include <gumbo.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "node/charset/charset.h"
#include "node/config/settings_table.h"
#include "node/html/links.h"
#include "node/settings/settings.h"
#include "node/url/canonicaliser.h"

namespace {

using orbweaver::Canonicaliser;
using orbweaver::CanonicalUrl;
using orbweaver::Url;

struct Page {
  std::string url;
  std::string html;
};

struct Corpus {
  std::vector<Page> pages;
  std::vector<std::string> urls;  // absolute
  std::size_t bytes = 0;
};

std::size_t sink = 0;  // prevents the compiler from removing the work

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
void keep_best(double& best, Work work) {
  const double begin = cpu_seconds();
  work();
  best = std::min(best, cpu_seconds() - begin);
}

Corpus read_corpus(const std::vector<std::string>& directories) {
  Corpus corpus;
  const auto extractor = orbweaver::make_stream_extractor();
  for (const std::string& directory : directories) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".html" && ending != ".htm")) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      orbweaver::DecodedText text;
      const std::string raw = bytes.str();
      decode_html(raw, "", text);
      Page page{"https://docs.example.org" + entry.path().string(), std::string(text.utf8)};
      const auto document = Url::parse(page.url);
      if (!document) continue;
      for (const orbweaver::PageLink& link : extractor->extract(page.html).links) {
        const auto url = Url::parse(link.href, &*document);
        if (url && url->is_http()) corpus.urls.push_back(url->href());
      }
      corpus.bytes += page.html.size();
      corpus.pages.push_back(std::move(page));
    }
  }
  return corpus;
}

void by_curl(const std::vector<std::string>& urls) {
  for (const std::string& text : urls) {
    CURLU* const handle = curl_url();
    char* out = nullptr;
    if (curl_url_set(handle, CURLUPART_URL, text.c_str(), 0) == CURLUE_OK &&
        curl_url_get(handle, CURLUPART_URL, &out, CURLU_URLENCODE | CURLU_NO_DEFAULT_PORT) == CURLUE_OK) {
      sink += std::string_view(out).size();
      curl_free(out);
    }
    curl_url_cleanup(handle);
  }
}

// href of <a> and <area>, src of frames, href of <link>; without meta: all that both trees have.
std::size_t gumbo_links(const GumboNode* root) {
  std::size_t found = 0;
  std::vector<const GumboNode*> open = {root};
  while (!open.empty()) {
    const GumboNode* const node = open.back();
    open.pop_back();
    if (node->type != GUMBO_NODE_ELEMENT) continue;
    const GumboElement& element = node->v.element;
    const bool framed = element.tag == GUMBO_TAG_IFRAME || element.tag == GUMBO_TAG_FRAME;
    if (framed || element.tag == GUMBO_TAG_A || element.tag == GUMBO_TAG_AREA || element.tag == GUMBO_TAG_LINK)
      if (gumbo_get_attribute(&element.attributes, framed ? "src" : "href") != nullptr) ++found;
    for (unsigned i = 0; i < element.children.length; ++i)
      open.push_back(static_cast<const GumboNode*>(element.children.data[i]));
  }
  return found;
}

Canonicaliser all_rules() {
  orbweaver::Settings settings = orbweaver::default_settings();
  settings.strip_tracking = settings.sort_parameters = settings.strip_sessions = settings.strip_index = true;
  settings.join_www = true;
  settings.trailing_slash = orbweaver::TrailingSlash::drop;
  return Canonicaliser(settings);
}

void report(const char* what, double seconds, std::size_t count, double ours) {
  std::printf("%-52s %9.0f ns   %.2f\n", what, seconds * 1e9 / static_cast<double>(count), seconds / ours);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 5;
  std::vector<std::string> directories;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      directories.emplace_back(argv[i]);
    }
  }
  const Corpus corpus = read_corpus(directories);
  if (corpus.urls.empty()) {
    std::fprintf(stderr, "no page with a link below the directories given\n");
    return 2;
  }
  constexpr double never = std::numeric_limits<double>::max();
  double parse = never, canonical = never, joined = never, curl = never;
  double links = never, chosen = never, gumbo = never;
  const Canonicaliser plain;
  const Canonicaliser rules = all_rules();
  const orbweaver::LinkChoice everything{true, true, true, true, true, true, true};
  const auto stream = orbweaver::make_stream_extractor();
  const auto stream_all = orbweaver::make_stream_extractor(everything);
  std::size_t found = 0;
  for (int round = 0; round < rounds; ++round) {
    keep_best(parse, [&] {
      for (const std::string& text : corpus.urls) sink += Url::parse(text)->href().size();
    });
    keep_best(curl, [&] { by_curl(corpus.urls); });
    keep_best(canonical, [&] {
      for (const std::string& text : corpus.urls) sink += plain.parse(text)->text().size();
    });
    keep_best(joined, [&] {
      for (const std::string& text : corpus.urls) sink += rules.parse(text)->text().size();
    });
    found = 0;
    keep_best(links, [&] {
      for (const Page& page : corpus.pages) found += stream->extract(page.html).links.size();
    });
    keep_best(gumbo, [&] {
      for (const Page& page : corpus.pages) {
        GumboOutput* const tree = gumbo_parse_with_options(&kGumboDefaultOptions, page.html.data(), page.html.size());
        sink += gumbo_links(tree->root);
        gumbo_destroy_output(&kGumboDefaultOptions, tree);
      }
    });
    keep_best(chosen, [&] {
      for (const Page& page : corpus.pages) sink += stream_all->extract(page.html).links.size();
    });
  }
  std::printf("%zu pages, %zu bytes, %zu URLs, %zu links; CPU time, best of %d rounds\n", corpus.pages.size(),
              corpus.bytes, corpus.urls.size(), found, rounds);
  std::printf("%-52s %12s   %s\n", "a URL", "", "ratio to our parse");
  report("  Url: parse and serialise", parse, corpus.urls.size(), parse);
  report("  libcurl " LIBCURL_VERSION " curl_url: parse and serialise", curl, corpus.urls.size(), parse);
  report("  Canonicaliser, no rule on: parse, canonical, 2 MD5", canonical, corpus.urls.size(), parse);
  report("  Canonicaliser, rules on: the same", joined, corpus.urls.size(), parse);
  std::printf("%-52s %12s   %s\n", "a link (navigation)", "", "ratio to ours");
  report("  stream extractor", links, found, links);
  report("  gumbo 0.10: tree, then its links", gumbo, found, links);
  report("  stream extractor, every kind of link looked for", chosen, found, links);
  return sink == 0 ? 1 : 0;
}
