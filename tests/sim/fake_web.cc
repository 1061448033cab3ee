#include "tests/sim/fake_web.h"

#include <charconv>
#include <deque>

#include "tests/sim/random.h"

namespace orbweaver::sim {

namespace {

constexpr std::string_view scheme = "http://";
constexpr std::string_view robots_path = "/robots.txt";
constexpr std::string_view moved_robots_path = "/other/robots.txt";
constexpr std::string_view sitemap_path = "/map";  // and the number of the host whose pages it lists
constexpr std::uint32_t listed_pages = 3;

// The number behind the last letter of "/private/p12" or "h3"; none when there is none.
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
  return url.substr(0, url.find('/'));
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

std::uint32_t FakeWeb::pages_of(std::uint32_t host) const {
  const std::uint32_t most = config_.pages_per_host;
  return 1 + static_cast<std::uint32_t>(hash_of(config_.seed, "pages" + std::to_string(host)) % most);
}

std::string FakeWeb::address_of(std::string_view host) const {
  const std::uint64_t hash = hash_of(config_.seed, "address" + std::string(host));
  if (!config_.drip_one_domain && drips(host)) return {10, 99, 99, static_cast<char>(hash % 8)};
  const std::uint64_t number = config_.addresses > 0 ? hash % config_.addresses : hash % 0xffffff;
  return {10, static_cast<char>(number >> 16), static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::string FakeWeb::page_url(std::uint32_t host, std::uint32_t page) const {
  const std::string name = std::string(scheme) + host_name(host);
  const bool hidden = page != 0 && hash_of(config_.seed, name + std::to_string(page)) % 8 == 0;
  return name + (hidden ? "/private/p" : "/p") + std::to_string(page);
}

bool FakeWeb::dead(std::string_view host) const {
  return hash_of(config_.seed, "dead" + std::string(host)) % 1000 < config_.dead_hosts;
}

RobotsFile FakeWeb::robots_of(std::string_view host) const {
  switch (hash_of(config_.seed, "robots" + std::string(host)) % 16) {
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
      return config_.robots_redirects ? RobotsFile::moved : RobotsFile::rules;
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

// The tree of page n (to 2n+1 and 2n+2) reaches most of a host; the rest is chance.
std::vector<std::string> FakeWeb::links_of(const std::string& url) const {
  const std::uint32_t host = host_number(host_in(url));
  const std::uint32_t page = number_after(path_in(url), 'p').value_or(0);
  std::vector<std::string> links;
  for (const std::uint32_t child : {2 * page + 1, 2 * page + 2})
    if (child < pages_of(host)) links.push_back(page_url(host, child));
  Random random(hash_of(config_.seed, url));
  for (std::uint64_t left = random.below(config_.links_per_page + 1); left > 0; --left) {
    const bool away = random.chance(config_.away);
    const std::uint32_t to = away ? static_cast<std::uint32_t>(random.below(config_.hosts)) : host;
    links.push_back(page_url(to, static_cast<std::uint32_t>(random.below(pages_of(to)))));
  }
  return links;
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
      // Too long for the core: a worker parses it when it comes from the store.
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
        answer.redirect = std::string(scheme) + std::string(host) + std::string(moved_robots_path);
      } else {
        answer.robots_body = "User-agent: *\nDisallow: /private/\n";
      }
      return;
  }
}

void FakeWeb::page_answer(const std::string& url, std::uint32_t tries, Answer& answer) const {
  Random random(hash_of(config_.seed + 1, url));
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
    answer.links = links_of(url);  // a crawler that follows an error page's links goes where it should not
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
}

Answer FakeWeb::answer(const std::string& url, std::uint32_t tries) const {
  Answer answer;
  const std::string_view host = host_in(url);
  const std::string_view path = path_in(url);
  Random random(hash_of(config_.seed + 2, url + std::to_string(tries)));
  const bool slow = hash_of(config_.seed, "slow" + std::string(host)) % 1000 < config_.slow_hosts;
  answer.takes = random.between(config_.answer_min, slow ? config_.slow_max : config_.answer_max);
  if (drips(host)) answer.takes = config_.drip;
  if (dead(host)) {
    answer.error = random.chance(500) ? FetchError::connect : FetchError::timeout;
    answer.may_pass = true;
  } else if (path == robots_path || path == moved_robots_path) {
    robots_answer(host, path, tries, answer);
  } else if (path.starts_with(sitemap_path)) {
    const std::uint32_t of = number_after(path, 'p').value_or(0);
    answer.status = 200;
    for (std::uint32_t i = 0; i < listed_pages; ++i) answer.links.push_back(page_url(of, pages_of(of) + i));
  } else {
    page_answer(url, tries, answer);
  }
  if (answer.error != FetchError::none) answer.status = 0;
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
    // Where its sitemap is, a host in scope says.
    if (robots && in_scope(url))
      if (const auto sitemap = web.sitemap_of(host_in(url)); sitemap && known.insert(*sitemap).second)
        waiting.push_back(*sitemap);
    const Answer answer = web.answer(url, web.config().flaky_tries);  // past what passes
    const bool excluded = robots && web.disallowed(url);
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
