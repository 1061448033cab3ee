#include "node/control/control_token.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <strings.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "node/system/denied.h"
#include "node/system/private_file.h"

namespace orbweaver {

namespace {

constexpr std::size_t token_bytes = 32;
constexpr std::string_view scheme = "Bearer ";

std::string path_of(const std::string& directory) { return directory + "/control-token"; }

std::string hex(const std::array<unsigned char, token_bytes>& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace

Result<std::string> read_control_token(const std::string& directory) {
  const std::string path = path_of(directory);
  std::ifstream in(path);
  if (!in && errno == ENOENT)
    return fail(ErrorCode::unreachable,
                "no peer of this release has run in " + directory + " (there is no " + path + ")");
  if (!in) return cannot_read(path, errno);
  std::string token;
  in >> token;
  if (token.size() != 2 * token_bytes || token.find_first_not_of("0123456789abcdef") != std::string::npos)
    return fail(ErrorCode::io, path + " does not hold a token; the next start of the peer makes a new one");
  return token;
}

Result<std::string> new_control_token(const std::string& directory) {
  const std::string path = path_of(directory);
  std::array<unsigned char, token_bytes> bytes{};
  if (::RAND_bytes(bytes.data(), bytes.size()) != 1)
    return fail(ErrorCode::io, "the system gives no random numbers for " + path);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail(ErrorCode::io, "cannot replace " + path + ": " + std::strerror(errno));
  std::string token = hex(bytes);
  if (const auto written = write_secret(path, token + "\n", Durability::process); !written)
    return tl::make_unexpected(written.error());
  return token;
}

bool is_authorized(std::string_view authorization, std::string_view token) {
  if (authorization.size() != scheme.size() + token.size() || token.empty()) return false;
  if (::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0) return false;
  return ::CRYPTO_memcmp(authorization.data() + scheme.size(), token.data(), token.size()) == 0;
}

}  // namespace orbweaver
