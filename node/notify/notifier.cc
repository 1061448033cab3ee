#include "node/notify/notifier.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "node/crawl/outside_json.h"
#include "node/fetch/curl_post.h"
#include "node/notify/hook_command.h"
#include "node/settings/notice_kinds.h"
#include "node/system/private_file.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// One line of JSON for each, {"to": setting, "notice": text}.
std::string left_file(const std::string& directory) { return directory + "/notices-left.jsonl"; }

Delivery judged(const PostAnswer& answer) {
  const long status = answer.status;
  if (status >= 200 && status < 300) return {};
  if (status == 0) return {Delivery::Outcome::again, answer.fault};
  const bool may_pass = status == 408 || status == 425 || status == 429 || status >= 500;
  return {may_pass ? Delivery::Outcome::again : Delivery::Outcome::refused, "it answers " + std::to_string(status)};
}

}  // namespace

Result<std::unique_ptr<Notifier>> Notifier::start(const Settings& settings, Place place) {
  if (settings.notify_url.empty() && words_of(settings.notify_command).empty()) return nullptr;
  std::unique_ptr<Notifier> notifier(new Notifier(std::move(place), settings.durability));
  for (const NoticeKind& kind : notice_kinds)
    if (settings.notify_events.empty()
            ? kind.by_default
            : std::any_of(settings.notify_events.begin(), settings.notify_events.end(),
                          [&](const std::string& name) { return name == "all" || name == kind.name; }))
      notifier->events_.emplace(kind.name);
  if (!settings.notify_url.empty()) {
    const PostTarget hook{
        .url = settings.notify_url, .user_agent = "orbweaver/" ORBWEAVER_VERSION, .ca_file = settings.ca_file};
    notifier->add("notify_url", [hook](const std::string& text, std::chrono::milliseconds time) {
      PostTarget target = hook;
      target.timeout = std::min(target.timeout, time);
      return judged(post_json(target, text));
    });
  }
  if (const HookCommand command{.arguments = words_of(settings.notify_command)}; !command.arguments.empty())
    notifier->add("notify_command", [command](const std::string& text, std::chrono::milliseconds time) {
      HookCommand hook = command;
      hook.timeout = std::min(hook.timeout, time);
      return run(hook, text);
    });
  notifier->note_source();
  notifier->take_left();
  for (const Way& way : notifier->ways_)
    if (Result<void> started = way.sender->start(); !started) return tl::make_unexpected(started.error());
  return notifier;
}

void Notifier::add(std::string name, NoticeSender::Deliver deliver) {
  auto report = [this, name](const std::string& fault, bool refused) { place_.report(name, fault, refused); };
  ways_.push_back(
      {std::move(name), std::make_unique<NoticeSender>(NoticeSender::Config{}, std::move(deliver), std::move(report))});
}

Notifier::~Notifier() = default;

// The file stays until stop() writes what is left then: a start that fails loses nothing, and after a kill what it has
// is told once more.
void Notifier::take_left() {
  std::ifstream lines(left_file(place_.directory));
  for (std::string line; std::getline(lines, line);) {
    const Result<json> entry = parse_outside_json(line);
    const std::string to = entry ? text_field(*entry, "to").value_or("") : "";
    if (!entry) place_.report("notices-left.jsonl", entry.error().message, true);
    for (const Way& way : ways_)
      if (way.name == to) way.sender->push(text_field(*entry, "notice").value_or(""));
  }
}

void Notifier::note(const LogEntry& line) {
  if (const auto event = event_of(line); event && wants(*event)) tell(*event, details_of(line));
}

void Notifier::note_source() {
  NoticeSource source = place_.source();
  const std::lock_guard lock(source_mutex_);
  source_ = std::move(source);
}

void Notifier::tell(std::string_view event, const json& details) {
  const NoticeKind* const kind = find_notice_kind(event);
  if (!wants(event) || (kind->of_ring && !tells_for_ring(place_.own_status()))) return;
  note_source();
  push(event, source_, details);
}

void Notifier::note_file(const std::string& path, std::uint64_t bytes) {
  constexpr std::string_view event = "archive_file_closed";
  if (!wants(event)) return;
  NoticeSource source;
  {
    const std::lock_guard lock(source_mutex_);
    source = source_;
  }
  push(event, source, {{"file", path}, {"bytes", bytes}});
}

void Notifier::push(std::string_view event, const NoticeSource& source, const json& details) {
  const std::string text = notice(source, ++number_, place_.clock(), event, details);
  for (const Way& way : ways_) way.sender->push(text);
}

Result<void> Notifier::stop(std::chrono::milliseconds patience) {
  for (const Way& way : ways_) way.sender->end(patience);
  const auto keep = [this](std::vector<std::string> (*left_of)(NoticeSender&)) -> Result<void> {
    std::string left;
    for (const Way& way : ways_)
      for (const std::string& text : left_of(*way.sender))
        left += json_text({{"to", way.name}, {"notice", text}}) + "\n";
    std::error_code none;  // there is no such file
    if (!left.empty()) return write_whole(left_file(place_.directory), left, durability_);
    std::filesystem::remove(left_file(place_.directory), none);
    return {};
  };
  // Before the wait too: a peer that is killed meanwhile tells some once more, and loses none.
  Result<void> kept = keep([](NoticeSender& sender) { return sender.left(); });
  if (Result<void> last = keep([](NoticeSender& sender) { return sender.stop(); }); !last) kept = std::move(last);
  ways_.clear();
  return kept;
}

void Notifier::add_metrics(const Notifier* notifier, std::vector<std::pair<std::string, double>>& values) {
  double taken = 0;
  double lost = 0;
  double waiting = 0;
  static const std::vector<Way> none;
  for (const Way& way : notifier == nullptr ? none : notifier->ways_) {
    taken += static_cast<double>(way.sender->taken());
    lost += static_cast<double>(way.sender->lost());
    waiting += static_cast<double>(way.sender->waiting());
  }
  values.emplace_back("notices_taken_total", taken);
  values.emplace_back("notices_lost_total", lost);
  values.emplace_back("notices_waiting", waiting);
}

}  // namespace orbweaver
