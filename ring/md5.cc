#include "ring/md5.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace orbweaver::ring {

namespace {

struct Hasher {
  // Fetched once per thread: OpenSSL 3's implicit fetch costs more than the hash itself.
  std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm{EVP_MD_fetch(nullptr, "MD5", nullptr), &EVP_MD_free};
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

}  // namespace

Md5 md5(std::string_view bytes) {
  thread_local Hasher hasher;
  Md5 digest{};
  unsigned int size = 0;
  if (hasher.algorithm == nullptr || EVP_DigestInit_ex2(hasher.context.get(), hasher.algorithm.get(), nullptr) != 1 ||
      EVP_DigestUpdate(hasher.context.get(), bytes.data(), bytes.size()) != 1 ||
      EVP_DigestFinal_ex(hasher.context.get(), digest.data(), &size) != 1) {
    std::fputs("orbweaver: OpenSSL offers no MD5 here (a FIPS-only build?); it is needed for keys, not for security\n",
               stderr);
    std::abort();
  }
  return digest;
}

std::string to_hex(const Md5& digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(32);
  for (const std::uint8_t byte : digest) {
    text.push_back(digits[byte >> 4]);
    text.push_back(digits[byte & 15]);
  }
  return text;
}

std::uint64_t leading_bits(const Md5& digest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = (value << 8) | digest[i];
  return value;
}

std::uint64_t trailing_bits(const Md5& digest) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i < 16; ++i) value = (value << 8) | digest[i];
  return value;
}

}  // namespace orbweaver::ring
