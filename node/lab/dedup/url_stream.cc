#include "node/lab/dedup/url_stream.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <istream>

#include "node/errors/storage_error.h"
#include "node/lab/progress.h"
#include "node/terminal/json_line.h"
#include "node/url/canonical_url.h"
#include "storage/link_trace.h"

namespace orbweaver {

namespace {

constexpr std::size_t first_slots = 1024;
constexpr std::uint64_t max_streams = 0xfffffffe;  // different URLs, by the width of a number

// SplitMix64 (Steele, Lea, Flood 2014): the whole generator is one number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  double share() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
  // A number below n, lower ones more likely: half of all are below n/8.
  std::uint64_t skewed(std::uint64_t n) {
    const double share_now = share();
    return static_cast<std::uint64_t>(share_now * share_now * share_now * static_cast<double>(n));
  }

 private:
  std::uint64_t state_;
};

constexpr std::string_view words[] = {
    "about",  "archive",  "article", "blog",   "book",    "catalog", "city",   "company", "culture", "data",
    "docs",   "events",   "family",  "forum",  "gallery", "garden",  "guide",  "health",  "history", "house",
    "images", "index",    "island",  "jobs",   "kitchen", "library", "local",  "market",  "media",   "music",
    "nature", "news",     "notes",   "office", "open",    "papers",  "people", "photo",   "press",   "product",
    "public", "radio",    "region",  "report", "review",  "river",   "school", "science", "search",  "service",
    "shop",   "software", "sport",   "spring", "status",  "stories", "studio", "support", "topics",  "travel",
    "video",  "water",    "winter",  "world"};
constexpr std::string_view tops[] = {"com", "org", "net", "de", "co.uk", "fr", "edu", "info"};

void append_word(std::string& out, std::uint64_t number) { out += words[number % std::size(words)]; }

// The host name for a number: two words, the number, a top-level domain.
void append_host(std::string& out, std::uint64_t host) {
  Random random(host);
  out += random.below(4) == 0 ? "http://" : "https://";
  if (random.below(2) == 0) out += "www.";
  append_word(out, random.next());
  append_word(out, random.next());
  out += std::to_string(host);
  out += '.';
  out += tops[random.below(std::size(tops))];
  out += '/';
}

std::string generated_url(Random& random, std::uint64_t hosts, std::uint64_t number) {
  std::string url;
  const std::uint64_t host = random.skewed(hosts);
  append_host(url, host);
  std::uint64_t level = host;
  for (std::uint64_t depth = random.below(6); depth > 0; --depth) {
    level = level * 8 + random.below(8);
    append_word(url, Random(level).next());
    url += '/';
  }
  if (random.below(16) == 0) return url;
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
    append_word(url, random.next());
    url += '-';
  }
  url += std::to_string(number);
  const std::uint64_t ending = random.below(4);
  if (ending < 2) url += ".html";
  if (ending == 2) url += "?page=" + std::to_string(random.below(40));
  return url;
}

std::string wrong_with(std::string_view url) {
  if (url.size() > max_url_bytes)
    return "a URL of " + std::to_string(url.size()) + " bytes; the longest is " + std::to_string(max_url_bytes);
  const std::size_t host = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  if (host == 0) return "no URL: it begins with neither http:// nor https://";
  if (host == url.size() || url.find_first_of("/?#", host) == host) return "no URL: it has no host";
  const auto bad = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (std::any_of(url.begin(), url.end(), bad)) return "no URL: a space or control character is in it";
  return {};
}

}  // namespace

std::uint64_t UrlStream::checks_for(std::uint64_t urls) const {
  const auto end =
      std::find_if(checks_.begin(), checks_.end(), [urls](std::uint32_t number) { return number >= urls; });
  return static_cast<std::uint64_t>(end - checks_.begin());
}

std::size_t UrlStream::slot_of(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(text) & mask;
  while (slots_[slot] != 0 && url(slots_[slot] - 1) != text) slot = (slot + 1) & mask;
  return slot;
}

void UrlStream::grow() {
  slots_.assign(std::max(first_slots, slots_.size() * 2), 0);
  for (std::uint32_t number = 0; number < different(); ++number) slots_[slot_of(url(number))] = number + 1;
}

