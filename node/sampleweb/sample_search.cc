#include "node/sampleweb/sample_search.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "node/sampleweb/sample_page.h"
#include "node/sampleweb/sample_random.h"
#include "node/sampleweb/sample_text.h"
#include "node/url/percent_encode.h"

namespace orbweaver::sample {

namespace {

constexpr std::string_view html_type = "text/html; charset=utf-8";

// The value of a query's parameter, decoded; empty when it has none.
std::string parameter(std::string_view path_and_query, std::string_view name) {
  std::size_t at = path_and_query.find('?');
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(path_and_query.find('&', at + 1), path_and_query.size());
    const std::string_view pair = path_and_query.substr(at + 1, end - at - 1);
    if (pair.starts_with(name) && pair.size() > name.size() && pair[name.size()] == '=') {
      std::string value(pair.substr(name.size() + 1));
      std::replace(value.begin(), value.end(), '+', ' ');
      return url_text::percent_decode(value);
    }
    at = end == path_and_query.size() ? std::string_view::npos : end;
  }
  return {};
}

std::uint64_t number(const std::string& text, std::uint64_t otherwise) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value > 0 ? value : otherwise;
}

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (url_text::is(c, url_text::unreserved)) {
      out.push_back(c);
    } else {
      url_text::append_escape(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

void append_words(std::string& out, std::string_view text) {
  if (out.empty()) out.push_back(' ');
  bool word = false;
  for (const char c : text) {
    const char lower = url_text::ascii_lower(c);
    if (url_text::is_ascii_alpha(lower) || url_text::is_ascii_digit(lower)) {
      out.push_back(lower);
      word = true;
    } else if (std::exchange(word, false)) {
      out.push_back(' ');
    }
  }
  if (word) out.push_back(' ');
}

// The text between the tags, from `at` on; `at` moves past it.
std::string_view between(std::string_view html, std::string_view open, std::string_view close, std::size_t& at) {
  const std::size_t begin = html.find(open, at);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = std::min(html.find(close, begin), html.size());
  at = end;
  return html.substr(begin + open.size(), end - begin - open.size());
}

SampleAnswer html_answer(std::string body) {
  SampleAnswer out;
  out.content_type = html_type;
  out.body = std::move(body);
  return out;
}

}  // namespace

const std::vector<SampleSearch::Entry>& SampleSearch::index() const {
  const std::lock_guard lock(mutex_);
  if (!index_.empty()) return index_;
  for (unsigned page = 0, added = 1; added > 0 && index_.size() < max_indexed_pages; ++page) {
    added = 0;
    for (unsigned host = 0; host < web_.hosts() && index_.size() < max_indexed_pages; ++host) {
      if (page >= web_.pages(host)) continue;
      ++added;
      const std::string html = page_html(web_, host, page);
      std::size_t at = 0;
      Entry entry;
      entry.url = web_.url(host, web_.page_path(host, page));
      entry.title = between(html, "<title>", "</title>", at);
      append_words(entry.text, entry.title);
      for (const auto& [open, close] : {std::pair("<h1>", "</h1>"), {"<h2>", "</h2>"}}) {
        for (std::size_t from = at;;) {
          const std::string_view heading = between(html, open, close, from);
          if (heading.empty()) break;
          entry.text += "| ";
          append_words(entry.text, heading);
        }
      }
      index_.push_back(std::move(entry));
    }
  }
  return index_;
}

std::vector<const SampleSearch::Entry*> SampleSearch::hits(std::string_view words) const {
  std::vector<std::string> wanted;
  for (bool quoted = false; !words.empty(); quoted = !quoted) {
    const std::size_t end = std::min(words.find('"'), words.size());
    std::string text;
    append_words(text, words.substr(0, end));
    if (quoted && text.size() > 1) wanted.push_back(text);
    for (std::size_t at = 1; !quoted && at < text.size();) {
      const std::size_t space = text.find(' ', at);
      wanted.push_back(text.substr(at - 1, space - at + 2));
      at = space + 1;
    }
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  std::vector<const Entry*> found;
  if (wanted.empty()) return found;
  for (const Entry& entry : index())
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const std::string& word) { return entry.text.find(word) != std::string::npos; }))
      found.push_back(&entry);
  return found;
}

