// One entry of the setting text_commands: which of the user's commands extracts text from which media type.
// Thread rule: a value and a free function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct TextCommand {
  std::string type;                    // media type, lower case: "application/pdf"; "audio/*" is all of a kind
  std::vector<std::string> arguments;  // the program, searched in PATH, and its arguments; no shell is involved

  // "application/pdf=pdftotext - -": a media type, '=', then words between spaces. The error says what is wrong.
  static Result<TextCommand> parse(std::string_view entry);
  bool takes(std::string_view media_type) const;  // `media_type` in lower case, without parameters
};

}  // namespace orbweaver
