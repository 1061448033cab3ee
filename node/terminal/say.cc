#include "node/terminal/say.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "node/text/printable.h"

namespace orbweaver {

namespace {

std::string formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  if (size > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

void write(std::FILE* stream, std::string_view text) {
  std::string shown;
  append_printable(shown, text, Escape::none);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

}  // namespace

void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write(stdout, formatted(format, arguments));
  va_end(arguments);
}

void say_text(std::string_view text) { write(stdout, text); }

void say_json(const nlohmann::json& value, int indent) {
  const std::string text = printable_json(value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

void complain(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  write(stderr, "orbweaver: " + formatted(format, arguments) + "\n");
  va_end(arguments);
}

void say_aside(std::string_view text) { write(stderr, text); }

void say_progress(std::string_view line) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (terminal) std::fputs("\r\033[K", stderr);
  write(stderr, line);
  if (!terminal) std::fputc('\n', stderr);
  std::fflush(stderr);
}

void end_progress() {
  if (::isatty(STDERR_FILENO) != 0) std::fputc('\n', stderr);
}

bool can_say() { return std::ferror(stdout) == 0; }

bool all_said() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace orbweaver
