// Why pages of a crawl failed or were excluded, for its summary: each reason with its count, an example and a fix. Read
// from the stores of stopped peers. Thread rule: main thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/settings/settings.h"
#include "storage/record.h"

namespace orbweaver {

struct CrawlReason {
  storage::UrlState state = storage::UrlState::failed;
  storage::Reason reason = storage::Reason::none;
  std::uint16_t status = 0;  // for http_status and robots_unreachable; else 0
  std::uint64_t count = 0;
  std::string example;  // a URL
};

// The most frequent first. Cost: reads every record, about a second for two million. Errors as for for_each_record().
Result<std::vector<CrawlReason>> crawl_reasons(const std::string& directory);

// Whether only redirects were fetched. Cost: reads up to the first other page. Errors as for for_each_record().
Result<bool> only_redirects(const std::string& directory);

// The event in a few words: "refused: private address".
std::string reason_words(const CrawlReason& reason);
// "allow with --allow-private 127.0.0.0/8". Empty: the user can do nothing about it.
std::string reason_fix(const CrawlReason& reason, const Settings& settings);

// Adds "fix" ("start there, or --scope domain") to each {"url", "to"}: seeds that redirect to URLs outside the
// scope.
nlohmann::json with_fixes(nlohmann::json redirects_out, const Settings& settings);

// For each reason: {"state", "reason", "status", "count", "example", "why", "fix"}.
nlohmann::json reasons_json(const std::vector<CrawlReason>& reasons, const Settings& settings);

}  // namespace orbweaver
