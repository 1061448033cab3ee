#include "node/process/peer_notices.h"

#include <utility>

#include "node/process/log.h"

namespace orbweaver {

Result<std::unique_ptr<Notifier>> start_notifier(const Settings& settings, const std::string& directory,
                                                 std::function<Time()> clock, std::function<NoticeSource()> source,
                                                 std::function<nlohmann::json()> own_status) {
  return Notifier::start(settings, {.directory = directory,
                                    .clock = std::move(clock),
                                    .source = std::move(source),
                                    .own_status = std::move(own_status),
                                    .report = [](const std::string& to, const std::string& fault, bool refused) {
                                      log_limited(LogLevel::warning, "node",
                                                  refused ? "a notice was refused" : "a notice was not taken yet",
                                                  {{"by", to}, {"cause", fault}});
                                    }});
}

void end_notices(Notifier* notifier) {
  // An ended peer goes on for so long, where it is listened to.
  constexpr std::chrono::milliseconds patience{10'000};
  if (notifier == nullptr) return;
  if (const Result<void> kept = notifier->stop(patience); !kept)
    log(LogLevel::error, "node", "notices are lost", {{"cause", kept.error().message}});
}

}  // namespace orbweaver