std::vector<std::string> SampleSearch::find(std::string_view words) const {
  std::vector<std::string> urls;
  for (const Entry* entry : hits(words)) urls.push_back(entry->url);
  return urls;
}

std::string SampleSearch::results_page(std::string_view path, std::string_view words, std::uint64_t first) const {
  const std::vector<const Entry*> found = hits(words);
  const bool counts_clicks = path == "/go";
  std::string shown;
  append_attribute(shown, words);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>" + shown + " - Findall</title></head>\n<body>\n";
  out +=
      "<div id=\"top\"><a href=\"/\">Findall</a> <a href=\"/settings\">Settings</a> "
      "<a href=\"http://help.findall.test/\">Help</a></div>\n";
  // An advert: it leads to the sample web, but is not a result.
  out += "<div class=\"result sponsored\"><a class=\"title\" href=\"" + web_.url(0, "/advert/1") + "\">Buy " + shown +
         "</a></div>\n<ol id=\"results\">\n";
  for (std::uint64_t i = first - 1; i < found.size() && i < first - 1 + results_a_page; ++i) {
    const Entry& entry = *found[i];
    const std::string link = counts_clicks ? "/out?to=" + encoded(entry.url) + "&rank=" + std::to_string(i) : entry.url;
    out += "<li class=\"web result\"><h3><a class=\"title\" href=\"";
    append_attribute(out, link);
    out += "\">" + entry.title + "</a></h3>\n<p class=\"snippet\">" + entry.text + " <a class=\"more\" href=\"";
    append_attribute(out, "/cached?url=" + encoded(entry.url));
    out += "\">Cached</a>\n";
  }
  out += "</ol>\n<nav>";
  for (std::uint64_t page = 0; page * results_a_page < found.size(); ++page) {
    append_attribute(out += "<a href=\"",
                     std::string(path) + "?q=" + encoded(words) + "&page=" + std::to_string(page + 1));
    out += "\">" + std::to_string(page + 1) + "</a> ";
  }
  out += "</nav>\n<p id=\"count\">" + std::to_string(found.size()) + " results</p>\n";
  out += "<div class=\"adverts\"><a href=\"" + web_.url(0, "/advert/2") + "\">Advertise here</a></div></body></html>\n";
  return out;
}

SampleAnswer SampleSearch::answer(std::string_view path_and_query) const {
  const std::string_view path = path_and_query.substr(0, path_and_query.find('?'));
  if (path == "/robots.txt") {
    SampleAnswer out;
    out.content_type = "text/plain";
    out.body = "User-agent: *\nDisallow: /private/\n";
    return out;
  }
  if (path == "/search" || path == "/go" || path == "/private/search") {
    const std::uint64_t page = std::min<std::uint64_t>(number(parameter(path_and_query, "page"), 1), 1'000'000);
    const std::uint64_t start = number(parameter(path_and_query, "start"), (page - 1) * results_a_page + 1);
    return html_answer(results_page(path, parameter(path_and_query, "q"), std::min<std::uint64_t>(start, 100'000'000)));
  }
  if (path == "/out") {
    SampleAnswer out = html_answer("<!DOCTYPE html><title>Moved</title>");
    out.status = 302;
    std::string target = parameter(path_and_query, "to");
    std::erase_if(target, [](char c) { return static_cast<unsigned char>(c) < ' '; });
    out.headers.emplace_back("Location", target);
    return out;
  }
  if (path == "/")
    return html_answer(
        "<!DOCTYPE html><title>Findall</title><form action=\"/search\"><input name=\"q\"></form>"
        "<p><a href=\"/about\">About</a></p>\n");
  SampleAnswer out = html_answer("<!DOCTYPE html><title>Not here</title>");
  out.status = 404;
  return out;
}

}  // namespace orbweaver::sample
