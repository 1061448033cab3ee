// What `orbweaver doctor` has looked at: one finding for each check, with what to do. Thread rule: one owner.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orbweaver {

struct Finding {
  enum class State : std::uint8_t { ok, warn, fail };
  std::string check;  // "disk.room": its group and its name
  State state = State::ok;
  std::string found;  // what was found, as a sentence without its full stop
  std::string fix;    // what to do; empty when all is well
};

class Findings {
 public:
  void ok(std::string check, std::string found) { add({std::move(check), Finding::State::ok, std::move(found), {}}); }
  void warn(std::string check, std::string found, std::string fix) {
    add({std::move(check), Finding::State::warn, std::move(found), std::move(fix)});
  }
  void fail(std::string check, std::string found, std::string fix) {
    add({std::move(check), Finding::State::fail, std::move(found), std::move(fix)});
  }
  const std::vector<Finding>& all() const { return all_; }
  bool any_failed() const;

  nlohmann::json to_json() const;  // an array of check, state, found, fix
  std::string to_text() const;     // a line for each, and one for its fix

 private:
  void add(Finding finding) { all_.push_back(std::move(finding)); }
  std::vector<Finding> all_;
};

}  // namespace orbweaver
