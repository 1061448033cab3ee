// Why pages of a crawl failed or were kept out, for its summary: each reason with its count, one example and what to do
// about it. Read from the stores of peers that do not run. Thread rule: main thread.
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
  std::uint16_t status = 0;  // of http_status and robots_unreachable; else 0
  std::uint64_t count = 0;
  std::string example;  // a URL
};

// The most frequent first. Cost: a read of every record, about a second for two million. Errors as for_each_record().
Result<std::vector<CrawlReason>> crawl_reasons(const std::string& directory);

// Whether no page was fetched but redirects. Cost: a read up to the first other page. Errors as for_each_record().
Result<bool> only_redirects(const std::string& directory);

// "refused: private address". What happened, in a few words.
std::string reason_words(const CrawlReason& reason);
// "allow with --allow-private 127.0.0.0/8". Empty: nothing that the user could do.
std::string reason_fix(const CrawlReason& reason, const Settings& settings);

// {"url", "to"} each: seeds that redirect to what is out of scope. The same with "fix": "start there, or --scope
// domain".
nlohmann::json with_fixes(nlohmann::json redirects_out, const Settings& settings);

// {"state", "reason", "status", "count", "example", "why", "fix"} each.
nlohmann::json reasons_json(const std::vector<CrawlReason>& reasons, const Settings& settings);

}  // namespace orbweaver
