#include "tests/sim/fake_web.h"

#include <charconv>
#include <deque>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

constexpr std::string_view scheme = "http://";
constexpr std::string_view robots_path = "/robots.txt";
constexpr std::string_view moved_robots_path = "/other/robots.txt";
constexpr std::string_view sitemap_path = "/map";  // and the number of the host whose pages it lists
constexpr std::uint32_t listed_pages = 3;
constexpr std::uint32_t unlinked_pages = 50;  // from here on, after all pages that the host links
constexpr std::string_view form_mark = "?v=";
constexpr std::uint32_t forms_without_end = 1000;
constexpr std::string_view bad_port = ":25";  // SMTP

// The number after the last such letter of "/private/p12" or "h3"; nothing when there is no number.
std::optional<std::uint32_t> number_after(std::string_view text, char letter) {
  const std::size_t at = text.rfind(letter);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint32_t host_number(std::string_view host) {
  return number_after(host.substr(0, host.find('.')), 'h').value_or(0);
}

}  // namespace

std::string_view host_in(std::string_view url) {
  url.remove_prefix(scheme.size());
  return url.substr(0, url.find_first_of(":/"));
}

std::string base_of(std::string_view url) { return std::string(url.substr(0, url.find(form_mark))); }

bool has_bad_port(std::string_view url) {
  return url.substr(scheme.size() + host_in(url).size()).starts_with(bad_port);
}

std::string_view path_in(std::string_view url) {
  url.remove_prefix(scheme.size());
  return url.substr(url.find('/'));
}

std::string FakeWeb::host_name(std::uint32_t host) const {
  const std::string name = "h" + std::to_string(host);
  if (host < config_.drip_hosts)
    return name + (config_.drip_one_domain ? ".drip" : ".drip" + std::to_string(host)) + ".example";
  return name + ".sim" + (config_.domains == 0 ? "" : std::to_string(host % config_.domains)) + ".example";
}

bool FakeWeb::drips(std::string_view host) const { return host_number(host) < config_.drip_hosts; }

std::uint32_t FakeWeb::original_of(std::uint32_t host) const {
  const std::uint32_t first = config_.hosts - config_.mirrors;
  return config_.mirrors > 0 && host >= first ? host - first : host;
}

bool FakeWeb::mirrored(std::string_view host) const {
  const std::uint32_t number = host_number(host);
  return number < config_.mirrors || original_of(number) != number;
}

std::uint32_t FakeWeb::pages_of(std::uint32_t host) const {
  const std::uint32_t most = config_.pages_per_host;
  return 1 + static_cast<std::uint32_t>(hash_of(config_.seed, "pages" + std::to_string(original_of(host))) % most);
}

std::string FakeWeb::original_url(const std::string& url) const {
  const std::uint32_t host = host_number(host_in(url));
  const std::uint32_t original = original_of(host);
  return original == host ? url : std::string(scheme) + host_name(original) + std::string(path_in(url));
}

std::string FakeWeb::unlinked_url(std::uint32_t host, std::uint32_t number) const {
  return page_url(host, pages_of(host) + unlinked_pages + number);
}

