#include "node/process/ring_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "node/system/denied.h"
#include "node/system/private_file.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

namespace {

constexpr std::size_t key_characters = 40;
constexpr mode_t others = 077;

tl::unexpected<Error> refused(const std::string& path, const std::string& why) {
  return fail(ErrorCode::invalid_setting, "ring_key_file " + path + " " + why);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The first word of what was read.
std::string first_word(std::string_view text) {
  const auto begin = std::find_if_not(text.begin(), text.end(), is_space);
  return {begin, std::find_if(begin, text.end(), is_space)};
}

}  // namespace

Result<std::string> read_ring_key(const std::string& path) {
  if (path.empty()) return std::string();
  const std::string make = "; make one with: orbweaver ring-key " + path;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && (errno == EACCES || errno == EPERM)) {
    const Error denied = cannot_read(path, errno).value();
    return fail(denied.code, "ring_key_file: " + denied.message);
  }
  if (fd < 0) return refused(path, std::string("cannot be read: ") + std::strerror(errno) + make);
  struct stat status {};
  const bool looked = ::fstat(fd, &status) == 0;
  std::array<char, 4096> buffer{};
  std::size_t size = 0;
  ssize_t got = 1;
  while (looked && size < buffer.size() && got > 0) {
    got = ::read(fd, buffer.data() + size, buffer.size() - size);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  const int error = errno;
  ::close(fd);
  if (!looked || got < 0) return refused(path, std::string("cannot be read: ") + std::strerror(error) + make);
  if ((status.st_mode & others) != 0)
    return refused(path,
                   "may be read or changed by other users of this machine, and a holder of the key owns the "
                   "ring. If none of them has it yet: chmod 600 " +
                       path);
  std::string key = first_word({buffer.data(), size});
  if (key.size() != key_characters)
    return refused(path, "does not hold a key of " + std::to_string(key_characters) + " characters" + make);
  return key;
}

Result<void> make_ring_key_file(const std::string& path, Durability durability) {
  const std::string key = ring::make_ring_secret();
  if (key.empty()) return fail(ErrorCode::unsupported, "this build of libzmq has no CURVE; install Debian's libzmq5");
  return write_secret(path, key + "\n", durability);
}

}  // namespace orbweaver
