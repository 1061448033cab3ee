#include "node/process/message_intake.h"

#include <utility>

#include "node/process/log.h"
#include "ring/codec.h"

namespace orbweaver {

void MessageIntake::take(const std::string& bytes, ring::ReplyPath reply) {
  ring::Result<ring::Message> message = ring::decode(bytes);
  if (!message) {
    ++malformed_;
    log_limited(LogLevel::warning, "ring", "malformed message",
                {{"cause", message.error().message}, {"bytes", bytes.size()}});
    return;
  }
  const std::size_t size = ring::memory_bytes(*message);
  const std::string_view type = ring::type_name(message->body);
  const std::string from = message->from.brief();
  if (!events_->push_message({std::move(*message), std::move(reply)}, size))
    log_limited(LogLevel::warning, "ring", "too many messages wait, one dropped",
                {{"peer", from}, {"type", type}, {"bytes", size}});
}

}  // namespace orbweaver