std::string FakeWeb::address_of(std::string_view host) const {
  const std::uint64_t hash = hash_of(config_.seed, "address" + std::string(host));
  if (!config_.drip_one_domain && drips(host)) return {10, 99, 99, static_cast<char>(hash % 8)};
  const std::uint64_t number = config_.addresses > 0 ? hash % config_.addresses : hash % 0xffffff;
  return {10, static_cast<char>(number >> 16), static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::string FakeWeb::page_url(std::uint32_t host, std::uint32_t page) const {
  const std::string name = std::string(scheme) + host_name(host);
  const std::uint32_t original = original_of(host);
  const std::string known_as = original == host ? name : std::string(scheme) + host_name(original);
  const bool hidden = page != 0 && hash_of(config_.seed, known_as + std::to_string(page)) % 8 == 0;
  return name + (hidden ? "/private/p" : "/p") + std::to_string(page);
}

bool FakeWeb::dead(std::string_view host) const {
  return hash_of(config_.seed, "dead" + std::string(host)) % 1000 < config_.dead_hosts;
}

RobotsFile FakeWeb::robots_of(std::string_view host) const {
  const std::uint64_t kind = hash_of(config_.seed, "robots" + std::string(host)) % 16;
  if (config_.robots_redirects && kind >= 9 && kind < 9 + config_.moved_robots) return RobotsFile::moved;
  switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3:
      return RobotsFile::rules;
    case 4:
    case 5:
      return RobotsFile::crawl_delay;
    case 6:
      return RobotsFile::disallow_all;
    case 7:
      return RobotsFile::unavailable;
    case 8:
      return RobotsFile::flaky;
    case 9:
      return RobotsFile::rules;
    default:
      return RobotsFile::missing;
  }
}

std::optional<std::string> FakeWeb::sitemap_of(std::string_view host) const {
  const RobotsFile file = robots_of(host);
  if (!config_.sitemaps || dead(host) || (file != RobotsFile::rules && file != RobotsFile::crawl_delay)) return {};
  const std::uint32_t number = host_number(host);
  return std::string(scheme) + host_name((number + 1) % config_.hosts) + std::string(sitemap_path) +
         std::to_string(number);
}

Duration FakeWeb::crawl_delay(std::string_view host) const {
  if (robots_of(host) != RobotsFile::crawl_delay) return {};
  return std::chrono::seconds{1 + hash_of(config_.seed, "wait" + std::string(host)) % 3};
}

bool FakeWeb::kills(const std::string& url) const {
  return config_.killers > 0 && hash_of(config_.seed, "kills" + base_of(url)) % 1000 < config_.killers;
}

bool FakeWeb::listed(std::string_view url) const {
  const std::uint32_t of = pages_of(host_number(host_in(url)));
  const auto page = number_after(path_in(url), 'p');
  return config_.sitemaps && page && *page >= of && *page < of + listed_pages;
}

bool FakeWeb::disallowed(std::string_view url) const {
  switch (robots_of(host_in(url))) {
    case RobotsFile::rules:
    case RobotsFile::moved:
      return path_in(url).starts_with("/private/");
    case RobotsFile::disallow_all:
    case RobotsFile::unavailable:
      return true;
    case RobotsFile::missing:
    case RobotsFile::crawl_delay:
    case RobotsFile::flaky:
      break;
  }
  return false;
}

// The tree of page n (to 2n+1 and 2n+2) reaches most of a host; further links are random.
std::vector<std::string> FakeWeb::links_of(const std::string& url) const {
  const std::uint32_t host = host_number(host_in(url));
  const std::uint32_t page = number_after(path_in(url), 'p').value_or(0);
  std::vector<std::string> links;
  if (config_.chain) {
    if (host + 1 < config_.hosts) links.push_back(page_url(host + 1, 0));
    return links;
  }
  for (const std::uint32_t child : {2 * page + 1, 2 * page + 2})
    if (child < pages_of(host)) links.push_back(page_url(host, child));
  Random random(hash_of(config_.seed, original_url(url)));
  for (std::uint64_t left = random.below(config_.links_per_page + 1); left > 0; --left) {
    const bool away = random.chance(config_.away);
    const std::uint32_t to = away ? static_cast<std::uint32_t>(random.below(config_.hosts)) : host;
    links.push_back(page_url(to, static_cast<std::uint32_t>(random.below(pages_of(to)))));
  }
  if (host < config_.long_pages && page == 0) add_many_links(url, links);
  return links;
}

// Links to a port that no crawler connects to: they cost one record each and no request.
void FakeWeb::add_many_links(const std::string& url, std::vector<std::string>& links) const {
  const std::string there = std::string(scheme) + std::string(host_in(url)) + std::string(bad_port) + "/x";
  const std::uint64_t many = 1001 + hash_of(config_.seed, "many" + url) % 2000;
  for (std::uint64_t i = 0; i < many; ++i) links.push_back(there + std::to_string(i));
}

// A request for the URL is redirected through this many forms of it, one after the other; 0: it has only one.
std::uint32_t FakeWeb::forms_of(const std::string& url) const {
  const std::uint64_t hash = hash_of(config_.seed, "detour" + url);
  if (hash % 1000 >= config_.canonical_redirects) return 0;
  const auto forms = static_cast<std::uint32_t>(hash / 1000 % 16);
  return forms == 0 ? forms_without_end : 1 + forms % 3;
}

std::string FakeWeb::host_of_moved_robots(std::string_view host) const {
  if (!config_.robots_elsewhere) return std::string(host);
  for (std::uint32_t next = 1; next < config_.hosts; ++next)
    if (std::string other = host_name((host_number(host) + next) % config_.hosts); !dead(other)) return other;
  return std::string(host);
}

void FakeWeb::robots_answer(std::string_view host, std::string_view path, std::uint32_t tries, Answer& answer) const {
  answer.status = 200;
  if (const auto sitemap = sitemap_of(host)) answer.robots_body = "Sitemap: " + *sitemap + "\n";
  switch (robots_of(host)) {
    case RobotsFile::missing:
      answer.status = 404;
      return;
    case RobotsFile::rules:
      answer.robots_body += "User-agent: *\nDisallow: /private/\n";
      // Too long for the core: a worker parses it when it is read from the store.
      if (host_number(host) % 4 == 1) answer.robots_body += "#" + std::string(20'000, '-') + "\n";
      return;
    case RobotsFile::crawl_delay:
      answer.robots_body +=
          "User-agent: *\nCrawl-delay: " + std::to_string(crawl_delay(host) / std::chrono::seconds{1}) + "\n";
      return;
    case RobotsFile::disallow_all:
      answer.robots_body = "User-agent: *\nDisallow: /\n";
      return;
    case RobotsFile::unavailable:
      answer.status = 503;
      answer.may_pass = true;
      return;
    case RobotsFile::flaky:
      if (tries < config_.flaky_tries) {
        answer.status = 503;
        answer.may_pass = true;
      } else {
        answer.robots_body = "User-agent: *\nDisallow:\n";
      }
      return;
    case RobotsFile::moved:
      if (path == robots_path) {
        answer.status = 301;
        answer.redirect = std::string(scheme) + host_of_moved_robots(host) + std::string(moved_robots_path);
      } else {
        answer.robots_body = "User-agent: *\nDisallow: /private/\n";
      }
      return;
  }
}

void FakeWeb::page_answer(const std::string& url, std::uint32_t tries, Answer& answer) const {
  Random random(hash_of(config_.seed + 1, original_url(url)));
  const std::uint64_t lot = random.below(1000);
  answer.status = 200;
  std::uint64_t below = config_.redirects;
  if (lot < below) {
    answer.status = random.chance(500) ? 301 : 302;
    const auto host =
        random.chance(500) ? host_number(host_in(url)) : static_cast<std::uint32_t>(random.below(config_.hosts));
    answer.redirect = page_url(host, static_cast<std::uint32_t>(random.below(pages_of(host))));
    return;
  }
  if (lot < (below += config_.gone)) {
    answer.status = 404;
    answer.links = links_of(url);  // a crawler that follows an error page's links reaches pages that it should not
    return;
  }
  if (lot < (below += config_.failing)) {
    answer.may_pass = true;
    if (random.chance(500)) {
      answer.error = FetchError::broken;
    } else {
      answer.status = 500;
    }
    return;
  }
  const std::uint64_t fails = config_.flaky_tries == 0 ? 0 : random.between(1, config_.flaky_tries);
  if (lot < below + config_.flaky && tries < fails) {
    answer.may_pass = true;
    if (random.chance(300)) {
      answer.error = FetchError::broken;
    } else {
      answer.status = 503;
      if (random.chance(500)) answer.retry_after = std::chrono::seconds{random.between(1, 9)};
    }
    return;
  }
  answer.links = links_of(url);
  if (config_.mirrors > 0 || config_.copies > 0) {
    const std::string original = original_url(url);
    const bool copy = hash_of(config_.seed, "copy" + original) % 1000 < config_.copies;
    answer.content = hash_of(config_.seed, "body" + (copy ? std::string(host_in(original)) : original)) | 1;
  }
  if (const std::uint64_t hash = hash_of(config_.seed, "validator" + url); hash % 1000 < config_.validators)
    answer.validator = "e" + std::to_string(hash);
}

Answer FakeWeb::answer(const std::string& url, std::uint32_t tries) const {
  Answer answer;
  const std::string_view host = host_in(url);
  const std::string_view path = path_in(url);
  Random random(hash_of(config_.seed + 2, url + std::to_string(tries)));
  const bool slow = hash_of(config_.seed, "slow" + std::string(host)) % 1000 < config_.slow_hosts;
  answer.takes = random.between(config_.answer_min, slow ? config_.max_slow : config_.max_answer);
  if (drips(host)) answer.takes = config_.drip;
  if (dead(host)) {
    answer.error = random.chance(500) ? FetchError::connect : FetchError::timeout;
    answer.may_pass = true;
  } else if (path == moved_robots_path && config_.robots_elsewhere) {
    answer.status = 200;
    answer.robots_body = "User-agent: *\nDisallow: /private/\n";
  } else if (path == robots_path || path == moved_robots_path) {
    robots_answer(host, path, tries, answer);
  } else if (path.starts_with(sitemap_path)) {
    const std::uint32_t of = number_after(path, 'p').value_or(0);
    answer.status = 200;
    for (std::uint32_t i = 0; i < listed_pages; ++i) answer.links.push_back(page_url(of, pages_of(of) + i));
  } else {
    const std::string base = base_of(url);
    const auto form = base == url ? 0u : number_after(url, '=').value_or(0);
    if (form < forms_of(base)) {
      answer.status = 301;
      answer.canonical_redirect = base + std::string(form_mark) + std::to_string(form + 1);
      answer.may_pass = true;  // the next form to ask for is known in memory only
    } else {
      page_answer(base, tries, answer);
    }
  }
  if (answer.error != FetchError::none) answer.status = 0;
  return answer;
}

Answer last_answer(const FakeWeb& web, const std::string& url) {
  const std::uint32_t max_redirects = default_settings().max_redirects;
  Answer answer = web.answer(url, web.config().flaky_tries);
  for (std::uint32_t hops = 0; answer.canonical_redirect && hops < max_redirects; ++hops)
    answer = web.answer(*answer.canonical_redirect, web.config().flaky_tries);
  return answer;
}

Walk walk(const FakeWeb& web, const std::vector<std::string>& seeds, const std::set<std::string>& hosts_in_scope,
          bool robots) {
  Walk walk;
  std::deque<std::string> waiting;
  std::set<std::string> known;
  const auto admit = [&](const std::string& url) {
    if (!hosts_in_scope.empty() && !hosts_in_scope.contains(std::string(host_in(url)))) return;
    if (known.insert(url).second) waiting.push_back(url);
  };
  const auto in_scope = [&](const std::string& url) {
    return hosts_in_scope.empty() || hosts_in_scope.contains(std::string(host_in(url)));
  };
  for (const std::string& seed : seeds) admit(seed);
  for (; !waiting.empty(); waiting.pop_front()) {
    const std::string url = waiting.front();
    if (has_bad_port(url)) {
      walk.not_fetched.insert(url);
      continue;
    }
    // A host in scope names its sitemap.
    if (robots && in_scope(url))
      if (const auto sitemap = web.sitemap_of(host_in(url)); sitemap && known.insert(*sitemap).second)
        waiting.push_back(*sitemap);
    const Answer answer = last_answer(web, url);
    const bool deadly = web.kills(url) && answer.status == 200;
    const bool excluded = (robots && web.disallowed(url)) || deadly || answer.canonical_redirect;
    if (excluded || answer.error != FetchError::none || answer.status >= 400) {
      walk.not_fetched.insert(url);
      continue;
    }
    walk.fetched.insert(url);
    for (const std::string& link : answer.links) admit(link);
    if (answer.redirect) admit(*answer.redirect);
  }
  return walk;
}

}  // namespace orbweaver::sim
