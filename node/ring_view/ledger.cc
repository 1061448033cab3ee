#include "node/ring_view/ledger.h"

#include <nlohmann/json.hpp>
#include <set>

namespace orbweaver {

using nlohmann::json;

namespace {

std::uint64_t number(const json& counts, const char* name) { return counts.value(name, std::uint64_t{0}); }

// "a - b = 3" reads better than two numbers of twelve digits.
std::string unequal(const std::string& what, std::uint64_t a, std::uint64_t b) {
  return what + ": " + std::to_string(a) + ", and not " + std::to_string(b) + " (a difference of " +
         (a > b ? std::to_string(a - b) : "-" + std::to_string(b - a)) + ")";
}

}  // namespace

Ledger ledger_of(const json& status) {
  Ledger ledger;
  std::set<std::uint64_t> tenures;
  for (const json& peer : status.value("peers", json::array())) {
    if (peer.value("ring", "").empty()) {
      ledger.unsettled.push_back("peer " + peer.value("id", "").substr(0, 8) + " has not joined its ring yet");
      continue;
    }
    const json& counts = peer.at("counts");
    const std::uint64_t queued = number(counts, "queued");
    const std::uint64_t in_flight = number(counts, "pages_in_flight");
    const std::uint64_t sum =
        number(counts, "fetched") + number(counts, "failed") + number(counts, "excluded") + queued;
    if (number(counts, "discovered") != sum)
      ledger.differences.push_back(
          unequal("peer " + peer.value("id", "").substr(0, 8) + " has discovered", number(counts, "discovered"), sum));
    if (in_flight > queued)
      ledger.differences.push_back("peer " + peer.value("id", "").substr(0, 8) + " fetches " +
                                   std::to_string(in_flight) + " URLs, of " + std::to_string(queued) + " queued");
    ledger.discovered += number(counts, "discovered");
    ledger.fetched += number(counts, "fetched");
    ledger.failed += number(counts, "failed");
    ledger.excluded += number(counts, "excluded");
    ledger.in_flight += in_flight;
    ledger.waiting += queued - std::min(queued, in_flight);
    ledger.links_on_the_way += number(counts, "outbox");
    ledger.copies_on_the_way += number(counts, "copies_waiting");
    ledger.partitions_held += number(counts, "partitions_held");
    ledger.partitions = std::max(ledger.partitions, number(peer, "ring_partitions"));
    if (const std::uint64_t orphaned = number(counts, "partitions_orphaned"); orphaned > 0)
      ledger.unsettled.push_back(std::to_string(orphaned) + " partitions wait to be taken over, peer " +
                                 peer.value("id", "").substr(0, 8) + " says");
    tenures.insert(number(peer, "tenures_fingerprint"));
  }
  for (const json& silent : status.value("unreachable", json::array()))
    ledger.unsettled.push_back("peer " + silent.value("id", "").substr(0, 8) + " at " + silent.value("address", "") +
                               " does not answer");
  if (const std::uint64_t left_out = number(status, "left_out"); left_out > 0)
    ledger.unsettled.push_back("what " + std::to_string(left_out) + " peers answer does not fit into one answer");
  if (tenures.size() > 1)
    ledger.unsettled.emplace_back("partitions are changing hands: not all peers agree which peer holds which");
  ledger.settled = ledger.unsettled.empty();
  if (ledger.settled && ledger.partitions_held != ledger.partitions)
    ledger.differences.push_back(unequal("partitions held", ledger.partitions_held, ledger.partitions));
  return ledger;
}

json to_json(const Ledger& ledger) {
  return {{"discovered", ledger.discovered},
          {"fetched", ledger.fetched},
          {"failed", ledger.failed},
          {"excluded", ledger.excluded},
          {"queued", ledger.waiting},
          {"in_flight", ledger.in_flight},
          {"links_on_the_way", ledger.links_on_the_way},
          {"copies_on_the_way", ledger.copies_on_the_way},
          {"partitions_held", ledger.partitions_held},
          {"partitions", ledger.partitions},
          {"settled", ledger.settled},
          {"unsettled", ledger.unsettled},
          {"differences", ledger.differences},
          {"balances", ledger.differences.empty()}};
}

std::string to_text(const Ledger& ledger) {
  std::string text;
  const auto line = [&text](std::string_view name, std::uint64_t value) {
    std::string digits = std::to_string(value);
    text += std::string(name) + std::string(24 - name.size(), ' ') +
            std::string(14 - std::min<std::size_t>(14, digits.size()), ' ') + digits + "\n";
  };
  line("fetched", ledger.fetched);
  line("failed", ledger.failed);
  line("excluded", ledger.excluded);
  line("queued", ledger.waiting);
  line("in flight", ledger.in_flight);
  line("= discovered", ledger.discovered);
  text += "\n";
  line("links in transit", ledger.links_on_the_way);
  line("copies in transit", ledger.copies_on_the_way);
  text += "partitions held         " + std::to_string(ledger.partitions_held) + " of " +
          std::to_string(ledger.partitions) + "\n";
  for (const std::string& why : ledger.unsettled) text += "not settled: " + why + "\n";
  for (const std::string& difference : ledger.differences) text += "ERROR: " + difference + "\n";
  if (ledger.differences.empty())
    text += ledger.settled ? "the ledger balances\n" : "no difference among those that answer\n";
  return text;
}

}  // namespace orbweaver
