#include "node/crawl/peer_words.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace orbweaver {

std::span<const std::string_view> count_names() {
  static constexpr std::string_view names[] = {"discovered",
                                               "queued",
                                               "fetched",
                                               "failed",
                                               "excluded",
                                               "outbox",
                                               "in_flight",
                                               "pages_in_flight",
                                               "hosts",
                                               "fetches",
                                               "pages_fetched",
                                               "retries",
                                               "robots_fetched",
                                               "bytes_received",
                                               "archive_bytes",
                                               "links_found",
                                               "links_skipped",
                                               "links_over_budget",
                                               "pages_cut",
                                               "links_out_of_scope",
                                               "links_own",
                                               "links_foreign",
                                               "scores_raised",
                                               "link_cache_hits",
                                               "link_cache_misses",
                                               "link_cache_size",
                                               "seen_set_hits",
                                               "seen_reads",
                                               "seen_set_rows",
                                               "seen_known_by_set",
                                               "seen_new_by_set",
                                               "seen_filter_hits",
                                               "seen_filter_negatives",
                                               "batches_sent",
                                               "batch_bytes_sent",
                                               "forwarded",
                                               "batches_received",
                                               "records_received",
                                               "records_malformed",
                                               "messages_refused",
                                               "claims_refused",
                                               "rows_dropped",
                                               "partitions_held",
                                               "partitions_to_gain",
                                               "partitions_orphaned",
                                               "partitions_to_hand_over",
                                               "partitions_to_return",
                                               "copies_to_backfill",
                                               "copies",
                                               "copies_waiting",
                                               "copies_sent",
                                               "outcomes_given_up",
                                               "copy_bytes_sent",
                                               "records_moved",
                                               "bytes_moved"};
  return names;
}

std::string utc(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(seconds));
  const std::chrono::hh_mm_ss clock(seconds - std::chrono::floor<std::chrono::days>(seconds));
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string_view member_state_name(const ring::Member& member) {
  if (member.suspect && ring::reachable(member)) return "suspect";
  switch (member.state) {
    case ring::MemberState::joining:
      return "joining";
    case ring::MemberState::active:
      return "active";
    case ring::MemberState::leaving:
      return "leaving";
    case ring::MemberState::left:
      return "left";
    case ring::MemberState::down:
      return "down";
  }
  return "unknown";
}

void add_counts(nlohmann::json& totals, const nlohmann::json& counts) {
  for (const auto& [name, value] : counts.items())
    if (value.is_number_unsigned()) totals[name] = totals.value(name, std::uint64_t{0}) + value.get<std::uint64_t>();
}

}  // namespace orbweaver
