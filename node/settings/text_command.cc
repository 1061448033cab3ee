#include "node/settings/text_command.h"

#include <algorithm>

#include "node/text/shown.h"

namespace orbweaver {

namespace {

// RFC 9110, 5.6.2; upper case is converted before.
bool is_token(std::string_view text) {
  const auto token_char = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), token_char);
}

}  // namespace

Result<TextCommand> TextCommand::parse(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  TextCommand command;
  command.type = std::string(entry.substr(0, std::min(equals, entry.size())));
  std::transform(command.type.begin(), command.type.end(), command.type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::size_t slash = command.type.find('/');
  const bool is_type = slash != std::string::npos && is_token(std::string_view(command.type).substr(0, slash)) &&
                       is_token(std::string_view(command.type).substr(slash + 1));
  if (equals == std::string_view::npos || !is_type)
    return fail(ErrorCode::invalid_setting,
                shown(entry) + " is not TYPE=COMMAND, for example application/pdf=pdftotext - -");
  for (std::string_view rest = entry.substr(equals + 1); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) command.arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (command.arguments.empty()) return fail(ErrorCode::invalid_setting, shown(entry) + " names no command after '='");
  return command;
}

bool TextCommand::takes(std::string_view media_type) const {
  if (type.ends_with("/*")) return media_type.starts_with(std::string_view(type).substr(0, type.size() - 1));
  return media_type == type;
}

}  // namespace orbweaver
