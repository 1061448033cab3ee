// Compares the two link extractors over real pages: parser_agreement [--show N] DIRECTORY…
// Reads every .html and .htm file below, prints the times, and counts the differences by class (docs/inside/parsers.md
// explains each). Exit code: 0 when every difference has a class, 1 when one has none, 2 when there was nothing to
// read.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "node/charset/charset.h"
#include "node/html/links.h"

namespace {

using orbweaver::DecodedText;
using orbweaver::PageLinks;
using orbweaver::Url;

struct Page {
  std::string path;
  std::string html;  // in lower case, for the classes to search
  std::set<std::string> stream;
  std::set<std::string> tidy;
};

bool has(const Page& page, std::string_view text) { return page.html.find(text) != std::string::npos; }

bool has_any(const Page& page, std::initializer_list<std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) { return has(page, text); });
}

std::size_t count_of(const Page& page, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = page.html.find(text); at != std::string::npos; at = page.html.find(text, at + text.size()))
    ++count;
  return count;
}

bool has_comment_in_a_script(const Page& page) {
  for (std::size_t at = page.html.find("<script"); at != std::string::npos; at = page.html.find("<script", at + 1)) {
    const std::size_t end = page.html.find("</script", at);
    if (page.html.find("<!--", at) < end) return true;
  }
  return false;
}

// A class of difference: the content that makes tidy read a page otherwise than the standard says.
struct Class {
  const char* name;
  bool (*holds)(const Page&);
};

// In the order of docs/inside/parsers.md; the first class that matches is the page's.
const Class classes[] = {
    {"nul characters", [](const Page& page) { return page.html.find('\0') != std::string::npos; }},
    {"framesets", [](const Page& page) { return has(page, "<frameset"); }},
    {"foreign content",
     [](const Page& page) {
       return has_any(page, {"<svg", "<math"});
     }},
    {"templates", [](const Page& page) { return has(page, "<template"); }},
    {"selects",
     [](const Page& page) {
       return has_any(page, {"<select", "<option", "<menuitem"});
     }},
    {"old raw text",
     [](const Page& page) {
       return has_any(page, {"<plaintext", "<xmp", "<noembed", "<iframe", "<noframes"});
     }},
    {"escaped scripts", has_comment_in_a_script},
    {"unclosed raw text",
     [](const Page& page) {
       for (const std::string element : {"title", "textarea", "style", "script"}) {
         if (count_of(page, "<" + element) > count_of(page, "</" + element + ">")) return true;
       }
       return false;
     }},
    {"odd comments",
     [](const Page& page) {
       return has_any(page, {"<!-->", "<!--->", "--!>", "<?"}) || count_of(page, "<!--") > count_of(page, "-->");
     }},
    {"markup cut off", [](const Page& page) { return page.html.rfind('<') + 1 > page.html.rfind('>') + 1; }},
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// The CPU time of this thread: other work on the machine does not count.
std::chrono::nanoseconds cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> urls_of(const PageLinks& links, const Url& document, const orbweaver::QueryEncoder* encoder) {
  std::set<std::string> urls;
  for (const auto& url : resolve_links(links, document, encoder).urls) urls.insert(url.text());
  return urls;
}

class Comparison {
 public:
  explicit Comparison(std::size_t show) : show_(show) {}

  void add(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    const auto document = Url::parse("http://docs.test" + path.string());
    if (!document) return;
    DecodedText text;
    decode_html(bytes, "", text);
    const auto encoder = orbweaver::make_query_encoder(text.charset);
    const auto begin = cpu_time();
    const PageLinks by_stream = stream_->extract(text.utf8);
    const auto middle = cpu_time();
    const PageLinks by_tidy = tidy_->extract(text.utf8);
    tidy_time_ += cpu_time() - middle;
    stream_time_ += middle - begin;
    ++pages_;
    bytes_ += bytes.size();
    Page page{
        path.string(), {}, urls_of(by_stream, *document, encoder.get()), urls_of(by_tidy, *document, encoder.get())};
    links_ += page.stream.size();
    compare(page, text.utf8);
  }

  int report() const {
    if (pages_ == 0) {
      std::fprintf(stderr, "parser_agreement: no .html file found\n");
      return 2;
    }
    const auto per_page = [this](std::chrono::duration<double, std::milli> time) {
      return time.count() / static_cast<double>(pages_);
    };
    std::printf("%zu pages, %.1f KB each, %zu links; CPU time a page: %.4f ms by stream, %.4f ms by tidy\n", pages_,
                static_cast<double>(bytes_) / 1000 / static_cast<double>(pages_), links_, per_page(stream_time_),
                per_page(tidy_time_));
    std::printf("pages with the same links: %zu\n", pages_ - differing_pages_);
    for (const auto& [name, count] : counts_) std::printf("%8zu links  %s\n", count, name.c_str());
    return counts_.contains("unexplained") ? 1 : 0;
  }

 private:
  void compare(Page& page, std::string_view page_text) {
    if (page.stream == page.tidy) return;
    ++differing_pages_;
    page.html = lower_case(page_text);
    const auto* found =
        std::find_if(std::begin(classes), std::end(classes), [&](const Class& c) { return c.holds(page); });
    const std::string name = found != std::end(classes) ? found->name : "unexplained";
    for (const std::string& url : page.stream) {
      if (!page.tidy.contains(url)) count(name, page, url, "stream");
    }
    for (const std::string& url : page.tidy) {
      if (!page.stream.contains(url)) count(name, page, url, "tidy");
    }
  }

  void count(const std::string& name, const Page& page, const std::string& url, const char* parser) {
    if (++counts_[name] > show_) return;
    std::printf("%s: %s has %s by %s only\n", name.c_str(), page.path.c_str(), url.c_str(), parser);
  }

  std::size_t show_;
  std::unique_ptr<orbweaver::LinkExtractor> stream_ = orbweaver::make_stream_extractor();
  std::unique_ptr<orbweaver::LinkExtractor> tidy_ = orbweaver::make_tidy_extractor();
  std::chrono::nanoseconds stream_time_{0};
  std::chrono::nanoseconds tidy_time_{0};
  std::size_t pages_ = 0;
  std::size_t bytes_ = 0;
  std::size_t links_ = 0;
  std::size_t differing_pages_ = 0;
  std::map<std::string, std::size_t> counts_;
};

bool is_page(const std::filesystem::directory_entry& entry) {
  const std::string ending = entry.path().extension().string();
  return entry.is_regular_file() && (ending == ".html" || ending == ".htm");
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t show = 3;
  std::vector<std::filesystem::path> directories;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--show" && i + 1 < argc) {
      show = std::strtoul(argv[++i], nullptr, 10);
    } else {
      directories.emplace_back(argv[i]);
    }
  }
  std::vector<std::filesystem::path> files;
  for (const auto& directory : directories) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
      if (is_page(entry)) files.push_back(entry.path());
    }
    if (error) std::fprintf(stderr, "parser_agreement: %s: %s\n", directory.c_str(), error.message().c_str());
  }
  std::sort(files.begin(), files.end());
  Comparison comparison(show);
  for (const auto& file : files) comparison.add(file);
  return comparison.report();
}
