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
    notifier->add("notify_url", [hook](const std::string& text) { return judged(post_json(hook, text)); });
  }
  if (const HookCommand command{.arguments = words_of(settings.notify_command)}; !command.arguments.empty())
    notifier->add("notify_command", [command](const std::string& text) { return run(command, text); });
  if (Result<void> taken = notifier->take_left(); !taken) return tl::make_unexpected(taken.error());
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

Result<void> Notifier::take_left() {
  const std::string file = left_file(place_.directory);
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown) && !unknown) return {};
  std::ifstream lines(file);
  if (!lines) return fail(ErrorCode::io, "cannot read " + file);
  for (std::string line; std::getline(lines, line);) {
    const Result<json> entry = parse_outside_json(line);
    if (!entry) return fail(ErrorCode::io, file + ": " + entry.error().message);
    const std::string to = text_field(*entry, "to").value_or("");
    for (const Way& way : ways_)
      if (way.name == to) way.sender->push(text_field(*entry, "notice").value_or(""));
  }
  lines.close();
  std::error_code ignored;  // they are told once more then
  std::filesystem::remove(file, ignored);
  return {};
}

void Notifier::note(const LogEntry& line) {
  if (const auto event = event_of(line); event && wants(*event)) tell(*event, details_of(line));
}

void Notifier::tell(std::string_view event, const json& details) {
  const NoticeKind* const kind = find_notice_kind(event);
  if (!wants(event) || (kind->of_ring && !tells_for_ring(place_.own_status()))) return;
  NoticeSource source = place_.source();
  {
    const std::lock_guard lock(source_mutex_);
    source_ = source;
  }
  push(event, source, details);
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
  std::string left;
  for (const Way& way : ways_)
    for (const std::string& text : way.sender->stop(patience))
      left += json_text({{"to", way.name}, {"notice", text}}) + "\n";
  ways_.clear();
  if (left.empty()) return {};
  return write_whole(left_file(place_.directory), left, durability_);
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
