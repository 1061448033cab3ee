#include "storage/sha1.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace orbweaver::storage {
namespace {

// Fetching an algorithm costs more than hashing a small page with it (OpenSSL 3), hence one per thread.
struct Hasher {
  std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> algorithm{EVP_MD_fetch(nullptr, "SHA1", nullptr), EVP_MD_free};
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

[[noreturn]] void give_up() {
  std::fputs("sha1: OpenSSL offers no SHA-1\n", stderr);
  std::abort();
}

}  // namespace

Sha1 sha1(std::initializer_list<std::string_view> parts) {
  thread_local const Hasher hasher;
  EVP_MD_CTX* context = hasher.context.get();
  if (!hasher.algorithm || context == nullptr) give_up();
  bool good = EVP_DigestInit_ex2(context, hasher.algorithm.get(), nullptr) == 1;
  for (const std::string_view part : parts) good = good && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
  Sha1 digest{};
  good = good && EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  if (!good) give_up();
  return digest;
}

std::string base32(const Sha1& digest) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string out;
  out.reserve(32);
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::uint8_t byte : digest) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 5; count -= 5) out += alphabet[(bits >> (count - 5)) & 31];
  }
  return out;
}

std::string sha1_label(std::initializer_list<std::string_view> parts) { return "sha1:" + base32(sha1(parts)); }

}  // namespace orbweaver::storage
