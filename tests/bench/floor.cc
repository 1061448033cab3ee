// The least that a crawl costs: libcurl's multi interface, a scanner for links, and a seen-set in RocksDB. One thread,
// one connection a host, no robots.txt, no politeness, no durability beyond RocksDB's own, nothing kept of a page.
// tests/bench/run sets other crawlers beside it.
//
//   bench_floor --store DIR URL…      crawls the hosts of these URLs to the end, over HTTP
//
// Prints one JSON line: pages (answers 200), requests, links, urls.
#include <curl/curl.h>
#include <rocksdb/db.h>
#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ring/md5.h"

namespace {

struct Host {
  CURL* handle = nullptr;
  std::string name;
  std::deque<std::string> queue;
  std::string url;   // being fetched
  std::string body;  // of it
  bool busy = false;
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "bench_floor: %s\n", why.c_str());
  std::exit(1);
}

std::size_t keep(char* bytes, std::size_t, std::size_t count, void* host) {
  static_cast<Host*>(host)->body.append(bytes, count);
  return count;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }

// The values of href (a, area) and src (frame, iframe), as they stand in the page but for &amp;.
void find_links(std::string_view page, std::vector<std::string>& links) {
  constexpr std::string_view tags[] = {"a", "area", "frame", "iframe"};
  for (std::size_t at = 0; (at = page.find('<', at)) != std::string_view::npos;) {
    if (page.substr(at, 4) == "<!--") {
      at = std::min(page.find("-->", at + 4), page.size());
      continue;
    }
    std::size_t end = ++at;
    while (end < page.size() && !is_space(page[end]) && page[end] != '>') ++end;
    const std::string_view name = page.substr(at, end - at);
    const std::size_t close = page.find('>', end);
    if (close == std::string_view::npos) return;
    const auto same = [&](std::string_view tag) {
      return tag.size() == name.size() && strncasecmp(tag.data(), name.data(), tag.size()) == 0;
    };
    const auto* const tag = std::find_if(std::begin(tags), std::end(tags), same);
    at = close;
    if (tag == std::end(tags)) continue;
    const std::string_view wanted = *tag == "a" || *tag == "area" ? "href" : "src";
    std::string_view rest = page.substr(end, close - end);
    for (std::size_t i = 0; i + wanted.size() < rest.size(); ++i) {
      if (!is_space(rest[i]) || strncasecmp(rest.data() + i + 1, wanted.data(), wanted.size()) != 0) continue;
      std::size_t from = i + 1 + wanted.size();
      while (from < rest.size() && is_space(rest[from])) ++from;
      if (from >= rest.size() || rest[from] != '=') continue;
      for (++from; from < rest.size() && is_space(rest[from]);) ++from;
      if (from >= rest.size()) break;
      std::size_t to = from;
      if (rest[from] == '"' || rest[from] == '\'') {
        to = std::min(rest.find(rest[from], from + 1), rest.size());
        ++from;
      } else {
        while (to < rest.size() && !is_space(rest[to])) ++to;
      }
      std::string link(rest.substr(from, to - from));
      for (std::size_t amp = 0; (amp = link.find("&amp;", amp)) != std::string::npos; ++amp) link.erase(amp + 1, 4);
      links.push_back(std::move(link));
      break;
    }
  }
}

// Adds what is new of the page's links to its hosts' queues.
class Crawl {
 public:
  explicit Crawl(const std::string& directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    if (const auto opened = rocksdb::DB::Open(options, directory, &db); !opened.ok()) stop(opened.ToString());
    seen_.reset(db);
  }

