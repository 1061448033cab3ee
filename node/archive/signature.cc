#include "node/archive/signature.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "node/system/private_file.h"
#include "node/try.h"

namespace orbweaver::archive {

namespace {

constexpr const char* curve = "secp384r1";
constexpr int number_bytes = 48;

template <typename T, void (*release)(T*)>
struct Release {
  void operator()(T* thing) const { release(thing); }
};
void release_bio(BIO* bio) { BIO_free_all(bio); }
using Bio = std::unique_ptr<BIO, Release<BIO, release_bio>>;
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY, EVP_PKEY_free>>;

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a zero
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

tl::unexpected<Error> failed(const std::string& what) { return fail(ErrorCode::internal, "OpenSSL cannot " + what); }

Result<Key> read_key(const std::string& path, const std::string& text) {
  const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  char group[32] = {};
  std::size_t size = 0;
  if (!key || EVP_PKEY_get_group_name(key.get(), group, sizeof group, &size) != 1 || std::string_view(group) != curve)
    return fail(ErrorCode::invalid_input,
                path + " holds no private key of the curve P-384 (PEM); name another file, which is made then");
  return key;
}

Result<Key> make_key(const std::string& path) {
  Key key(EVP_EC_gen(curve));
  const Bio bio(BIO_new(BIO_s_mem()));
  if (!key || PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return failed("make a key");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  ORBWEAVER_TRY(write_secret(path, std::string(text, static_cast<std::size_t>(size)), Durability::power));
  return key;
}

}  // namespace

struct SigningKey::Impl {
  Key key;
};

SigningKey::SigningKey(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SigningKey::~SigningKey() = default;
SigningKey::SigningKey(SigningKey&&) noexcept = default;

Result<SigningKey> SigningKey::load_or_make(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in && errno != ENOENT) return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(errno));
  Result<Key> key = in ? read_key(path, std::string(std::istreambuf_iterator<char>(in), {})) : make_key(path);
  if (!key) return tl::make_unexpected(key.error());
  auto impl = std::make_unique<Impl>();
  impl->key = std::move(*key);
  return SigningKey(std::move(impl));
}

Result<std::string> SigningKey::sign(std::string_view text) const {
  const std::unique_ptr<EVP_MD_CTX, Release<EVP_MD_CTX, EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, impl_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return failed("sign");
  std::string der(size, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(der.data());
  if (EVP_DigestSign(context.get(), out, &size, bytes, text.size()) != 1) return failed("sign");
  // From DER to the two numbers alone, which is what browsers' WebCrypto takes.
  const unsigned char* at = out;
  const std::unique_ptr<ECDSA_SIG, Release<ECDSA_SIG, ECDSA_SIG_free>> pair(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size)));
  std::string raw(2 * number_bytes, '\0');
  auto* const numbers = reinterpret_cast<unsigned char*>(raw.data());
  if (!pair || BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), numbers, number_bytes) != number_bytes ||
      BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), numbers + number_bytes, number_bytes) != number_bytes)
    return failed("sign");
  return base64(raw);
}

// PEM is that in lines, between one line before and one after.
Result<std::string> SigningKey::public_key() const {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PUBKEY(bio.get(), impl_->key.get()) != 1) return failed("write a public key");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  std::istringstream lines(std::string(text, static_cast<std::size_t>(size)));
  std::string key;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("-----")) key += line;
  return key;
}

}  // namespace orbweaver::archive
