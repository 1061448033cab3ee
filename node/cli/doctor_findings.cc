#include "node/cli/doctor_findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orbweaver {

namespace {

std::string_view name_of(Finding::State state) {
  return state == Finding::State::ok ? "ok" : state == Finding::State::warn ? "warn" : "fail";
}

}  // namespace

bool Findings::any_failed() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Finding& finding) { return finding.state == Finding::State::fail; });
}

nlohmann::json Findings::to_json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : all_) {
    list.push_back({{"check", finding.check}, {"state", name_of(finding.state)}, {"found", finding.found}});
    if (!finding.fix.empty()) list.back()["fix"] = finding.fix;
  }
  return list;
}

std::string Findings::to_text() const {
  std::size_t width = 0;
  for (const Finding& finding : all_) width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : all_) {
    std::string state(name_of(finding.state));
    state.resize(6, ' ');
    std::string check = finding.check;
    check.resize(width + 2, ' ');
    text += state + check + finding.found + "\n";
    if (!finding.fix.empty()) text += std::string(width + 8, ' ') + "fix: " + finding.fix + "\n";
  }
  return text;
}

}  // namespace orbweaver