  void seed(const std::string& url) {
    CURLU* const parts = curl_url();
    if (curl_url_set(parts, CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) stop(url + " is no URL");
    Host& host = hosts_[part(parts, CURLUPART_HOST)];
    curl_url_cleanup(parts);
    if (host.handle == nullptr) {
      host.handle = curl_easy_init();
      curl_easy_setopt(host.handle, CURLOPT_PRIVATE, &host);
      curl_easy_setopt(host.handle, CURLOPT_WRITEFUNCTION, keep);
      curl_easy_setopt(host.handle, CURLOPT_WRITEDATA, &host);
      curl_easy_setopt(host.handle, CURLOPT_FOLLOWLOCATION, 0L);
      curl_easy_setopt(host.handle, CURLOPT_ACCEPT_ENCODING, "");
    }
    admit({url});
  }

  void run() {
    multi_ = curl_multi_init();
    for (auto& [name, host] : hosts_) begin(host);
    int running = 1;
    while (running > 0) {
      curl_multi_perform(multi_, &running);
      int left = 0;
      while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
        if (message->msg == CURLMSG_DONE) ended(message->easy_handle);
        running = 1;
      }
      if (running > 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
      if (std::none_of(hosts_.begin(), hosts_.end(), [](const auto& entry) { return entry.second.busy; })) break;
    }
    std::printf("{\"pages\":%zu,\"requests\":%zu,\"links\":%zu,\"urls\":%zu}\n", pages_, requests_, links_, urls_);
    for (auto& [name, host] : hosts_) curl_easy_cleanup(host.handle);
    curl_multi_cleanup(multi_);
  }

 private:
  static std::string part(CURLU* url, CURLUPart what) {
    char* text = nullptr;
    if (curl_url_get(url, what, &text, 0) != CURLUE_OK) return {};
    std::string found(text);
    curl_free(text);
    return found;
  }

  void begin(Host& host) {
    if (host.busy || host.queue.empty()) return;
    host.url = std::move(host.queue.front());
    host.queue.pop_front();
    host.body.clear();
    host.busy = true;
    ++requests_;
    curl_easy_setopt(host.handle, CURLOPT_URL, host.url.c_str());
    curl_multi_add_handle(multi_, host.handle);
  }

  void ended(CURL* handle) {
    void* owner = nullptr;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &owner);
    Host& host = *static_cast<Host*>(owner);
    long status = 0;
    char* type = nullptr;
    char* target = nullptr;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
    curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &target);
    std::vector<std::string> found;
    if (status == 200) ++pages_;
    if (status == 200 && type != nullptr && std::strstr(type, "html") != nullptr) find_links(host.body, found);
    if (target != nullptr) found.emplace_back(target);
    links_ += found.size();
    curl_multi_remove_handle(multi_, handle);
    host.busy = false;
    std::vector<std::string> absolute;
    CURLU* const base = curl_url();
    for (const std::string& link : found) {
      if (curl_url_set(base, CURLUPART_URL, host.url.c_str(), 0) != CURLUE_OK) break;
      if (curl_url_set(base, CURLUPART_URL, link.c_str(), 0) != CURLUE_OK) continue;
      curl_url_set(base, CURLUPART_FRAGMENT, nullptr, 0);
      absolute.push_back(part(base, CURLUPART_URL));
    }
    curl_url_cleanup(base);
    admit(std::move(absolute));
    begin(host);
  }

  void admit(std::vector<std::string> urls) {
    std::sort(urls.begin(), urls.end());
    urls.erase(std::unique(urls.begin(), urls.end()), urls.end());
    std::vector<std::pair<std::string, Host*>> wanted;
    std::vector<std::string> keys;
    CURLU* const parts = curl_url();
    for (std::string& url : urls) {
      if (curl_url_set(parts, CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) continue;
      if (part(parts, CURLUPART_SCHEME) != "http") continue;
      const auto host = hosts_.find(part(parts, CURLUPART_HOST));
      if (host == hosts_.end()) continue;
      const auto digest = orbweaver::ring::md5(url);
      keys.emplace_back(reinterpret_cast<const char*>(digest.data()), digest.size());
      wanted.emplace_back(std::move(url), &host->second);
    }
    curl_url_cleanup(parts);
    const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    const auto known = seen_->MultiGet({}, slices, &values);
    rocksdb::WriteBatch batch;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!known[i].IsNotFound()) continue;
      batch.Put(keys[i], wanted[i].first);
      wanted[i].second->queue.push_back(std::move(wanted[i].first));
      ++urls_;
      if (multi_ != nullptr) begin(*wanted[i].second);
    }
    if (const auto written = seen_->Write({}, &batch); !written.ok()) stop(written.ToString());
  }

  std::unique_ptr<rocksdb::DB> seen_;
  std::map<std::string, Host, std::less<>> hosts_;
  CURLM* multi_ = nullptr;
  std::size_t pages_ = 0;
  std::size_t requests_ = 0;
  std::size_t links_ = 0;
  std::size_t urls_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4 || std::strcmp(arguments[1], "--store") != 0) stop("usage: bench_floor --store DIR URL...");
  curl_global_init(CURL_GLOBAL_DEFAULT);
  Crawl crawl(arguments[2]);
  for (int i = 3; i < count; ++i) crawl.seed(arguments[i]);
  crawl.run();
  return 0;
}
