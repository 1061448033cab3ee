// One POST of JSON to a URL of the operator's, without the rules for what crawls fetch. Thread rule: any thread; it
// blocks for at most the time given.
#pragma once

#include <chrono>
#include <string>

namespace orbweaver {

struct PostTarget {
  std::string url;  // http or https
  std::string user_agent;
  std::string ca_file;  // empty: the system's
  std::chrono::milliseconds timeout{30'000};
};
struct PostAnswer {
  long status = 0;    // of HTTP; 0: there is no answer
  std::string fault;  // why not, then
};

// No redirect is followed, no proxy used, and what is answered is not read.
PostAnswer post_json(const PostTarget& target, const std::string& json);

}  // namespace orbweaver
