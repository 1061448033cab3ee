#include "node/crawl/record_filter.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "node/crawl/outside_json.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

using nlohmann::json;
using storage::UrlState;

namespace {

std::optional<UrlState> state_called(std::string_view name) {
  for (const UrlState state : {UrlState::queued, UrlState::excluded, UrlState::failed, UrlState::fetched})
    if (storage::state_name(state) == name) return state;
  return std::nullopt;
}

Result<std::vector<UrlState>> states_in(const json& given) {
  const auto names = list_field(given, "states");
  if (!names) return tl::make_unexpected(names.error());
  std::vector<UrlState> states;
  for (const json& name : *names) {
    const auto state = name.is_string() ? state_called(name.get_ref<const std::string&>()) : std::nullopt;
    if (!state) return fail(ErrorCode::invalid_input, "'states' has an entry that is not a state: " + json_text(name));
    states.push_back(*state);
  }
  return states;
}

}  // namespace

Result<RecordFilter> RecordFilter::read(const json& given) {
  auto states = states_in(given);
  const auto reason = text_field(given, "reason");
  const auto status = number_field(given, "status", 0, 0, 0xffff);
  const auto host = text_field(given, "host");
  const auto match = text_field(given, "match");
  if (!states) return tl::make_unexpected(states.error());
  if (!status) return tl::make_unexpected(status.error());
  for (const auto* field : {&reason, &host, &match})
    if (!*field) return tl::make_unexpected(field->error());
  RecordFilter filter{.states = std::move(*states),
                      .reason = *reason,
                      .status = static_cast<std::uint16_t>(*status),
                      .host = *host,
                      .match = *match};
  if (filter.match.empty()) return filter;
  auto compiled = UrlPatterns::compile({filter.match});
  if (!compiled) return tl::make_unexpected(compiled.error());
  filter.pattern = std::make_shared<const UrlPatterns>(std::move(*compiled));
  return filter;
}

void RecordFilter::write(json& object) const {
  for (const UrlState state : states) object["states"].push_back(storage::state_name(state));
  if (!reason.empty()) object["reason"] = reason;
  if (status != 0) object["status"] = status;
  if (!host.empty()) object["host"] = host;
  if (!match.empty()) object["match"] = match;
}

bool RecordFilter::takes_state(UrlState state) const {
  return states.empty() || std::find(states.begin(), states.end(), state) != states.end();
}

bool RecordFilter::takes(const storage::UrlRecord& record) const {
  if (!takes_state(record.state)) return false;
  if (!reason.empty() && storage::reason_name(record.reason) != reason) return false;
  if (status != 0 && record.status != status) return false;
  if (!host.empty() && CanonicalUrl::host_in(record.url) != host) return false;
  return pattern == nullptr || pattern->first_match(record.url) != nullptr;
}

}  // namespace orbweaver
