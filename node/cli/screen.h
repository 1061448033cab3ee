// The whole terminal, for a command that shows changing text. Text from outside is made safe for it. One at a time.
// Thread rule: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class Screen {
 public:
  // Errors: invalid_input when the terminal is not known (TERM).
  static Result<std::unique_ptr<Screen>> open();
  ~Screen();  // the terminal is as it was before
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  std::size_t width() const;
  std::size_t height() const;
  // Lines from the top; what has no room is left out. `title`: this line is shown reversed; `cursor`: this one bold.
  void show(const std::vector<std::string>& lines, std::size_t title, std::optional<std::size_t> cursor);

  // gone: the terminal is.
  enum class Key : std::uint8_t { none, other, up, down, enter, backspace, escape, resized, gone };
  struct Pressed {
    Key key = Key::none;
    char letter = 0;  // of `other`: printable ASCII; 0: it is none
  };
  // The next key; none when none is pressed in that time.
  Pressed wait(Duration longest);

 private:
  Screen() = default;

  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace orbweaver
