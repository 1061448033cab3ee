#include "node/digest/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>

namespace orbweaver {

namespace {

// Fails only without memory, or in an OpenSSL without SHA-256.
void must(bool good) {
  if (!good) std::abort();
}

}  // namespace

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> of{EVP_MD_CTX_new(), EVP_MD_CTX_free};
  void begin() const { must(of != nullptr && EVP_DigestInit_ex(of.get(), EVP_sha256(), nullptr) == 1); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { context_->begin(); }
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  must(EVP_DigestUpdate(context_->of.get(), bytes.data(), bytes.size()) == 1);
  bytes_ += bytes.size();
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  must(EVP_DigestFinal_ex(context_->of.get(), digest.data(), &size) == 1);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4u];
    text += digits[digest[i] & 15u];
  }
  context_->begin();
  bytes_ = 0;
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 digest;
  digest.add(text);
  return digest.hex();
}

}  // namespace orbweaver
