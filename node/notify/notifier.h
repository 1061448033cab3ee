// Tells an operator's web hook and command what happens (settings notify_*): each has a queue and a thread of its own.
// What was not taken when the peer ended is kept in the data directory, and told when it starts again; after kill -9
// what waited is lost. Thread rule: note() and tell() by one owner (the peer's loop); note_file() from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/notify/notice.h"
#include "node/notify/notice_sender.h"
#include "node/settings/settings.h"

namespace orbweaver {

class Notifier {
 public:
  struct Place {
    std::string directory;  // the peer's
    std::function<Time()> clock;
    std::function<NoticeSource()> source;        // called by the owner alone
    std::function<nlohmann::json()> own_status;  // likewise
    // A line for the log: to whom ("notify_url", "notify_command"), and why not. From the senders' threads.
    std::function<void(const std::string& to, const std::string& fault, bool refused)> report;
  };
  // Null: nobody is to be told. Errors: out_of_memory for a thread.
  static Result<std::unique_ptr<Notifier>> start(const Settings& settings, Place place);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // A line of the log that may be an event.
  void note(const LogEntry& line);
  void tell(std::string_view event, const nlohmann::json& details);
  // A file of the archive is whole.
  void note_file(const std::string& path, std::uint64_t bytes);
  // The crawl or the peer has ended. What is told afterwards is lost.
  Result<void> stop(std::chrono::milliseconds patience);

  // `notifier`: null when nobody is told.
  static void add_metrics(const Notifier* notifier, std::vector<std::pair<std::string, double>>& values);

 private:
  struct Way {
    std::string name;  // of its setting
    std::unique_ptr<NoticeSender> sender;
  };
  Notifier(Place place, Durability durability) : place_(std::move(place)), durability_(durability) {}
  bool wants(std::string_view event) const { return events_.contains(std::string(event)); }
  void push(std::string_view event, const NoticeSource& source, const nlohmann::json& details);
  void add(std::string name, NoticeSender::Deliver deliver);
  void take_left();
  void note_source();

  Place place_;
  Durability durability_;
  std::set<std::string> events_;
  std::vector<Way> ways_;
  std::atomic<std::uint64_t> number_ = 0;
  std::mutex source_mutex_;
  NoticeSource source_;  // as the owner told it last
};

}  // namespace orbweaver
