#include "tests/sim/parameters.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "node/config/settings_table.h"
#include "node/scope/site_rules.h"
#include "node/settings/units.h"

namespace orbweaver::sim {

namespace {

// The names of all fields that are not settings, faults or skews: one list for writing and for reading.
template <class P, class Visit>
void each_field(P& p, const Visit& visit) {
  visit("seed", p.seed);
  visit("peers", p.peers);
  visit("seed_hosts", p.seed_hosts);
  visit("seeds_at_all", p.seeds_at_all);
  visit("max_parse", p.max_parse);
  visit("max_sync", p.max_sync);
  visit("faults_end", p.faults_end);
  visit("max_time", p.max_time);
  visit("seen_set_bytes", p.seen_set_bytes);
  visit("recount_every", p.recount_every);
  visit("two_connections", p.two_connections);
  visit("max_answer_lag", p.max_answer_lag);
  visit("stale_connections", p.stale_connections);
  visit("max_wave_delay", p.max_wave_delay);
  visit("max_step", p.max_step);
  visit("queue_bytes", p.queue_bytes);
  visit("moves", p.moves);
  visit("walk_records", p.walk_records);
  visit("leaves_from", p.leaves_from);
  visit("partitions_a_step", p.partitions_a_step);
  visit("web.seed", p.web.seed);
  visit("web.hosts", p.web.hosts);
  visit("web.pages_per_host", p.web.pages_per_host);
  visit("web.links_per_page", p.web.links_per_page);
  visit("web.away", p.web.away);
  visit("web.chain", p.web.chain);
  visit("web.redirects", p.web.redirects);
  visit("web.gone", p.web.gone);
  visit("web.failing", p.web.failing);
  visit("web.flaky", p.web.flaky);
  visit("web.flaky_tries", p.web.flaky_tries);
  visit("web.slow_hosts", p.web.slow_hosts);
  visit("web.dead_hosts", p.web.dead_hosts);
  visit("web.drip_hosts", p.web.drip_hosts);
  visit("web.drip_one_domain", p.web.drip_one_domain);
  visit("web.domains", p.web.domains);
  visit("web.drip", p.web.drip);
  visit("web.addresses", p.web.addresses);
  visit("web.robots_redirects", p.web.robots_redirects);
  visit("web.moved_robots", p.web.moved_robots);
  visit("web.robots_elsewhere", p.web.robots_elsewhere);
  visit("web.sitemaps", p.web.sitemaps);
  visit("web.mirrors", p.web.mirrors);
  visit("web.copies", p.web.copies);
  visit("web.detours", p.web.canonical_redirects);
  visit("web.killers", p.web.killers);
  visit("web.long_pages", p.web.long_pages);
  visit("web.validators", p.web.validators);
  visit("web.answer_min", p.web.answer_min);
  visit("web.max_answer", p.web.max_answer);
  visit("web.max_slow", p.web.max_slow);
  for (auto [prefix, network] : {std::pair{"network.", &p.network}, std::pair{"healed.", &p.healed}}) {
    const std::string name = prefix;
    visit(name + "delay_min", network->delay_min);
    visit(name + "max_delay", network->max_delay);
    visit(name + "loss", network->loss);
    visit(name + "doubled", network->doubled);
    visit(name + "reordered", network->reordered);
    visit(name + "max_late", network->max_late);
  }
}

struct Writer {
  std::string& out;
  void operator()(const std::string& name, const Duration& value) const {
    out += name + "=" + duration_text(value) + "\n";
  }
  template <class Number>
  void operator()(const std::string& name, const Number& value) const {
    out += name + "=" + std::to_string(static_cast<std::uint64_t>(value)) + "\n";
  }
};

struct Reader {
  std::string_view name;
  std::string_view text;
  bool& known;
  bool& good;
  void operator()(const std::string& field, Duration& value) const {
    if (field != name) return;
    known = true;
    const Result<Duration> parsed = parse_duration(text);
    good = parsed.has_value();
    if (good) value = *parsed;
  }
  template <class Number>
  void operator()(const std::string& field, Number& value) const {
    if (field != name) return;
    known = true;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    value = static_cast<Number>(number);
    good = error == std::errc() && end == text.data() + text.size() && static_cast<std::uint64_t>(value) == number;
  }
};

// "3:-17s"
Result<std::pair<std::size_t, Duration>> read_skew(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::size_t peer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, peer);
  if (error != std::errc() || end != text.data() + colon || colon == text.size())
    return fail(ErrorCode::invalid_input, "'" + text + "' is not PEER:DURATION");
  const bool behind = text.compare(colon + 1, 1, "-") == 0;
  const Result<Duration> by = parse_duration(std::string_view(text).substr(colon + (behind ? 2 : 1)));
  if (!by) return tl::make_unexpected(by.error());
  return std::pair{peer, behind ? -*by : *by};
}

Result<void> read_line(Parameters& p, const std::string& name, const std::string& value) {
  if (name == "fault") {
    Result<Fault> fault = Fault::read(value);
    if (!fault) return tl::make_unexpected(fault.error());
    p.faults.push_back(std::move(*fault));
    return {};
  }
  if (name == "skew") {
    const auto skew = read_skew(value);
    if (!skew) return tl::make_unexpected(skew.error());
    p.skews.insert(*skew);
    return {};
  }
  bool known = false;
  bool good = true;
  each_field(p, Reader{name, value, known, good});
  if (!good) return fail(ErrorCode::invalid_input, "a bad value");
  return known ? Result<void>() : set_setting(p.settings, name, value);
}

// Printed whatever their value is, so that the drawn values are visible.
constexpr const char* drawn_settings[] = {"partitions",
                                          "scope",
                                          "delay",
                                          "delay_factor",
                                          "address_delay",
                                          "sites",
                                          "max_fetches_per_domain",
                                          "max_fetches_per_network",
                                          "max_pages",
                                          "max_depth",
                                          "stop_when_done",
                                          "max_retries",
                                          "retry_delay",
                                          "robots",
                                          "max_fetches",
                                          "max_link_cache_entries",
                                          "partition_by",
                                          "max_batch_records",
                                          "max_batch_age",
                                          "batch_timeout",
                                          "max_batches_in_flight",
                                          "suspicion_time",
                                          "replicas",
                                          "on_cut",
                                          "presume_dead_after",
                                          "leave_timeout",
                                          "order",
                                          "best_by",
                                          "max_score_entries",
                                          "max_hosts_in_memory",
                                          "max_host_queue_in_memory",
                                          "max_outbox_records_in_memory"};

}  // namespace

