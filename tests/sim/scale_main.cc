// orbweaver-sim-scale: the ring's costs at 10, 100 and 1,000 peers, simulated.
//
//   orbweaver-sim-scale [--peers N,N…] [--crawl N,N…] [--deeds N,N…] [--partitions P,P…] [--seed S] [--trials T]
//                       [--json FILE]
//
// --peers   rings of N peers, memberships and hash rings alone [10,100,1000]
// --crawl   whole peers that crawl a small web; "none": no crawl [10,100]. Each peer keeps its own hash ring and
//           rebuilds it at each change of members: 1,000 of them take hours.
// --deeds   whole peers with small stores: the ring forms, one starts again, one joins, one leaves, one dies, all start
//           again; bytes, and the longest step [none]
// --restart whole peers with small stores: the ring forms, one starts again [none]
// --formed  as --deeds, with a ring that formed earlier and was stopped: all start [none]
// --partitions  of the rings of --deeds, --restart and --formed [1024]
// --trials  joins, leaves and crashes each [5]
// --json    the same numbers in a file, for tests/sim/plot_scale.py
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/deeds.h"
#include "tests/sim/scale.h"

namespace {

using namespace orbweaver::sim;
using nlohmann::json;

struct Options {
  std::vector<std::size_t> peers{10, 100, 1000};
  std::vector<std::size_t> crawl{10, 100};
  std::vector<std::size_t> deeds;
  std::vector<std::size_t> restarts;
  std::vector<std::size_t> formed;
  std::vector<std::size_t> partitions{1024};
  std::uint64_t seed = 1;
  std::uint64_t trials = 5;
  std::string json_file;
};

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool read_list(std::string_view text, std::vector<std::size_t>& list, std::uint64_t max = 10000) {
  list.clear();
  if (text == "none") return true;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::uint64_t number = 0;
    if (!read_number(text.substr(0, comma), number) || number < 2 || number > max) return false;
    list.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return !list.empty();
}

bool read(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 == count) return false;
    const std::string value = arguments[i + 1];
    if (name == "--peers"        ? !read_list(value, options.peers)
        : name == "--crawl"      ? !read_list(value, options.crawl)
        : name == "--deeds"      ? !read_list(value, options.deeds)
        : name == "--restart"    ? !read_list(value, options.restarts)
        : name == "--formed"     ? !read_list(value, options.formed)
        : name == "--partitions" ? !read_list(value, options.partitions, 65536)
        : name == "--seed"       ? !read_number(value, options.seed)
        : name == "--trials"     ? !read_number(value, options.trials)
                                 : name != "--json")
      return false;
    if (name == "--json") options.json_file = value;
  }
  // Each trial crashes one peer permanently; some must stay.
  return options.trials > 0 && std::all_of(options.peers.begin(), options.peers.end(),
                                           [&](std::size_t peers) { return options.trials + 3 < peers; });
}

json spread(const Spread& of) { return {{"mean", of.mean}, {"largest", of.largest}}; }

json rings(const Options& options) {
  json rows = json::array();
  std::printf(
      "memberships        quiet, a peer        join, s         leave, s        crash: first, all, s     a join\n"
      "  peers         bytes/s  messages/s   mean  largest   mean  largest   mean   mean  largest   bytes\n");
  for (const std::size_t peers : options.peers) {
    const RingScale r = measure_ring(peers, options.seed, options.trials);
    std::printf("%7zu %15.0f %11.2f %6.2f %8.2f %6.2f %8.2f %6.2f %6.2f %8.2f %10.0f\n", peers, r.gossip_bytes_a_second,
                r.gossip_messages_a_second, r.join_seconds.mean, r.join_seconds.largest, r.leave_seconds.mean,
                r.leave_seconds.largest, r.first_down_seconds.mean, r.crash_seconds.mean, r.crash_seconds.largest,
                r.join_bytes);
    std::fflush(stdout);
    rows.push_back({{"peers", peers},
                    {"gossip_bytes_a_second", r.gossip_bytes_a_second},
                    {"gossip_messages_a_second", r.gossip_messages_a_second},
                    {"join_seconds", spread(r.join_seconds)},
                    {"leave_seconds", spread(r.leave_seconds)},
                    {"first_down_seconds", spread(r.first_down_seconds)},
                    {"crash_seconds", spread(r.crash_seconds)},
                    {"join_rounds", r.join_rounds},
                    {"leave_rounds", r.leave_rounds},
                    {"crash_rounds", r.crash_rounds},
                    {"join_bytes", r.join_bytes},
                    {"leave_bytes", r.leave_bytes}});
  }
  return rows;
}