bool UrlStream::add(std::string_view text) {
  if (different() * 2 >= slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(text)];
  if (slot != 0) {
    checks_.push_back(slot - 1);
    return false;
  }
  checks_.push_back(static_cast<std::uint32_t>(different()));
  text_ += text;
  begins_.push_back(text_.size());
  slot = static_cast<std::uint32_t>(different());
  return true;
}

void UrlStream::complete() { std::vector<std::uint32_t>().swap(slots_); }

Result<UrlStream> read_url_stream(std::istream& in, const std::string& name) {
  UrlStream stream;
  Progress progress("reading " + name);
  std::uint64_t number = 0;
  const auto wrong = [&](const std::string& cause) {
    return fail(ErrorCode::invalid_input, name + ":" + std::to_string(number) + ": " + cause);
  };
  // Spaces around a URL do not count for its length.
  constexpr std::size_t max_line_bytes = 2 * max_url_bytes;
  for (std::string line; read_line(in, line, max_line_bytes);) {
    progress.at(++number);
    if (line.size() > max_line_bytes)
      return wrong("a line of more than " + std::to_string(max_line_bytes) + " bytes; is this a file of URLs?");
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    const std::string_view url = std::string_view(line).substr(first, line.find_last_not_of(" \t\r") - first + 1);
    if (const std::string cause = wrong_with(url); !cause.empty()) return wrong(cause);
    if (stream.different() == max_streams) return wrong("more different URLs than can be numbered");
    stream.add(url);
  }
  if (in.bad()) return fail(ErrorCode::io, "reading " + name + " failed");
  if (stream.different() == 0) return fail(ErrorCode::invalid_input, name + " has no URL in it");
  stream.complete();
  return stream;
}

Result<UrlStream> read_trace_stream(const std::vector<std::string>& paths) {
  const auto files = storage::link_trace_files(paths);
  if (!files) return fail(ErrorCode::invalid_input, files.error().message);
  UrlStream stream;
  Progress progress("reading the trace");
  std::uint64_t links = 0;
  storage::TracePage page;
  for (const std::string& file : *files) {
    auto reader = storage::LinkTraceReader::open(file);
    if (!reader) return tl::make_unexpected(error_of_input(reader.error()));
    while (true) {
      const auto more = reader->next(page);
      if (!more) return tl::make_unexpected(error_of_input(more.error()));
      if (!*more) break;
      for (const storage::TraceLink& link : page.links) {
        progress.at(++links);
        if (stream.different() == max_streams)
          return fail(ErrorCode::invalid_input, file + ": more different URLs than can be numbered");
        stream.add(link.url);
      }
    }
  }
  if (links == 0) return fail(ErrorCode::invalid_input, paths.front() + " has no link in it");
  stream.complete();
  return stream;
}

UrlStream generate_url_stream(const UrlGenerator& generator) {
  constexpr std::uint64_t lately = 1000;
  UrlStream stream;
  Random random(generator.seed);
  const std::uint64_t hosts = generator.urls / 50 + 1;
  Progress progress("making URLs", generator.urls);
  for (std::uint64_t number = 0; stream.different() < generator.urls;) {
    const std::uint64_t known = stream.different();
    progress.at(known);
    if (known > 0 && random.share() < generator.repeats) {
      const std::uint64_t back = random.below(std::min(known, lately));
      stream.repeat(static_cast<std::uint32_t>(random.below(2) == 0 ? known - 1 - back : random.skewed(known)));
      continue;
    }
    // A URL that was made before counts as a repeat.
    stream.add(generated_url(random, hosts, number++));
  }
  stream.complete();
  return stream;
}

std::uint64_t generated_bytes(const UrlGenerator& generator) {
  const double checks = static_cast<double>(generator.urls) / (1 - std::min(generator.repeats, 0.95)) * 1.1;
  // Vectors and the text double as they grow: their content, and half of it again.
  return static_cast<std::uint64_t>(3 * checks * 4) + generator.urls * (3 * 70 + 3 * 8) +
         std::bit_ceil(std::max<std::uint64_t>(generator.urls, 1)) * 4 * 4;
}

}  // namespace orbweaver