FaultKinds FaultKinds::none() {
  FaultKinds none;
  for (bool FaultKinds::*kind : {&FaultKinds::members,
                                 &FaultKinds::cuts,
                                 &FaultKinds::pauses,
                                 &FaultKinds::skews,
                                 &FaultKinds::disks,
                                 &FaultKinds::disk_gone,
                                 &FaultKinds::deaths,
                                 &FaultKinds::strikes,
                                 &FaultKinds::power_cut,
                                 &FaultKinds::mirrors,
                                 &FaultKinds::budgets,
                                 &FaultKinds::recrawls,
                                 &FaultKinds::canonical_redirects,
                                 &FaultKinds::questions,
                                 &FaultKinds::pieces,
                                 &FaultKinds::killers,
                                 &FaultKinds::clocks,
                                 &FaultKinds::reads,
                                 &FaultKinds::late_seeds,
                                 &FaultKinds::long_cuts,
                                 &FaultKinds::late_leaves,
                                 &FaultKinds::archives,
                                 &FaultKinds::loops,
                                 &FaultKinds::moves,
                                 &FaultKinds::connections,
                                 &FaultKinds::hand_offs,
                                 &FaultKinds::orders,
                                 &FaultKinds::copies})
    none.*kind = false;
  return none;
}

std::size_t Parameters::peers_in_all() const {
  return peers + static_cast<std::size_t>(std::count_if(
                     faults.begin(), faults.end(), [](const Fault& fault) { return fault.kind == Fault::Kind::join; }));
}

bool Parameters::calm() const {
  return std::all_of(faults.begin(), faults.end(), [](const Fault& fault) { return fault.is_question(); }) &&
         skews.empty() && !network_faulty() && web.killers == 0;
}

bool Parameters::living_may_look_dead() const {
  return network_faulty() || std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
           return fault.kind == Fault::Kind::cut || fault.kind == Fault::Kind::one_way ||
                  fault.kind == Fault::Kind::slow || fault.kind == Fault::Kind::pause;
         });
}

bool Parameters::sides_may_end_alone() const {
  return settings.replicas > 1 && std::any_of(faults.begin(), faults.end(), [this](const Fault& fault) {
           const bool parts =
               fault.kind == Fault::Kind::cut || fault.kind == Fault::Kind::one_way || fault.kind == Fault::Kind::pause;
           return parts && fault.down > settings.presume_dead_after;
         });
}

bool Parameters::views_may_differ() const {
  return network_faulty() ||
         std::any_of(faults.begin(), faults.end(), [](const Fault& d) { return d.disturbs_views(); });
}

Duration Parameters::delay_of(std::string_view host) const {
  for (const std::string& entry : settings.sites)
    if (const auto site = parse_site_rule(entry); site && site->pattern == host)
      return site->delay.value_or(settings.delay);
  return settings.delay;
}

std::vector<std::string> Parameters::seeds(const FakeWeb& fake_web) const {
  std::vector<std::string> urls;
  for (std::uint32_t host = 0; host < seed_hosts; ++host) urls.push_back(fake_web.page_url(host, 0));
  return urls;
}

std::string Parameters::text() const {
  std::string out;
  each_field(*this, Writer{out});
  const Settings usual = default_settings();
  for (const SettingRow& row : setting_rows()) {
    const std::string value = setting_text(settings, row.name);
    const bool drawn =
        std::find(std::begin(drawn_settings), std::end(drawn_settings), row.name) != std::end(drawn_settings);
    if (drawn || value != setting_text(usual, row.name)) out += row.name + "=" + value + "\n";
  }
  for (const auto& [peer, by] : skews) out += "skew=" + std::to_string(peer) + ":" + duration_text(by) + "\n";
  for (const Fault& fault : faults) out += "fault=" + fault.text() + "\n";
  return out;
}

Settings plain_settings() {
  Settings settings = default_settings();
  settings.delay_factor = 0;
  settings.address_delay = Duration{};
  return settings;
}

Result<Parameters> Parameters::read(const std::string& text) {
  Parameters p;
  p.settings = plain_settings();
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const Result<void> read = equals == std::string::npos
                                  ? fail(ErrorCode::invalid_input, "no '=' in it")
                                  : read_line(p, line.substr(0, equals), line.substr(equals + 1));
    if (!read)
      return fail(ErrorCode::invalid_input,
                  "line " + std::to_string(number) + ", '" + line + "': " + read.error().message);
  }
  return p;
}

}  // namespace orbweaver::sim