json owners(const Options& options) {
  json rows = json::array();
  std::printf(
      "\nowners                over fair share      moved over least: join     leave   moved     build,\n"
      "  peers  partitions  largest  smallest        mean  largest         mean   elsewhere     ms\n");
  for (const std::size_t peers : options.peers) {
    for (const std::uint32_t partitions : {1024u, 4096u, 16384u, 65536u}) {
      const OwnersScale o =
          measure_owners(peers, partitions, options.seed, std::min<std::size_t>(options.trials, peers));
      std::printf("%7zu %11u %8.2f %9.2f %11.2f %8.2f %12.2f %11llu %6.1f\n", peers, partitions, o.largest_over_fair,
                  o.smallest_over_fair, o.join_moved_over_least.mean, o.join_moved_over_least.largest,
                  o.leave_moved_over_least.mean, static_cast<unsigned long long>(o.moved_elsewhere),
                  o.ring_build_millis);
      rows.push_back({{"peers", peers},
                      {"partitions", partitions},
                      {"largest_over_fair", o.largest_over_fair},
                      {"smallest_over_fair", o.smallest_over_fair},
                      {"join_moved_over_least", spread(o.join_moved_over_least)},
                      {"leave_moved_over_least", spread(o.leave_moved_over_least)},
                      {"moved_elsewhere", o.moved_elsewhere},
                      {"ring_build_millis", o.ring_build_millis}});
    }
  }
  std::fflush(stdout);
  return rows;
}

// Null: one crawl failed.
json crawls(const Options& options) {
  json rows = json::array();
  std::printf(
      "\ncrawl                        forwarding, a URL    waves, ring    gossip, a peer\n"
      "  peers     URLs  seconds   messages   bytes     messages/s     bytes/s\n");
  for (const std::size_t peers : options.crawl) {
    std::string failure;
    const auto c = measure_crawl(peers, options.seed, failure);
    if (!c) {
      std::printf("FAIL crawl with %zu peers: %s\n", peers, failure.c_str());
      return nullptr;
    }
    std::printf("%7zu %8llu %8.1f %10.3f %7.1f %14.1f %11.0f\n", peers, static_cast<unsigned long long>(c->urls),
                c->seconds, c->forward_messages_a_url, c->forward_bytes_a_url, c->wave_messages_a_second,
                c->gossip_bytes_a_second);
    std::fflush(stdout);
    rows.push_back({{"peers", peers},
                    {"urls", c->urls},
                    {"seconds", c->seconds},
                    {"forward_messages_a_url", c->forward_messages_a_url},
                    {"forward_bytes_a_url", c->forward_bytes_a_url},
                    {"wave_messages_a_second", c->wave_messages_a_second},
                    {"gossip_bytes_a_second", c->gossip_bytes_a_second}});
  }
  return rows;
}

// Null: one run failed.
json deeds(const std::vector<std::size_t>& rings, const Options& options, bool restart_only, bool formed) {
  json rows = json::array();
  if (rings.empty()) return rows;
  std::printf(
      "\ndeeds\n  peers partitions  deed              seconds  messages       bytes  step, ms   cpu, s  longest; "
      "most\n");
  for (const std::size_t peers : rings) {
    for (const std::size_t partitions : options.partitions) {
      const auto report = [&](const Deed& deed) {
        std::printf("%7zu %10zu  %-16s %8.0f %9.0f %11.0f %9.1f %8.1f  %s; %s\n", peers, partitions, deed.name.c_str(),
                    deed.seconds, deed.messages, deed.bytes, deed.longest_step_millis, deed.cpu_seconds,
                    deed.longest_step.c_str(), deed.most.c_str());
        std::fflush(stdout);
        rows.push_back({{"peers", peers},
                        {"partitions", partitions},
                        {"deed", deed.name},
                        {"messages", deed.messages},
                        {"bytes", deed.bytes},
                        {"longest_step_millis", deed.longest_step_millis},
                        {"cpu_seconds", deed.cpu_seconds}});
      };
      const DeedOptions deed{.peers = peers,
                             .partitions = static_cast<std::uint32_t>(partitions),
                             .seed = options.seed,
                             .restart_only = restart_only,
                             .formed = formed};
      if (const auto failure = measure_deeds(deed, report)) {
        std::printf("FAIL deeds of %zu peers: %s\n", peers, failure->c_str());
        return nullptr;
      }
    }
  }
  return rows;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (!read(count, arguments, options)) {
    std::fprintf(stderr,
                 "usage: orbweaver-sim-scale [--peers N,N|none] [--crawl N,N|none] [--deeds N,N] [--restart N,N]\n"
                 "         [--partitions P,P] [--seed S] [--trials T] [--json FILE]\n"
                 "each N is 2 to 10000, and larger than the trials by more than 3 for --peers\n");
    return 2;
  }
  json all = {{"seed", options.seed}, {"trials", options.trials}};
  all["ring"] = rings(options);
  all["owners"] = owners(options);
  all["crawl"] = crawls(options);
  all["deeds"] = deeds(options.deeds, options, false, false);
  all["restart"] = deeds(options.restarts, options, true, false);
  all["formed"] = deeds(options.formed, options, false, true);
  if (!options.json_file.empty()) {
    std::ofstream file(options.json_file);
    file << all.dump(1) << "\n";
    if (!file.flush()) {
      std::fprintf(stderr, "%s cannot be written\n", options.json_file.c_str());
      return 1;
    }
  }
  return all["crawl"].is_null() || all["deeds"].is_null() || all["restart"].is_null() || all["formed"].is_null() ? 1
                                                                                                                 : 0;
}
