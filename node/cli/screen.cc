#include "node/cli/screen.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>

#include "node/text/printable.h"

namespace orbweaver {

namespace {

constexpr int escape_key = 27;
constexpr int delete_key = 127;
constexpr int escape_wait = 50;  // milliseconds: what follows later is no key's sequence

}  // namespace

struct Screen::Terminal {
  SCREEN* screen = nullptr;
};

Result<std::unique_ptr<Screen>> Screen::open() {
  std::setlocale(LC_CTYPE, "");
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  if (screen == nullptr)
    return fail(ErrorCode::invalid_input, "the terminal is not known: set TERM, or use --once or --json");
  std::unique_ptr<Screen> opened(new Screen);
  opened->terminal_ = std::make_unique<Terminal>(Terminal{screen});
  ::set_term(screen);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::curs_set(0);
  ::keypad(stdscr, TRUE);
  ::set_escdelay(escape_wait);
  return opened;
}

Screen::~Screen() {
  ::endwin();
  ::delscreen(terminal_->screen);
}

std::size_t Screen::width() const { return static_cast<std::size_t>(std::max(COLS, 1)); }
std::size_t Screen::height() const { return static_cast<std::size_t>(std::max(LINES, 1)); }

void Screen::show(const std::vector<std::string>& lines, std::size_t title, std::optional<std::size_t> cursor) {
  ::werase(stdscr);
  for (std::size_t i = 0; i < lines.size() && i < height(); ++i) {
    const attr_t look = (i == title ? A_REVERSE : A_NORMAL) | (i == cursor ? A_BOLD : A_NORMAL);
    ::wattr_on(stdscr, look, nullptr);
    ::mvwaddnstr(stdscr, static_cast<int>(i), 0, printable(lines[i]).c_str(), COLS);
    ::wattr_off(stdscr, look, nullptr);
  }
  ::wrefresh(stdscr);
}

Screen::Pressed Screen::wait(Duration longest) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  ::poll(&input, 1, static_cast<int>(milliseconds) + 1);
  int bytes = 1;
  if ((input.revents & POLLIN) != 0) ::ioctl(STDIN_FILENO, FIONREAD, &bytes);
  if (bytes == 0 || (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return {.key = Key::gone};
  ::wtimeout(stdscr, 0);
  const int key = ::wgetch(stdscr);  // also after a signal: the terminal may have another size
  if (key == ERR) return {};
  if (key == KEY_UP) return {.key = Key::up};
  if (key == KEY_DOWN) return {.key = Key::down};
  if (key == KEY_RESIZE) return {.key = Key::resized};
  if (key == KEY_ENTER || key == '\r' || key == '\n') return {.key = Key::enter};
  if (key == KEY_BACKSPACE || key == '\b' || key == delete_key) return {.key = Key::backspace};
  if (key == escape_key) return {.key = Key::escape};
  return {.key = Key::other, .letter = key >= ' ' && key < delete_key ? static_cast<char>(key) : '\0'};
}

}  // namespace orbweaver
