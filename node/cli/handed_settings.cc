#include "node/cli/handed_settings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace orbweaver {

namespace {

constexpr std::size_t max_handed_bytes = 64U << 20;
constexpr std::array<std::string_view, 4> secret_flags{"--site-headers", "--proxy", "--notify-url", "--notify-command"};

bool is_secret(std::string_view flag) {
  return std::find(secret_flags.begin(), secret_flags.end(), flag) != secret_flags.end();
}

}  // namespace

Result<int> hand_over(const GivenSettings& settings) {
  // Each name and each text ends with a NUL, which arguments cannot contain.
  std::string all;
  for (const auto& [name, text] : settings) {
    all += name;
    all += '\0';
    all += text;
    all += '\0';
  }
  const int fd = ::memfd_create("orbweaver-settings", 0);
  if (fd < 0) return fail(ErrorCode::io, std::string("cannot make a file in memory: ") + std::strerror(errno));
  std::size_t done = 0;
  while (done < all.size()) {
    const ssize_t wrote = ::pwrite(fd, all.data() + done, all.size() - done, static_cast<off_t>(done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      ::close(fd);
      return fail(ErrorCode::io, std::string("cannot write a file in memory: ") + std::strerror(error));
    }
    done += static_cast<std::size_t>(wrote);
  }
  return fd;
}

Result<GivenSettings> take_over(int descriptor) {
  std::string all;
  std::array<char, 65536> buffer{};
  ssize_t got = 1;
  while (got > 0 && all.size() <= max_handed_bytes) {
    got = ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(all.size()));
    if (got > 0) all.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    if (end == std::string::npos) break;
    words.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  const bool whole = got == 0 && words.size() % 2 == 0 && (all.empty() || all.back() == '\0');
  if (!whole)
    return fail(ErrorCode::invalid_input,
                "descriptor " + std::to_string(descriptor) + " has no settings; --settings-fd is for orbweaver crawl");
  GivenSettings settings;
  for (std::size_t i = 0; i < words.size(); i += 2) settings.emplace_back(words[i], words[i + 1]);
  return settings;
}

void hide_secrets(int argc, char** argv) {
  const auto blot = [](char* text) { std::fill(text, text + std::strlen(text), '*'); };
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && is_secret(word.substr(0, equals))) blot(argv[i] + equals + 1);
    if (is_secret(word) && i + 1 < argc) blot(argv[++i]);
  }
}

}  // namespace orbweaver
